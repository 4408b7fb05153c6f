#pragma once

#include <memory>

#include "application/access/jwt_verifier.hpp"
#include "domain/values/result.hpp"
#include "infrastructure/jwt/jwt_settings.hpp"
#include "infrastructure/jwt/verified_tokens.hpp"

namespace sluice {

class KeySet;
class KeyWatch;
struct KeyWatchTimes;

// Checks JSON Web Tokens in their compact form (RFC 7515, 7519, 8725) against the public keys of
// one issuer. The key decides which algorithms are allowed, never the token.
class CjoseJwtVerifier final : public JwtVerifier {
  public:
    // Refuses settings that make no sense, and a file that has no usable key.
    static Result<std::unique_ptr<CjoseJwtVerifier>> open(const JwtSettings& settings);
    static Result<std::unique_ptr<CjoseJwtVerifier>> open(const JwtSettings& settings,
                                                          const KeyWatchTimes& times);
    ~CjoseJwtVerifier() override;

    std::optional<Caller> verify(std::string_view token, Timestamp now) override;

    // Reads the keys again, soon; for SIGHUP. From any thread.
    void reload();

    // Whether there are keys yet: they may have to come over the network first.
    bool has_keys() const;

  private:
    CjoseJwtVerifier(const JwtSettings& settings, std::unique_ptr<KeyWatch> watch);

    std::optional<TokenClaims> read_token(std::string_view token, const KeySet& keys);

    const JwtSettings settings_;
    const std::unique_ptr<KeyWatch> watch_;
    std::shared_ptr<const KeySet> keys_;  // of the known tokens
    VerifiedTokens known_;
};

}  // namespace sluice
