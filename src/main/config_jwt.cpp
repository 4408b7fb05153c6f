#include "main/config_jwt.hpp"

#include "application/names.hpp"
#include "infrastructure/jwt/jwks_place.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t place_bytes = 4096;

void read_place(Section& table, std::string& out) {
    table.text("jwks", out, place_bytes);
    if (out.empty()) return;
    if (const auto problem = problem_with_jwks_place(out)) {
        table.problem("jwks", *table.find("jwks"), *problem);
    }
}

void read_default_tenant(Section& table, std::string& out) {
    table.text("default_tenant", out);
    if (out.empty()) return;
    if (const auto refusal = check_tenant("", out)) {
        table.problem("default_tenant", *table.find("default_tenant"), refusal->message);
    }
}

void read_scopes(Section& table, std::vector<std::string>& out) {
    table.texts("default_scopes", out);
    for (const std::string& scope : out) {
        if (parse_scope(scope)) continue;
        table.problem("default_scopes", *table.find("default_scopes"),
                      fmt::format("\"{}\" is no scope; there are orch:read, orch:operate, "
                                  "orch:quota, orch:backfill and orch:admin",
                                  scope));
    }
}

}  // namespace

std::optional<JwtSettings> read_jwt(Section table) {
    if (!table.exists()) return std::nullopt;
    JwtSettings out;
    table.text("issuer", out.issuer, place_bytes);
    table.require("issuer", "the \"iss\" of the tokens to believe");
    table.text("audience", out.audience, place_bytes);
    table.require("audience", "the \"aud\" of the tokens that are meant for this engine");
    read_place(table, out.jwks);
    table.require("jwks", "a file or an https:// address with the issuer's public keys");
    read_default_tenant(table, out.default_tenant);
    table.text("tenant_claim", out.tenant_claim);
    table.text("scope_claim", out.scope_claim);
    table.text("kind_claim", out.kind_claim);
    table.text("types_claim", out.types_claim);
    table.text("any_tenant_claim", out.any_tenant_claim);
    read_scopes(table, out.default_scopes);
    table.duration("skew", out.skew, 0s, JwtSettings::skew_max);
    table.duration("max_lifetime", out.max_lifetime, 0s, 24h * 366);
    table.close();
    return out;
}

}  // namespace sluice
