#pragma once

#include <cjose/jwk.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "domain/values/result.hpp"

namespace sluice {

// A public key of the issuer, and its uses.
struct VerificationKey {
    struct Release {
        void operator()(cjose_jwk_t* key) const { cjose_jwk_release(key); }
    };

    std::string id{};                            // "kid"; empty: it has none
    std::vector<std::string_view> algorithms{};  // that a token may name with this key
    std::size_t signature_bytes = 0;             // of every signature of this key
    std::unique_ptr<cjose_jwk_t, Release> jwk{};
};

// The keys of one JWKS. Never changes; a new JWKS is a new set.
class KeySet {
  public:
    // A key whose id is not unique, or empty, cannot be found by id.
    explicit KeySet(std::vector<VerificationKey> keys) : keys_(std::move(keys)) {}

    // The only key of this id, or nullptr.
    const VerificationKey* find(std::string_view id) const;
    // The key for tokens that name none: there must be no other key.
    const VerificationKey* only() const { return keys_.size() == 1 ? keys_.data() : nullptr; }

    std::size_t size() const { return keys_.size(); }

  private:
    std::vector<VerificationKey> keys_;
};

// The keys of a JWKS, and the reasons why other keys in it are not used, or only in part. Never
// repeats anything that could be secret.
struct ReadKeys {
    std::shared_ptr<const KeySet> keys{};
    std::vector<std::string> remarks{};
};

// Reads a JWKS (RFC 7517). Only public RSA and EC keys for signatures are taken. Refuses a text
// that is no JWKS, and a JWKS without a usable key.
Result<ReadKeys> read_jwks(std::string_view text);

}  // namespace sluice
