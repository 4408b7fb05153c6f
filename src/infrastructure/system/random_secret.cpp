#include "infrastructure/system/random_secret.hpp"

#include <openssl/rand.h>

#include <array>

#include "domain/values/check.hpp"

namespace sluice {

std::string random_secret() {
    constexpr char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::array<unsigned char, 32> bytes{};
    check(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1, "there is no randomness");
    std::string text;
    unsigned bits = 0;
    int count = 0;
    for (const unsigned char byte : bytes) {
        bits = bits << 8 | byte;
        for (count += 8; count >= 6; count -= 6) text += digit[bits >> (count - 6) & 63];
    }
    text += digit[bits << (6 - count) & 63];
    return text;
}

}  // namespace sluice
