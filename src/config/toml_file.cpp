#include "config/toml_file.hpp"

#define TOML_EXCEPTIONS 0
// The library asserts conditions that it then reports as errors of the file.
#define TOML_ASSERT(expression) static_cast<void>(0)
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace sluice {
namespace {

// The library bounds how deep values nest, and so the depth of this recursion.
TomlValue plain_value(const toml::node& node) {
    TomlValue out;
    out.line = node.source().begin.line;
    if (const auto* text = node.as_string()) {
        out.kind = TomlValue::Kind::text;
        out.text = text->get();
    } else if (const auto* integer = node.as_integer()) {
        out.kind = TomlValue::Kind::integer;
        out.integer = integer->get();
    } else if (const auto* real = node.as_floating_point()) {
        out.kind = TomlValue::Kind::real;
        out.real = real->get();
    } else if (const auto* flag = node.as_boolean()) {
        out.kind = TomlValue::Kind::flag;
        out.flag = flag->get();
    } else if (const toml::array* array = node.as_array()) {
        out.kind = TomlValue::Kind::array;
        for (const toml::node& element : *array) out.children.push_back(plain_value(element));
    } else if (const toml::table* table = node.as_table()) {
        for (const auto& [key, member] : *table) {
            TomlValue& child = out.children.emplace_back(plain_value(member));
            child.key = key.str();
            child.key_line = key.source().begin.line;
        }
    } else {
        out.kind = TomlValue::Kind::time;
    }
    return out;
}

}  // namespace

const TomlValue* TomlValue::find(std::string_view name) const {
    if (kind != Kind::table) return nullptr;
    for (const TomlValue& child : children) {
        if (child.key == name) return &child;
    }
    return nullptr;
}

std::variant<TomlValue, TomlProblem> parse_toml(std::string_view text) {
    const toml::parse_result parsed = toml::parse(text);
    if (parsed) return plain_value(parsed.table());
    return TomlProblem{parsed.error().source().begin.line,
                       std::string(parsed.error().description())};
}

}  // namespace sluice
