#include "domain/values/sha256.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <memory>

#include "domain/values/check.hpp"

namespace sluice {
namespace {

// Looking the algorithm up anew for each call costs more than hashing a job; one context per thread
// is kept.
class Hasher {
  public:
    Hasher() : algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()) {
        check(algorithm_ && context_, "SHA-256 is not available");
    }

    Digest hash(std::string_view first, std::string_view second) {
        Digest digest;
        unsigned size = 0;
        const bool ok = EVP_DigestInit_ex2(context_.get(), algorithm_.get(), nullptr) == 1 &&
                        EVP_DigestUpdate(context_.get(), first.data(), first.size()) == 1 &&
                        EVP_DigestUpdate(context_.get(), second.data(), second.size()) == 1 &&
                        EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1;
        check(ok && size == digest.size(), "SHA-256 failed");
        return digest;
    }

  private:
    struct Free {
        void operator()(EVP_MD* algorithm) const { EVP_MD_free(algorithm); }
        void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    };
    std::unique_ptr<EVP_MD, Free> algorithm_;
    std::unique_ptr<EVP_MD_CTX, Free> context_;
};

Hasher& hasher() {
    thread_local Hasher instance;
    return instance;
}

}  // namespace

Digest sha256(std::string_view bytes) {
    return hasher().hash(bytes, {});
}

Digest sha256(const Digest& first, std::string_view second) {
    return hasher().hash(bytes_of(first), second);
}

std::optional<Digest> parse_digest(std::string_view hex) {
    const auto value = [](char c) {
        if (c >= '0' && c <= '9') return c - '0';
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    Digest digest{};
    if (hex.size() != 2 * digest.size()) return std::nullopt;
    for (std::size_t i = 0; i < digest.size(); ++i) {
        const int high = value(hex[2 * i]);
        const int low = value(hex[2 * i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        digest[i] = static_cast<unsigned char>(high * 16 + low);
    }
    return digest;
}

bool is_same_secret(const Digest& one, const Digest& other) {
    return CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

void append_hex(std::string& out, const Digest& digest) {
    constexpr char digit[] = "0123456789abcdef";
    char text[2 * std::tuple_size_v<Digest>];
    char* at = text;
    for (const unsigned char byte : digest) {
        *at++ = digit[byte >> 4];
        *at++ = digit[byte & 0xF];
    }
    out.append(text, sizeof text);
}

std::string to_hex(const Digest& digest) {
    std::string text;
    text.reserve(64);
    append_hex(text, digest);
    return text;
}

}  // namespace sluice
