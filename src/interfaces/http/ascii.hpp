#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::http {

// ASCII only and independent of the locale, as header names need it.
constexpr char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

constexpr bool equals_ignoring_case(std::string_view left, std::string_view right) {
    if (left.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (to_lower(left[i]) != to_lower(right[i])) return false;
    }
    return true;
}

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// A character of a token (RFC 9110), as the names of headers and of parameters are made of.
constexpr bool is_token_character(char c) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    const char lower = to_lower(c);
    return is_digit(c) || (lower >= 'a' && lower <= 'z') || marks.find(c) != marks.npos;
}

}  // namespace sluice::http
