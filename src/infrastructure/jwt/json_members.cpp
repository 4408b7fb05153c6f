#include "infrastructure/jwt/json_members.hpp"

#include <charconv>

#include "json/json_reader.hpp"

namespace sluice {

std::optional<JsonMembers> JsonMembers::read(std::string_view text) {
    JsonMembers out;
    JsonReader reader(text);
    reader.object([&](std::string_view key) { out.members_.emplace(key, reader.raw()); });
    if (!reader.finish()) return std::nullopt;
    return out;
}

std::optional<std::string> JsonMembers::text(std::string_view name) const {
    const std::string_view* value = find(name);
    if (value == nullptr) return std::nullopt;
    JsonReader reader(*value);
    std::string text = reader.string();
    if (!reader.finish()) return std::nullopt;
    return text;
}

std::optional<double> JsonMembers::number(std::string_view name) const {
    const std::string_view* value = find(name);
    if (value == nullptr || JsonReader(*value).kind() != JsonReader::Kind::number) {
        return std::nullopt;
    }
    double number = 0;
    const char* end = value->data() + value->size();
    const auto [at, problem] = std::from_chars(value->data(), end, number);
    if (problem != std::errc() || at != end) return std::nullopt;
    return number;
}

std::optional<std::vector<std::string>> JsonMembers::texts(std::string_view name) const {
    if (auto only = text(name)) return std::vector{*std::move(only)};
    const std::string_view* value = find(name);
    if (value == nullptr) return std::nullopt;
    std::vector<std::string> texts;
    JsonReader reader(*value);
    reader.array([&](std::size_t) { texts.push_back(reader.string()); });
    if (!reader.finish()) return std::nullopt;
    return texts;
}

bool JsonMembers::is_true(std::string_view name) const {
    const std::string_view* value = find(name);
    return value != nullptr && *value == "true";
}

std::optional<std::vector<std::string_view>> JsonMembers::elements(std::string_view name) const {
    const std::string_view* value = find(name);
    if (value == nullptr) return std::nullopt;
    std::vector<std::string_view> elements;
    JsonReader reader(*value);
    reader.array([&](std::size_t) { elements.push_back(reader.raw()); });
    if (!reader.finish()) return std::nullopt;
    return elements;
}

const std::string_view* JsonMembers::find(std::string_view name) const {
    const auto found = members_.find(name);
    return found == members_.end() ? nullptr : &found->second;
}

}  // namespace sluice
