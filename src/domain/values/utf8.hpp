#pragma once

#include <cstddef>
#include <string_view>

namespace sluice {

// The length of the UTF-8 sequence at `at` (not `end`), or 0 when it is cut off, overlong, a
// surrogate, above U+10FFFF or otherwise no UTF-8.
inline std::size_t utf8_length(const char* at, const char* end) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(at[i]); };
    const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
    const auto size = static_cast<std::size_t>(end - at);
    const unsigned char lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead < 0xC2) return 0;
    if (lead < 0xE0) return size >= 2 && follows(1) ? 2 : 0;
    if (lead < 0xF0) {
        if (size < 3 || !follows(1) || !follows(2)) return 0;
        if (lead == 0xE0 && byte(1) < 0xA0) return 0;
        if (lead == 0xED && byte(1) >= 0xA0) return 0;
        return 3;
    }
    if (lead > 0xF4 || size < 4 || !follows(1) || !follows(2) || !follows(3)) return 0;
    if (lead == 0xF0 && byte(1) < 0x90) return 0;
    if (lead == 0xF4 && byte(1) >= 0x90) return 0;
    return 4;
}

inline bool is_utf8(std::string_view text) {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        const std::size_t length = utf8_length(at, end);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

}  // namespace sluice
