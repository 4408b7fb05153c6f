#pragma once

#include <cjose/jwk.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "domain/result.hpp"

namespace sluice {

// A public key of the issuer, and what it may be used for.
struct VerificationKey {
    struct Release {
        void operator()(cjose_jwk_t* key) const { cjose_jwk_release(key); }
    };

    std::string id{};                            // "kid"; empty: it has none
    std::vector<std::string_view> algorithms{};  // those that a token may name with this key
    std::size_t signature_bytes = 0;             // every signature of this key is so long
    std::unique_ptr<cjose_jwk_t, Release> jwk{};
};

// The keys of one JWKS. Never changes; a new JWKS is a new set.
class KeySet {
  public:
    // Of several keys with the same id none can be chosen, nor one without an id.
    explicit KeySet(std::vector<VerificationKey> keys) : keys_(std::move(keys)) {}

    // The only key of this id, or nullptr.
    const VerificationKey* find(std::string_view id) const;
    // The key for tokens that name none: there must be no other one.
    const VerificationKey* only() const { return keys_.size() == 1 ? keys_.data() : nullptr; }

    std::size_t size() const { return keys_.size(); }

  private:
    std::vector<VerificationKey> keys_;
};

// A JWKS as it was read, and which of its keys are not used, or not as they stand, with the reason.
// Never repeats what could be secret.
struct ReadKeys {
    std::shared_ptr<const KeySet> keys{};
    std::vector<std::string> remarks{};
};

// Reads a JWKS (RFC 7517). Only public RSA and EC keys for signatures are taken. Refuses what is no
// JWKS, and one without a key that can be used.
Result<ReadKeys> read_jwks(std::string_view text);

}  // namespace sluice
