#pragma once

#include <optional>
#include <string_view>

#include "application/caller.hpp"
#include "infrastructure/jwt/jwt_settings.hpp"

namespace sluice {

// When a token is believed, the difference of clocks included.
struct TokenValidity {
    Timestamp from = Timestamp::min();
    Timestamp until = Timestamp::min();

    bool covers(Timestamp now) const { return from <= now && now < until; }
};

struct TokenClaims {
    Caller caller{};
    TokenValidity validity{};
};

// Reads the claims of a token whose signature is good: who it is about, and when it is valid, which
// the caller of this function has to weigh. Nothing when the token is from another issuer, for
// another audience, or does not say all that is asked for, or not as it has to be said.
std::optional<TokenClaims> read_claims(std::string_view json, const JwtSettings& settings);

}  // namespace sluice
