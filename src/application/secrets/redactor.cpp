#include "application/secrets/redactor.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>

#include "application/secrets/secret_forms.hpp"
#include "application/secrets/secret_marks.hpp"
#include "domain/values/json_text.hpp"
#include "json/json_walk.hpp"

namespace sluice {
namespace {

constexpr std::size_t no_form = static_cast<std::size_t>(-1);

// The names of one object that have a stand-in in them, each with the number given last.
using HiddenNames = std::map<std::string, std::size_t>;

// The name, with a number if the object has it already.
std::string numbered(HiddenNames& names, const std::string& name) {
    const auto [known, is_new] = names.emplace(name, 1);
    if (is_new) return name;
    for (;;) {
        std::string next = name + std::to_string(++known->second);
        if (names.emplace(next, 1).second) return next;
    }
}

}  // namespace

Redactor::Redactor(const std::vector<std::string>& secrets) {
    look_for(texts_of_secrets(secrets));
}

Redactor Redactor::of_settings(const std::vector<std::string>& values) {
    Redactor redactor;
    redactor.look_for(lines_of_settings(values));
    return redactor;
}

void Redactor::look_for(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
        has_space_ = has_space_ || text.find(' ') != std::string::npos;
        for (std::string& form : forms_of_text(text)) forms_.push_back(std::move(form));
    }
    std::sort(forms_.begin(), forms_.end());
    forms_.erase(std::unique(forms_.begin(), forms_.end()), forms_.end());
    // Sixteen bits for each form, so that few positions of a text look like the beginning of one.
    const std::size_t bits = std::bit_ceil(std::max<std::size_t>(4096, forms_.size() * 16));
    first_bytes_.resize(bits);
    first_bytes_shift_ = 64 - std::countr_zero(bits);
    for (std::size_t i = 0; i < forms_.size(); ++i) {
        first_bytes_[beginning_of(forms_[i].data())] = true;
        std::size_t shorter = i == 0 ? no_form : i - 1;
        while (shorter != no_form && !forms_[i].starts_with(forms_[shorter])) {
            shorter = beginnings_[shorter];
        }
        beginnings_.push_back(shorter);
    }
}

std::size_t Redactor::beginning_of(const char* text) const {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text, SecretBounds::bytes_min);
    return static_cast<std::size_t>((bytes * 0x9E3779B97F4A7C15u) >> first_bytes_shift_);
}

// The length of the longest form that the text begins with; zero: it begins with none.
std::size_t Redactor::length_at(std::string_view text) const {
    if (!first_bytes_[beginning_of(text.data())]) return 0;
    const auto after = std::upper_bound(forms_.begin(), forms_.end(), text);
    if (after == forms_.begin()) return 0;
    // All forms between one that the text begins with and the text begin with that one, too.
    const std::string& last = *(after - 1);
    const auto differs = std::mismatch(last.begin(), last.end(), text.begin(), text.end()).first;
    const auto common = static_cast<std::size_t>(differs - last.begin());
    auto form = static_cast<std::size_t>(after - forms_.begin()) - 1;
    while (form != no_form && forms_[form].size() > common) form = beginnings_[form];
    return form == no_form ? 0 : forms_[form].size();
}

// Secrets that overlap or follow each other, as the pieces of a long one do, are one range.
Redactor::Ranges Redactor::found_in(std::string_view text) const {
    Ranges ranges;
    for (std::size_t at = 0; at + SecretBounds::bytes_min <= text.size(); ++at) {
        const std::size_t length = length_at(text.substr(at));
        if (length == 0) continue;
        if (ranges.empty() || ranges.back().end < at) ranges.push_back({at, at});
        ranges.back().end = std::max(ranges.back().end, at + length);
    }
    return ranges;
}

void Redactor::add_found_in(const DecodedText& decoded, Ranges& ranges) const {
    for (const Range& range : found_in(decoded.text())) {
        ranges.push_back({decoded.source_begin(range.begin), decoded.source_end(range.end)});
    }
}

// The same in all spellings of the text.
Redactor::Ranges Redactor::secrets_in(std::string_view text) const {
    using Plus = DecodedText::Plus;
    const auto has = [&](char c) { return text.find(c) != std::string_view::npos; };
    Ranges ranges = found_in(text);
    if (has('\\')) add_found_in(DecodedText::from_json(text), ranges);
    if (has('%')) add_found_in(DecodedText::from_url(text, Plus::is_plus), ranges);
    if (has_space_ && has('+')) add_found_in(DecodedText::from_url(text, Plus::is_space), ranges);
    std::sort(ranges.begin(), ranges.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
    return ranges;
}

void Redactor::clean(std::string& text) const {
    if (is_idle()) return;
    const Ranges ranges = secrets_in(text);
    if (ranges.empty()) return;
    std::string out;
    std::size_t copied = 0;
    for (const Range& range : ranges) {
        const bool goes_on = !out.empty() && range.begin <= copied;
        if (!goes_on) out.append(text, copied, range.begin - copied).append(secret_stand_in);
        copied = std::max(copied, range.end);
    }
    out.append(text, copied);
    text = std::move(out);
}

// Strings without escapes mean the text as it stands.
bool Redactor::may_be_in(std::string_view text) const {
    if (is_idle()) return false;
    return text.find('\\') != std::string_view::npos || !secrets_in(text).empty();
}

void Redactor::clean_json(std::string& json) const {
    if (!may_be_in(json)) return;
    using Kind = JsonToken::Kind;
    std::string out;
    const char* copied = json.data();
    std::vector<HiddenNames> objects;
    const auto replace = [&](const JsonToken& token, std::string_view text) {
        out.append(copied, token.source.data());
        append_json_string(out, text);
        copied = token.source.data() + token.source.size();
    };
    const auto clean_string = [&](const JsonToken& token) {
        const std::string before = token.decoded();
        std::string after = before;
        clean(after);
        const bool is_hidden = after.find(secret_stand_in) != std::string::npos;
        if (token.kind == Kind::name && is_hidden && !objects.empty()) {
            after = numbered(objects.back(), after);
        }
        if (after != before) replace(token, after);
    };
    for_each_token(json, [&](const JsonToken& token) {
        switch (token.kind) {
            case Kind::object_begin: objects.emplace_back(); break;
            case Kind::object_end:
                if (!objects.empty()) objects.pop_back();
                break;
            case Kind::number:
                if (!found_in(token.source).empty()) replace(token, secret_stand_in);
                break;
            case Kind::name:
            case Kind::string: clean_string(token); break;
        }
    });
    if (copied == json.data()) return;
    const std::string_view whole = json;
    out.append(copied, whole.data() + whole.size());
    json = std::move(out);
}

}  // namespace sluice
