#pragma once

#include <optional>
#include <string_view>

#include "domain/access/caller.hpp"
#include "infrastructure/jwt/jwt_settings.hpp"

namespace sluice {

// When a token is valid, with the allowed difference of clocks.
struct TokenValidity {
    Timestamp from = Timestamp::min();
    Timestamp until = Timestamp::min();

    bool covers(Timestamp now) const { return from <= now && now < until; }
};

struct TokenClaims {
    Caller caller{};
    TokenValidity validity{};
};

// Reads the claims of a token whose signature is good: the caller, and when the token is valid,
// which the caller of this function has to check. Nothing when the token is from another issuer,
// for another audience, or lacks a required claim, or has one of the wrong form.
std::optional<TokenClaims> read_claims(std::string_view json, const JwtSettings& settings);

}  // namespace sluice
