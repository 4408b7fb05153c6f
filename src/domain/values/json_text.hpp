#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sluice {

// Appends `text` as a JSON string, quotes included. Always leaves valid JSON: bytes that are not
// UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

// Whether a byte stands for itself inside a JSON string: ASCII, no control character, quote,
// backslash.
constexpr bool is_plain(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

// The first byte in [at, end) that is not plain, or `end`. Looks at eight bytes at a time.
inline const char* skip_plain(const char* at, const char* end) {
    static_assert(std::endian::native == std::endian::little, "the lowest byte must be the first");
    constexpr std::uint64_t ones = 0x0101010101010101u;
    while (end - at >= 8) {
        std::uint64_t bytes;
        std::memcpy(&bytes, at, sizeof bytes);
        // Subtraction sets the top bit of each byte that is too small. A borrow can also mark bytes
        // above such a byte, never below it, so the lowest mark is right.
        const std::uint64_t control = bytes - ones * 0x20;
        const std::uint64_t quote = (bytes ^ (ones * '"')) - ones;
        const std::uint64_t backslash = (bytes ^ (ones * '\\')) - ones;
        const std::uint64_t marks = (bytes | control | quote | backslash) & (ones * 0x80);
        if (marks != 0) return at + std::countr_zero(marks) / 8;
        at += 8;
    }
    while (at != end && is_plain(*at)) ++at;
    return at;
}

}  // namespace sluice
