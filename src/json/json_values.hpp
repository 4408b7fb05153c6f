#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/entities/entity.hpp"
#include "domain/values/result.hpp"

// Small helpers for values that are kept as JSON text.
namespace sluice {

std::string json_string(std::string_view text);
std::string json_time(Timestamp time);
std::string json_list(const std::vector<std::string>& texts);

// The members of a JSON object, each as JSON text; none when the text is no object.
Attributes json_members(std::string_view object);
std::string to_json(const Attributes& members);

// The attribute as text, a number or a boolean; nothing when it is absent, null or of another type.
std::optional<std::string> text_of(const Attributes& attributes, std::string_view name);
std::optional<std::int64_t> integer_of(const Attributes& attributes, std::string_view name);
std::optional<bool> truth_of(const Attributes& attributes, std::string_view name);
std::optional<Timestamp> time_of(const Attributes& attributes, std::string_view name);
std::vector<std::string> texts_of(const Attributes& attributes, std::string_view name);

}  // namespace sluice
