#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

using Digest = std::array<unsigned char, 32>;

// SHA-256 of `bytes`. Aborts when the crypto library cannot provide it.
Digest sha256(std::string_view bytes);

// SHA-256 of `first` followed by `second`, without joining them.
Digest sha256(const Digest& first, std::string_view second);

std::string to_hex(const Digest& digest);
void append_hex(std::string& out, const Digest& digest);

// The digest of 64 lower-case hex digits; nothing when the text is something else.
std::optional<Digest> parse_digest(std::string_view hex);

// Compares in a time that tells nothing about where the two differ.
bool is_same_secret(const Digest& one, const Digest& other);

inline std::string_view bytes_of(const Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace sluice
