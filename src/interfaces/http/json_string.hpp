#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

// What reading and writing JSON strings have in common.
namespace sluice::http {

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
        std::uint64_t word;
        std::memcpy(&word, at, sizeof word);
        // Subtraction sets the top bit of each byte that is too small. A borrow can also mark bytes
        // above such a byte, never below it, so the lowest mark is right.
        const std::uint64_t control = word - ones * 0x20;
        const std::uint64_t quote = (word ^ (ones * '"')) - ones;
        const std::uint64_t backslash = (word ^ (ones * '\\')) - ones;
        const std::uint64_t marks = (word | control | quote | backslash) & (ones * 0x80);
        if (marks != 0) return at + std::countr_zero(marks) / 8;
        at += 8;
    }
    while (at != end && is_plain(*at)) ++at;
    return at;
}

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

struct EscapeSequence {
    std::size_t length =
        0;  // 0: not an escape that JSON knows, or a surrogate without its other half
    bool is_nul = false;
};

// The escape that begins with the backslash at `at`; both halves of a surrogate pair count as one.
EscapeSequence read_escape(const char* at, const char* end);

// What `source` means: the inside of a string in which every escape has been checked.
std::string decode_escapes(std::string_view source);

}  // namespace sluice::http
