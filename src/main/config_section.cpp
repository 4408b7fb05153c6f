#include "main/config_section.hpp"

namespace sluice {

std::string found(const toml::node& node) {
    if (const auto* text = node.as_string()) return '"' + text->get() + '"';
    if (const auto* number = node.as_integer()) return std::to_string(number->get());
    if (const auto* number = node.as_floating_point()) return fmt::format("{:#}", number->get());
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    if (node.is_table()) return "a table";
    if (node.is_array()) return "an array";
    return "a date or time";
}

}  // namespace sluice
