#include "operator/doctor_access.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "application/access/access_tokens.hpp"
#include "infrastructure/system/system_clock.hpp"
#include "operator/open_store.hpp"
#include "operator/serve_access.hpp"

namespace sluice {
namespace {

constexpr Duration renewal_time = std::chrono::hours(24 * 14);

std::vector<AccessToken> tokens_in_use(const Config& config, Timestamp now) {
    if (config.store == "memory:" || !store_exists(config)) return {};
    const auto reader = open_reader(config);
    std::vector<AccessToken> tokens = list_tokens(reader->entities(), operator_caller, "");
    std::erase_if(tokens, [&](const AccessToken& token) { return !token.is_valid(now); });
    return tokens;
}

bool is_overall_admin(const AccessToken& token) {
    return token.caller.any_tenant && token.caller.is_admin();
}

void look_at_admins(const Config& config, const std::vector<AccessToken>& tokens, Findings& out) {
    const bool has_admin = std::any_of(tokens.begin(), tokens.end(), is_overall_admin);
    if (config.admin_token.empty() && !config.jwt && tokens.empty()) {
        out.doubtful("access", "nobody can come in: there is no access token",
                     first_token_advice(config));
    } else if (!config.admin_token.empty() && has_admin) {
        out.doubtful("access", "the first admin token is still set, though there are others now",
                     "take SLUICE_ADMIN_TOKEN or auth.admin_token_file away: that token has no "
                     "name, never expires and cannot be revoked");
    } else {
        out.good("access", fmt::format("{} access tokens{}", tokens.size(),
                                       config.admin_token.empty() ? "" : " and a first admin's"));
    }
}

void look_at_expiry(const std::vector<AccessToken>& tokens, Timestamp now, Findings& out) {
    std::vector<std::string> names;
    for (const AccessToken& token : tokens) {
        if (token.caller.expires != never && token.caller.expires - now < renewal_time) {
            names.push_back(token.caller.name);
        }
    }
    if (names.empty()) return;
    out.doubtful("access", fmt::format("expire within two weeks: {}", fmt::join(names, ", ")),
                 "make new ones with sluice token create, and revoke these when they are replaced");
}

// Settings that the engine would refuse at its start, and those that it trusts without a check.
void look_at_start(const Config& config, Findings& out) {
    const std::vector<std::string> problems = start_problems(config);
    for (const std::string& problem : problems) {
        out.bad("settings", problem, "correct it: the engine does not start like this");
    }
    if (!problems.empty() || !config.plaintext) return;
    out.doubtful("access", "plaintext lets tokens come in over HTTP",
                 "make sure that only a proxy which speaks TLS can reach the engine");
}

}  // namespace

void look_at_access(const Config& config, Findings& out) {
    look_at_start(config, out);
    if (config.no_auth) {
        return out.good("access", "everybody on this machine may do everything (no_auth)");
    }
    try {
        const Timestamp now = SystemClock().now();
        const std::vector<AccessToken> tokens = tokens_in_use(config, now);
        look_at_admins(config, tokens, out);
        look_at_expiry(tokens, now, out);
    } catch (const std::exception&) {
        // Problems of the store were reported before.
    }
}

}  // namespace sluice
