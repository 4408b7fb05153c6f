#include "config/section.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/values.hpp"
#include "interfaces/worker/executors/url_text.hpp"

namespace sluice {
namespace {

using ValueKind = TomlValue::Kind;

// A value as people see it. The texts of variables and flags keep their quotes, whatever kind of
// value they give. An address is without the user, the password and the query that it may have.
std::string found(std::string_view key, const TomlValue& value) {
    if (value.kind == ValueKind::text || !value.text.empty()) {
        const bool is_address = key == "url" || value.text.find("://") != std::string::npos;
        return '"' + (is_address ? worker::shown_url(value.text) : value.text) + '"';
    }
    switch (value.kind) {
        case ValueKind::integer: return std::to_string(value.integer);
        case ValueKind::real: return fmt::format("{:#}", value.real);
        case ValueKind::flag: return value.flag ? "true" : "false";
        case ValueKind::table: return "a table";
        case ValueKind::array: return "an array";
        case ValueKind::text:
        case ValueKind::time: break;
    }
    return "a date or time";
}

}  // namespace

void Notes::problem(std::uint32_t line, std::string_view setting, std::string_view what) {
    const bool is_named = origins_ != nullptr && !setting.empty();
    problems_.emplace(line, is_named ? fmt::format("{}: {}: {}", location(line), setting, what)
                                     : fmt::format("{}: {}", location(line), what));
}

void Notes::origin(const std::string& setting, std::uint32_t line) {
    if (origins_ != nullptr) (*origins_)[setting] = location(line);
}

std::vector<std::string> Notes::problems() const {
    std::vector<std::string> out;
    for (const auto& problem : problems_) out.push_back(problem.second);
    return out;
}

std::string Notes::location(std::uint32_t line) const {
    return origins_ == nullptr ? source_ : fmt::format("{}:{}", source_, line);
}

const TomlValue* Section::find(std::string_view key) {
    if (!is_known(key)) known_.emplace_back(key);
    const TomlValue* value = table_ == nullptr ? nullptr : table_->find(key);
    if (value != nullptr) notes_.origin(name(key), value->line);
    return value;
}

std::string Section::name(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

Section::Texts Section::members() const {
    Texts names;
    if (table_ == nullptr) return names;
    for (const TomlValue& member : table_->children) names.push_back(member.key);
    return names;
}

Section Section::section(std::string_view key) {
    const TomlValue* value = find(key);
    const bool is_table = value != nullptr && value->kind == ValueKind::table;
    if (value != nullptr && !is_table) refuse(key, *value, "a table");
    return {is_table ? value : nullptr, name(key), notes_};
}

std::vector<Section> Section::sections(std::string_view key) {
    std::vector<Section> all;
    const TomlValue* array = find(key);
    if (array == nullptr) return all;
    if (array->kind != ValueKind::array) refuse(key, *array, "an array of tables");
    for (std::size_t i = 0; array->kind == ValueKind::array && i < array->children.size(); ++i) {
        const TomlValue& element = array->children[i];
        if (element.kind == ValueKind::table) {
            all.emplace_back(&element, fmt::format("{}[{}]", name(key), i), notes_);
        } else {
            refuse(key, element, "an array of tables");
        }
    }
    return all;
}

std::optional<bool> Section::flag(std::string_view key) {
    const TomlValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (value->kind == ValueKind::flag) return value->flag;
    return refuse(key, *value, "true or false");
}

std::optional<std::string> Section::text(std::string_view key, std::size_t max) {
    const TomlValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    const bool is_text = value->kind == ValueKind::text && !value->text.empty();
    if (is_text && value->text.size() <= max) return value->text;
    return refuse(key, *value, fmt::format("a text of 1 to {} bytes", max));
}

std::optional<Section::Texts> Section::texts(std::string_view key) {
    const TomlValue* array = find(key);
    if (array == nullptr) return std::nullopt;
    if (array->kind != ValueKind::array) return refuse(key, *array, "an array of texts");
    Texts texts;
    for (const TomlValue& element : array->children) {
        if (element.kind != ValueKind::text) return refuse(key, element, "an array of texts");
        texts.push_back(element.text);
    }
    return texts;
}

std::optional<Section::TextPairs> Section::text_pairs(std::string_view key) {
    const TomlValue* table = find(key);
    if (table == nullptr) return std::nullopt;
    if (table->kind != ValueKind::table) return refuse(key, *table, "a table of texts");
    TextPairs pairs;
    for (const TomlValue& member : table->children) {
        if (member.kind != ValueKind::text) return refuse(key, member, "a table of texts");
        pairs.emplace_back(member.key, member.text);
    }
    return pairs;
}

std::optional<std::int64_t> Section::integer(std::string_view key, std::int64_t low,
                                             std::int64_t high) {
    const TomlValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    const bool is_integer = value->kind == ValueKind::integer;
    if (is_integer && value->integer >= low && value->integer <= high) return value->integer;
    return refuse(key, *value, fmt::format("an integer between {} and {}", low, high));
}

std::optional<Duration> Section::duration(std::string_view key, Duration low, Duration high) {
    const TomlValue* value = find(key);
    return value == nullptr ? std::nullopt : duration_in(key, *value, low, high);
}

std::optional<Duration> Section::duration_in(std::string_view key, const TomlValue& value,
                                             Duration low, Duration high) {
    const auto read = value.kind == ValueKind::text ? parse_duration(value.text) : std::nullopt;
    if (!read) return refuse(key, value, "a duration such as \"30s\", \"5m\" or \"1h30m\"");
    if (*read >= low && *read <= high) return read;
    return refuse(key, value,
                  fmt::format("between {} and {}", duration_text(low), duration_text(high)));
}

std::optional<std::size_t> Section::choice(std::string_view key, const Texts& names) {
    const TomlValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    const auto chosen = std::find(names.begin(), names.end(), value->text);
    if (value->kind != ValueKind::text || chosen == names.end()) {
        return refuse(key, *value, one_of(names));
    }
    return static_cast<std::size_t>(chosen - names.begin());
}

std::nullopt_t Section::refuse(std::string_view key, const TomlValue& value,
                               std::string_view allowed) {
    return problem(key, value, fmt::format("must be {}, not {}", allowed, found(key, value)));
}

std::nullopt_t Section::problem(std::string_view key, const TomlValue& value,
                                std::string_view what) {
    notes_.problem(value.line, name(key), what);
    return std::nullopt;
}

std::nullopt_t Section::problem(std::string_view key, std::string_view what) {
    const TomlValue* value = find(key);
    if (value == nullptr) value = table_;
    return value == nullptr ? std::nullopt : problem(key, *value, what);
}

void Section::forbid(std::string_view key, std::string_view why) {
    if (table_ != nullptr && table_->find(key) != nullptr) problem(key, why);
}

void Section::require(std::string_view key, std::string_view why) {
    if (table_ == nullptr || has(key)) return;
    notes_.problem(table_->line, name(key), fmt::format("is missing: {}", why));
}

void Section::either(std::string_view one, std::string_view other) {
    if (has(one) && has(other)) {
        problem(other, fmt::format("cannot be given together with {}", one));
    }
}

void Section::close() {
    if (table_ == nullptr) return;
    for (const TomlValue& member : table_->children) {
        if (is_known(member.key)) continue;
        notes_.problem(member.key_line, "",
                       fmt::format("unknown key \"{}\"; {}", name(member.key),
                                   suggestion(member.key, known_)));
    }
}

bool Section::is_known(std::string_view key) const {
    return std::find(known_.begin(), known_.end(), key) != known_.end();
}

Sections::Sections(const TomlValue& file, Notes& notes) {
    open_.emplace("", Section(&file, "", notes));
}

Section& Sections::at(const std::string& path) {
    if (const auto found = open_.find(path); found != open_.end()) return found->second;
    const std::size_t dot = path.rfind('.');
    const bool is_nested = dot != path.npos;
    Section& outer = at(is_nested ? path.substr(0, dot) : "");
    return open_.emplace(path, outer.section(is_nested ? path.substr(dot + 1) : path))
        .first->second;
}

void Sections::close() {
    for (auto& [path, section] : open_) section.close();
}

}  // namespace sluice
