#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Escapes in JSON strings.
namespace sluice {

struct EscapeSequence {
    std::size_t length = 0;  // 0: no escape that JSON knows, or half of a surrogate pair
    bool is_nul = false;
};

// The escape that begins with the backslash at `at`; both halves of a surrogate pair count as one.
EscapeSequence read_escape(const char* at, const char* end);

// Decodes `source`: the inside of a string in which every escape has been checked.
std::string decode_escapes(std::string_view source);

}  // namespace sluice
