#include "infrastructure/jwt/base64url.hpp"

#include <cstdint>

namespace sluice {
namespace {

// The six bits that a character stands for, or -1.
constexpr int bits_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '-') return 62;
    return c == '_' ? 63 : -1;
}

}  // namespace

std::optional<std::string> decode_base64url(std::string_view text) {
    if (text.size() % 4 == 1) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() * 3 / 4);
    std::uint32_t pending = 0;
    int pending_bits = 0;
    for (const char c : text) {
        const int bits = bits_of(c);
        if (bits < 0) return std::nullopt;
        pending = (pending << 6 | static_cast<std::uint32_t>(bits)) & 0xFFFF;
        pending_bits += 6;
        if (pending_bits < 8) continue;
        pending_bits -= 8;
        bytes.push_back(static_cast<char>(pending >> pending_bits & 0xFF));
    }
    const std::uint32_t left_over = pending & ((1u << pending_bits) - 1);
    if (left_over != 0) return std::nullopt;
    return bytes;
}

}  // namespace sluice
