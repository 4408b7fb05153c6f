#pragma once

#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

#include "domain/sha256.hpp"
#include "infrastructure/jwt/token_claims.hpp"

namespace sluice {

// Tokens that were found to be good, by their hash, so that one which is shown again costs only
// that hash. Bounded: two generations, of which the older one is forgotten when the newer one is
// full.
class VerifiedTokens {
  public:
    explicit VerifiedTokens(std::size_t size_max) : generation_max_(size_max / 2) {}

    // What was put under this hash, or nullptr. Valid until the next call.
    const TokenClaims* find(const Digest& token) {
        if (const auto found = newer_.find(token); found != newer_.end()) return &found->second;
        auto node = older_.extract(token);
        if (node.empty()) return nullptr;
        make_room();
        return &newer_.insert(std::move(node)).position->second;
    }

    void put(const Digest& token, TokenClaims claims) {
        make_room();
        newer_.insert_or_assign(token, std::move(claims));
    }

    void clear() {
        newer_.clear();
        older_.clear();
    }

    std::size_t size() const { return newer_.size() + older_.size(); }

  private:
    // Any bytes of a SHA-256 are as good as a hash of it.
    struct FirstBytes {
        std::size_t operator()(const Digest& digest) const {
            std::size_t bytes = 0;
            std::memcpy(&bytes, digest.data(), sizeof bytes);
            return bytes;
        }
    };
    using Generation = std::unordered_map<Digest, TokenClaims, FirstBytes>;

    void make_room() {
        if (newer_.size() < generation_max_) return;
        older_ = std::exchange(newer_, {});
    }

    std::size_t generation_max_;
    Generation newer_;
    Generation older_;
};

}  // namespace sluice
