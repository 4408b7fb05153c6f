#pragma once

#include <array>
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

inline std::string_view bytes_of(const Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace sluice
