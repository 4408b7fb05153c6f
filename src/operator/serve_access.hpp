#pragma once

#include <memory>
#include <string>
#include <vector>

#include "application/ports/command_queue.hpp"
#include "application/ports/store.hpp"
#include "config/config.hpp"
#include "infrastructure/jwt/cjose_jwt_verifier.hpp"
#include "interfaces/http/access/access.hpp"
#include "interfaces/http/access/lease_seal.hpp"
#include "interfaces/http/toolkit/route.hpp"

// The settings of access, applied to a running engine.
namespace sluice {

// Throws when the engine would be open to others, or tokens would be; or when a route does not name
// the right that it needs.
void check_access(const Config& config);

// All for which serve would refuse to start, as far as no store, no port and no other machine is
// asked. To be called once: it closes the log to all but errors.
std::vector<std::string> start_problems(const Config& config);

http::Access::Settings access_settings(const Config& config);

// Nothing when no JSON Web Tokens are believed.
std::unique_ptr<CjoseJwtVerifier> open_jwts(const Config& config);

// How the first token is made for the store of this configuration.
std::string first_token_advice(const Config& config);

// Warns when there is no token yet, so that no caller is let in.
void warn_without_tokens(const Config& config, Store& store);

// Asks for the key that seals lease ids, which all engines on the store share, unless it is known.
// To be called on the I/O thread, again and again.
void seal_leases(CommandQueue& commands, http::LeaseSeal& seal);

// Logs a request that was refused for a missing right.
void log_denial(const Caller& caller, const http::Route& route);

}  // namespace sluice
