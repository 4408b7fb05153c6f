#include "application/secrets/secret_marks.hpp"

#include <algorithm>
#include <cstring>

#include "domain/values/ascii.hpp"
#include "json/json_walk.hpp"

namespace sluice {
namespace {

constexpr std::string_view any = "*";

bool is_joint(char c) {
    return c == '_' || c == '-';
}

// The form in which the names of paths are looked for.
std::string plain_name(std::string_view name) {
    std::string plain;
    for (const char c : name) {
        if (!is_joint(c)) plain.push_back(to_lower(c));
    }
    return plain;
}

bool is_number(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> split_path(std::string_view path) {
    std::vector<std::string> steps;
    for (;;) {
        const std::size_t dot = path.find('.');
        steps.emplace_back(path.substr(0, dot));
        if (dot == std::string_view::npos) return steps;
        path.remove_prefix(dot + 1);
    }
}

bool leads_to(const std::vector<std::string>& path, const JsonPath& value_path) {
    return path.size() == value_path.size() &&
           std::equal(path.begin(), path.end(), value_path.begin(),
                      [](const std::string& step, const JsonStep& taken) {
                          return step == any || step == taken.name;
                      });
}

// Whether the text that ends before `end` ends with the hint, in the form of names.
bool ends_with_hint(const char* begin, const char* end, std::string_view hint) {
    while (!hint.empty()) {
        if (end == begin) return false;
        const char c = to_lower(*--end);
        if (is_joint(c)) continue;
        if (c != hint.back()) return false;
        hint.remove_suffix(1);
    }
    return true;
}

// Names can be written with escapes; of those, these two can stand for a letter or a slash.
bool has_escaped_letters(std::string_view json) {
    for (std::size_t at = json.find('\\'); at != std::string_view::npos;
         at = json.find('\\', at + 1)) {
        if (at + 1 < json.size() && (json[at + 1] == 'u' || json[at + 1] == '/')) return true;
    }
    return false;
}

bool has_unusual_bytes(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
    });
}

// A number without its sign, which may be written apart from it.
std::string digits_of(std::string_view number) {
    return std::string(number.substr(number.starts_with('-') ? 1 : 0));
}

constexpr std::size_t name_bytes_max = 200;
constexpr std::size_t steps_max = 32;

}  // namespace

void SecretMarks::Marks::add_hint(std::string hint) {
    hint_ends[static_cast<unsigned char>(hint.back())] = true;
    hints.push_back(std::move(hint));
}

// The last step that must be a member's name is the hint.
void SecretMarks::Marks::add_path(std::string_view path) {
    paths.push_back(split_path(path));
    const auto steps = paths.back();
    const auto named = std::find_if(steps.rbegin(), steps.rend(), [](const std::string& step) {
        return step != any && !is_number(step) && !plain_name(step).empty();
    });
    if (named == steps.rend()) {
        always_look = true;
    } else {
        add_hint(plain_name(*named));
    }
}

bool SecretMarks::Marks::may_be_in(std::string_view json) const {
    if (always_look) return true;
    if (hints.empty() && names.empty()) return false;
    const char* const begin = json.data();
    const char* const end = begin + json.size();
    for (const char* at = begin; at != end; ++at) {
        at = static_cast<const char*>(std::memchr(at, ':', static_cast<std::size_t>(end - at)));
        if (at == nullptr) break;
        const char* quote = at;
        while (quote != begin &&
               (quote[-1] == ' ' || quote[-1] == '\t' || quote[-1] == '\n' || quote[-1] == '\r')) {
            --quote;
        }
        if (quote == begin || quote[-1] != '"') continue;
        --quote;
        if (names.may_match_before(begin, quote)) return true;
        if (hints.empty()) continue;
        const char* name = quote;
        while (name != begin && is_joint(name[-1])) --name;
        if (name == begin || !hint_ends[static_cast<unsigned char>(to_lower(name[-1]))]) continue;
        const auto fits = [&](const std::string& hint) {
            return ends_with_hint(begin, name, hint);
        };
        if (std::any_of(hints.begin(), hints.end(), fits)) return true;
    }
    return has_escaped_letters(json);
}

template <class Take>
void SecretMarks::Marks::find_in(std::string_view json, Take take) const {
    const auto is_secret = [this](const JsonPath& value_path) {
        const JsonStep& last = value_path.back();
        if (last.is_member && names.match(last.name)) return true;
        return std::any_of(paths.begin(), paths.end(),
                           [&](const Path& path) { return leads_to(path, value_path); });
    };
    take_values(json, is_secret, take);
}

std::string_view SecretMarks::Marks::shown(std::string_view json, std::string& buffer) const {
    if (!may_be_in(json)) return json;
    buffer.clear();
    const char* copied = json.data();
    find_in(json, [&](std::string_view secret) {
        buffer.append(copied, secret.data()).append(1, '"').append(secret_stand_in).append(1, '"');
        copied = secret.data() + secret.size();
    });
    if (copied == json.data()) return json;
    buffer.append(copied, json.data() + json.size());
    return buffer;
}

SecretMarks::SecretMarks() : SecretMarks(SecretNames::usual_marks(), JobTypes()) {}

SecretMarks::SecretMarks(const std::vector<std::string>& names, const JobTypes& types) {
    of_all_.names = SecretNames(names);
    of_default_ = of_all_;
    for (const std::string& path : types.fallback().redact) of_default_.add_path(path);
    for (const auto& [name, type] : types.all()) {
        Marks marks = of_all_;
        for (const std::string& path : type.redact) marks.add_path(path);
        of_types_.emplace(name, std::move(marks));
    }
}

const SecretMarks& SecretMarks::none() {
    static const SecretMarks marks({}, JobTypes());
    return marks;
}

std::string SecretMarks::problem_with_name(std::string_view name) {
    if (!SecretNames::is_mark(name) || name.size() > name_bytes_max || has_unusual_bytes(name)) {
        return "must be a member's name, of letters, digits and the like";
    }
    return {};
}

std::string SecretMarks::problem_with_path(std::string_view path) {
    const auto steps = split_path(path);
    const bool has_gap = std::any_of(steps.begin(), steps.end(),
                                     [](const std::string& step) { return step.empty(); });
    if (has_gap || steps.size() > steps_max || path.size() > name_bytes_max ||
        has_unusual_bytes(path)) {
        return "must be names of members with dots between them, and * for any member or "
               "element, like \"accounts.*.token\"";
    }
    return {};
}

const SecretMarks::Marks& SecretMarks::marks_of(std::string_view type) const {
    const auto found = of_types_.find(type);
    return found == of_types_.end() ? of_default_ : found->second;
}

std::string_view SecretMarks::shown(std::string_view type, std::string_view payload,
                                    std::string& buffer) const {
    return marks_of(type).shown(payload, buffer);
}

std::string SecretMarks::shown(std::string_view json) const {
    std::string buffer;
    return std::string(of_all_.shown(json, buffer));
}

std::vector<std::string> SecretMarks::secret_texts(const JobSpec& spec) const {
    std::vector<std::string> texts;
    const Marks& marks = marks_of(spec.type);
    if (!marks.may_be_in(spec.payload)) return texts;
    marks.find_in(spec.payload, [&](std::string_view secret) {
        for_each_token(secret, [&](const JsonToken& token) {
            if (token.kind == JsonToken::Kind::string) texts.push_back(token.decoded());
            if (token.kind == JsonToken::Kind::number) texts.push_back(digits_of(token.source));
        });
    });
    return texts;
}

}  // namespace sluice
