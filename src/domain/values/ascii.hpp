#pragma once

#include <algorithm>
#include <string>
#include <string_view>

// Characters of ASCII, independent of the locale: names of headers, settings and schemas.
namespace sluice {

constexpr char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

inline std::string lowered(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = to_lower(c);
    return lower;
}

constexpr bool equals_ignoring_case(std::string_view left, std::string_view right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](char l, char r) { return to_lower(l) == to_lower(r); });
}

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) {
    return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

constexpr bool is_letter_or_digit(char c) {
    return is_letter(c) || is_digit(c);
}

// A character of a token (RFC 9110), as the names of headers and of parameters are made of.
constexpr bool is_token_character(char c) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return is_letter_or_digit(c) || marks.find(c) != marks.npos;
}

}  // namespace sluice
