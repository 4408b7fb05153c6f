#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {

// A value of a TOML file, with the line where it stands. This is all that the configuration sees
// of the library that reads TOML, which is slow to compile.
struct TomlValue {
    enum class Kind { text, integer, real, flag, array, table, time };

    Kind kind = Kind::table;
    std::uint32_t line = 0;
    std::string text{};
    std::int64_t integer = 0;
    double real = 0;
    bool flag = false;
    std::vector<TomlValue> children{};  // elements of an array, members of a table
    std::string key{};                  // of a member
    std::uint32_t key_line = 0;

    // The member of this name, or nullptr. A value that is no table has no members.
    const TomlValue* find(std::string_view name) const;
};

struct TomlProblem {
    std::uint32_t line = 0;
    std::string what{};
};

// The table that the text describes, or the first error of its syntax.
std::variant<TomlValue, TomlProblem> parse_toml(std::string_view text);

}  // namespace sluice
