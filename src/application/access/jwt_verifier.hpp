#pragma once

#include <optional>
#include <string_view>

#include "domain/access/caller.hpp"

namespace sluice {

// Finds the caller of a JSON Web Token. Called on the I/O thread; never waits.
class JwtVerifier {
  public:
    virtual ~JwtVerifier() = default;

    // The caller, or nothing: the token is malformed, of another issuer, not valid now, or forged.
    // The reason is not told: a forger would learn from it.
    virtual std::optional<Caller> verify(std::string_view token, Timestamp now) = 0;
};

}  // namespace sluice
