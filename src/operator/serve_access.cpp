#include "operator/serve_access.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "application/access/access_tokens.hpp"
#include "domain/values/json_text.hpp"
#include "infrastructure/system/log.hpp"
#include "infrastructure/system/random_secret.hpp"
#include "infrastructure/system/system_clock.hpp"
#include "interfaces/http/dispatch/routes.hpp"

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
            "--no-auth is accepted on loopback only, and {} is not: listen on 127.0.0.1, or leave "
            "--no-auth out and make access tokens",
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

// Warns when there is no token yet, so that no caller is let in.
void warn_without_tokens(const Config& config, Store& store) {
    if (config.no_auth || config.jwt || !config.admin_token.empty()) return;
    if (!list_tokens(store.reader()->entities(), operator_caller, "").empty()) return;
    log::warn(
        "nobody can come in: there is no access token yet. Set SLUICE_ADMIN_TOKEN, or make one "
        "with \"sluice token create\" and --store, and start again");
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
    std::string fields = R"("caller":)";
    append_json_string(fields, actor_name(caller));
    fields += R"(,"tenant":)";
    append_json_string(fields, caller.tenant);
    fields += fmt::format(R"(,"call":"{} {}","needs":"{}")", http::to_text(route.verb),
                          route.pattern, http::describe(route.right));
    log::warn("denied", fields);
}

}  // namespace sluice
