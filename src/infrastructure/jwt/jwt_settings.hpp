#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "application/caller.hpp"
#include "domain/time.hpp"

namespace sluice {

// Whose JSON Web Tokens are believed, and what their claims say about a caller.
struct JwtSettings {
    static constexpr Duration skew_max = std::chrono::seconds(60);

    std::string issuer{};          // what "iss" must be
    std::string audience{};        // what "aud" must be or contain
    std::string jwks{};            // the issuer's public keys: a file, or a URL (jwks_place.hpp)
    std::string default_tenant{};  // for tokens that name none; empty: those are refused
    std::string tenant_claim = "tenant";
    std::string scope_claim = "scope";             // a text with spaces, or an array
    std::string kind_claim = "kind";               // user, worker or service; user when absent
    std::string types_claim = "job_types";         // what a worker may work on; any when absent
    std::string any_tenant_claim = "all_tenants";  // true: the caller may ask for every tenant
    std::vector<std::string> default_scopes{};     // of tokens that have no claim about scopes
    Duration skew = std::chrono::seconds(30);      // by how much the issuer's clock may be off
    Duration max_lifetime{};                       // from "iat" to "exp"; zero: any

    bool operator==(const JwtSettings&) const = default;
};

}  // namespace sluice
