#pragma once

#include <memory>

#include "application/ports/command_queue.hpp"
#include "application/ports/store.hpp"
#include "infrastructure/jwt/cjose_jwt_verifier.hpp"
#include "interfaces/http/access.hpp"
#include "interfaces/http/lease_seal.hpp"
#include "interfaces/http/route.hpp"
#include "main/config.hpp"

// Who is let in, as the configuration has it.
namespace sluice {

// Throws when the engine would be open to others, or tokens would be; or when it is not said of
// each route who may use it.
void check_access(const Config& config);

http::Access::Settings access_settings(const Config& config);

// Nothing when no JSON Web Tokens are believed.
std::unique_ptr<CjoseJwtVerifier> open_jwts(const Config& config);

// Says so when nobody can come in yet.
void warn_without_tokens(const Config& config, Store& store);

// Asks for the key that seals lease ids, which all engines on the store share, unless it is known.
// To be called on the I/O thread, again and again.
void seal_leases(CommandQueue& commands, http::LeaseSeal& seal);

// Who tried what they may not.
void log_denial(const Caller& caller, const http::Route& route);

}  // namespace sluice
