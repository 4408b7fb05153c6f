#pragma once

#include <optional>
#include <string_view>

#include "application/caller.hpp"

namespace sluice {

// Tells who shows a JSON Web Token. Called on the I/O thread; never waits.
class JwtVerifier {
  public:
    virtual ~JwtVerifier() = default;

    // The caller, or nothing: the token is malformed, not ours, not valid now, or forged. Why is
    // not said: whoever forges tokens would learn from it.
    virtual std::optional<Caller> verify(std::string_view token, Timestamp now) = 0;
};

}  // namespace sluice
