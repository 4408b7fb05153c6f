#include "infrastructure/postgres/connection/schema_name.hpp"

#include <algorithm>

#include "domain/values/ascii.hpp"

namespace sluice::postgres {
namespace {

constexpr std::size_t identifier_bytes_max = 63;

// Names elsewhere in the search path, or the server's own.
constexpr std::string_view taken[] = {"packs", "public", "information_schema"};

std::string_view without_blanks(std::string_view text) {
    constexpr const char* blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool is_allowed(std::string_view name) {
    return name.size() <= identifier_bytes_max && !is_digit(name.front()) &&
           std::all_of(name.begin(), name.end(),
                       [](char c) { return is_letter_or_digit(c) || c == '_'; }) &&
           !name.starts_with("pg_") &&
           std::find(std::begin(taken), std::end(taken), name) == std::end(taken);
}

}  // namespace

std::optional<SchemaName> SchemaName::resolve(std::string_view given) {
    const std::string_view text = without_blanks(given);
    SchemaName schema;
    if (text.empty()) return schema;
    schema.name_ = lowered(text);
    if (!is_allowed(schema.name_)) return std::nullopt;
    return schema;
}

}  // namespace sluice::postgres
