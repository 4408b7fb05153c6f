#pragma once

#include <string>
#include <string_view>

#include "domain/values/ascii.hpp"

namespace sluice {

// The text as part of a URL: letters, digits and these marks stay, other bytes become %XX.
inline std::string percent_encoded(std::string_view text, std::string_view marks = "-._~") {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (is_letter_or_digit(c) || marks.find(c) != marks.npos) {
            out += c;
        } else {
            out += {'%', digits[byte / 16], digits[byte % 16]};
        }
    }
    return out;
}

}  // namespace sluice
