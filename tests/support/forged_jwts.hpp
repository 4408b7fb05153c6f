#pragma once

#include <string>
#include <vector>

#include "support/jwt_issuer.hpp"

namespace sluice {

struct ForgedJwt {
    std::string name{};  // what is wrong with it
    std::string token{};
};

// Tokens that nobody may believe who trusts this issuer, for its audience, with a difference of
// clocks of 60 seconds at most. Each has one thing that is wrong.
std::vector<ForgedJwt> forged_jwts(const JwtIssuer& issuer, Timestamp now);

}  // namespace sluice
