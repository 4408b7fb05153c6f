#include "operator/serve_access.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "application/access/access_tokens.hpp"
#include "infrastructure/jwt/jwks_source.hpp"
#include "infrastructure/system/log.hpp"
#include "infrastructure/system/random_secret.hpp"
#include "infrastructure/system/system_clock.hpp"
#include "interfaces/http/dispatch/routes.hpp"
#include "interfaces/http/server/server_options.hpp"
#include "operator/open_store.hpp"

namespace sluice {
namespace {

bool is_loopback(const std::string& host) {
    return host == "localhost" || host == "::1" || host == "[::1]" || host.starts_with("127.");
}

}  // namespace

// Without tokens every client that can connect may do everything, so only this machine may connect.
void check_access(const Config& config) {
    http::check_rights();
    if (is_loopback(config.server.host)) return;
    if (config.no_auth) {
        throw std::runtime_error(fmt::format(
            "no_auth lets everybody in, which is accepted on loopback only, and {} is not: listen "
            "on 127.0.0.1, or run sluice serve without no_auth and make access tokens",
            config.server.host));
    }
    if (config.server.tls.is_given() || config.plaintext) return;
    throw std::runtime_error(fmt::format(
        "{} is reached from other machines, and tokens would cross the network in plain text: give "
        "[tls] a certificate and a key, or set plaintext = true when a proxy in front has them",
        config.server.host));
}

http::Access::Settings access_settings(const Config& config) {
    http::Access::Settings settings{.is_open = config.no_auth, .admins = config.admins};
    if (!config.admin_token.empty()) settings.admin_token = sha256(config.admin_token);
    return settings;
}

// Nothing when no JSON Web Tokens are to be believed.
std::unique_ptr<CjoseJwtVerifier> open_jwts(const Config& config) {
    if (!config.jwt || config.no_auth) return nullptr;
    auto verifier = CjoseJwtVerifier::open(*config.jwt);
    if (!verifier) throw std::runtime_error("auth.jwt: " + verifier.error().message);
    return *std::move(verifier);
}

std::vector<std::string> start_problems(const Config& config) {
    log::open(log::Level::error, false);
    const bool reads_keys = config.jwt && !is_jwks_url(config.jwt->jwks);
    std::vector<std::string> problems;
    const auto note = [&](const auto& check) {
        try {
            check();
        } catch (const std::runtime_error& error) {
            problems.emplace_back(error.what());
        }
    };
    note([&] { check_store_url(config.store); });
    note([&] { check_access(config); });
    note([&] { http::listening_address(config.server.host); });
    note([&] { http::gate_rules(config.server); });
    if (config.server.tls.is_given()) note([&] { http::TlsIdentity(config.server.tls); });
    if (reads_keys) note([&] { open_jwts(config); });
    return problems;
}

std::string first_token_advice(const Config& config) {
    const std::string by_file = "start the engine with SLUICE_ADMIN_TOKEN_FILE";
    if (config.store == "memory:") return by_file;
    return fmt::format(
        "stop the engine, make one with: sluice token create NAME --scope orch:admin --all-tenants "
        "--store {}, and start it again; or {}",
        shown_store(config.store), by_file);
}

// Warns when there is no token yet, so that no caller is let in.
void warn_without_tokens(const Config& config, Store& store) {
    if (config.no_auth || config.jwt || !config.admin_token.empty()) return;
    if (!list_tokens(store.reader()->entities(), operator_caller, "").empty()) return;
    log::warn("nobody can come in: there is no access token yet; " + first_token_advice(config));
}

void seal_leases(CommandQueue& commands, http::LeaseSeal& seal) {
    if (seal.is_ready()) return;
    const auto decide = [proposal = random_secret()](EntityChanges& changes) {
        return find_engine_key(changes, proposal);
    };
    commands.post_one<EntityAction>({{engine_secret_key()}, decide},
                                    [&seal](const Result<EntityAnswer>& found) {
                                        if (!found) return seal.miss_key();
                                        seal.set_key(engine_key_of(*found->entity));
                                    });
}

// Logs a request that was refused for a missing right; only so many a second, so that the log is
// not flooded.
void log_denial(const Caller& caller, const http::Route& route) {
    constexpr int denials_max = 10;
    thread_local http::RateLimit limit(denials_max, std::chrono::seconds(1));
    if (!limit.take("", SystemClock().now()).is_allowed) return;
    log::warn("denied", fmt::format(R"({},{},"call":"{} {}","needs":"{}")",
                                    log::field("caller", actor_name(caller)),
                                    log::field("tenant", caller.tenant), http::to_text(route.verb),
                                    route.pattern, http::describe(route.right)));
}

}  // namespace sluice
