#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "domain/access/caller.hpp"
#include "domain/values/time.hpp"

namespace sluice {

// The issuer whose JSON Web Tokens are accepted, and how their claims describe a caller.
struct JwtSettings {
    static constexpr Duration skew_max = std::chrono::seconds(60);

    std::string issuer{};          // the required "iss"
    std::string audience{};        // "aud" must be or contain it
    std::string jwks{};            // the issuer's public keys: a file, or a URL (jwks_source.hpp)
    std::string default_tenant{};  // for tokens without a tenant; empty: those are refused
    std::string tenant_claim = "tenant";
    std::string scope_claim = "scope";             // a text with spaces, or an array
    std::string kind_claim = "kind";               // user, worker or service; user when absent
    std::string types_claim = "job_types";         // that a worker may work on; any when absent
    std::string any_tenant_claim = "all_tenants";  // true: the caller may ask for every tenant
    std::vector<std::string> default_scopes{};     // of tokens without the scope claim
    Duration skew = std::chrono::seconds(30);      // by how much the issuer's clock may be off
    Duration max_lifetime{};                       // from "iat" to "exp"; zero: any

    bool operator==(const JwtSettings&) const = default;
};

}  // namespace sluice
