#pragma once

#include <cstring>
#include <unordered_map>
#include <utility>

#include "domain/values/sha256.hpp"
#include "infrastructure/jwt/token_claims.hpp"

namespace sluice {

// Tokens that were found to be good, by their hash, so that a token that is shown again costs only
// that hash. Bounded: two generations, of which the older one is forgotten when the newer one is
// full.
class VerifiedTokens {
  public:
    explicit VerifiedTokens(std::size_t size_max) : generation_max_(size_max / 2) {}

    // The claims under this hash, or nullptr. Valid until the next call.
    const TokenClaims* find(const Digest& token) {
        if (const auto found = newer_.find(token); found != newer_.end()) return &found->second;
        auto node = older_.extract(token);
        if (node.empty()) return nullptr;
        drop_old_generation();
        return &newer_.insert(std::move(node)).position->second;
    }

    void put(const Digest& token, TokenClaims claims) {
        drop_old_generation();
        newer_.insert_or_assign(token, std::move(claims));
    }

    void clear() {
        newer_.clear();
        older_.clear();
    }

    std::size_t size() const { return newer_.size() + older_.size(); }

  private:
    // Any bytes of a SHA-256 serve as a hash.
    struct FirstBytes {
        std::size_t operator()(const Digest& digest) const {
            std::size_t bytes = 0;
            std::memcpy(&bytes, digest.data(), sizeof bytes);
            return bytes;
        }
    };
    using Generation = std::unordered_map<Digest, TokenClaims, FirstBytes>;

    void drop_old_generation() {
        if (newer_.size() < generation_max_) return;
        older_ = std::exchange(newer_, {});
    }

    std::size_t generation_max_;
    Generation newer_;
    Generation older_;
};

}  // namespace sluice
