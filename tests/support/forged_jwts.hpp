#pragma once

#include <string>
#include <vector>

#include "support/jwt_issuer.hpp"

namespace sluice {

struct ForgedJwt {
    std::string name{};  // what is wrong with it
    std::string token{};
};

// Tokens that must be refused by a verifier that trusts this issuer, for its audience, with a
// difference of clocks of 60 seconds at most. Each has one mistake.
std::vector<ForgedJwt> forged_jwts(const JwtIssuer& issuer, Timestamp now);

}  // namespace sluice
