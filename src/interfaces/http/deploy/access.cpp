#include "interfaces/http/deploy/access.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "domain/values/sha256.hpp"
#include "interfaces/http/deploy/envelope.hpp"
#include "interfaces/http/deploy/plane.hpp"
#include "interfaces/http/toolkit/app.hpp"

namespace sluice::http::deploy {
namespace {

enum class Shown { nothing, right, wrong, not_asked };

bool is_secret(std::string_view given, const std::string& wanted) {
    return is_same_secret(sha256(given), sha256(wanted));
}

Shown shown_secret(const Request& request, std::string_view header, const std::string& secret) {
    if (secret.empty()) return Shown::not_asked;
    const std::string_view* given = request.header(header);
    if (given == nullptr) return Shown::nothing;
    return is_secret(*given, secret) ? Shown::right : Shown::wrong;
}

// A token that is none of these may be one of the engine's.
Shown shown_runner_token(const Request& request, const Settings& settings) {
    if (settings.open_runners) return Shown::right;
    const auto& tokens = settings.runner_tokens;
    if (tokens.empty()) return Shown::not_asked;
    const std::string_view given = bearer_token(request);
    const bool is_known = std::any_of(tokens.begin(), tokens.end(), [&](const std::string& known) {
        return is_secret(given, known);
    });
    return is_known ? Shown::right : Shown::nothing;
}

// The secret that opens a door, and the caller's name then.
struct Lock {
    std::string_view secret;   // its name for people
    std::string_view setting;  // where it is configured
    std::string_view holder;
    CallerKind kind;
    Scope scope;
};

constexpr Lock control_lock{"X-DEPLOY-SECRET", "deploy.shared_secret", "deploy",
                            CallerKind::service, Scope::operate};
constexpr Lock runner_lock{"the runner's token", "deploy.runner_tokens", "runner",
                           CallerKind::worker, Scope::work};
constexpr Lock node_lock{"X-RT-Node-Token", "deploy.node_token", "node", CallerKind::service,
                         Scope::work};
constexpr Lock admin_lock{"X-Admin-Token", "deploy.admin_token", "deploy-admin",
                          CallerKind::service, Scope::admin};

Response wrong_secret(const Lock& lock) {
    Response response = refused_by_status(
        401, fmt::format("{} is missing or wrong; the engine's setting {} has the right one",
                         lock.secret, lock.setting));
    if (lock.kind == CallerKind::worker) {
        response.headers.emplace_back("WWW-Authenticate", "Bearer");
    }
    return response;
}

CallerPtr holder_of(const Lock& lock) {
    Caller caller;
    caller.name = lock.holder;
    caller.kind = lock.kind;
    caller.scopes = {lock.scope};
    caller.credential = lock.secret;
    return std::make_shared<Caller>(std::move(caller));
}

DoorVerdict verdict_on(const Lock& lock, Shown shown, const App& app) {
    if (shown == Shown::not_asked) return {};
    const bool is_open = app.access.is_open();  // then the engine itself asks for nothing
    if (shown == Shown::wrong) return {.refusal = wrong_secret(lock), .is_guess = true};
    if (shown == Shown::nothing && is_open) return {.refusal = wrong_secret(lock)};
    if (shown == Shown::right && !is_open) return {.caller = holder_of(lock)};
    return {};
}

const Settings& settings_of(const App& app) {
    return app.part<Plane>().settings;
}

// The secret is sent in the header that the lock names.
template <const Lock& lock, std::string Settings::*secret>
DoorVerdict look_at_header(const Request& request, const App& app) {
    return verdict_on(lock, shown_secret(request, lock.secret, settings_of(app).*secret), app);
}

DoorVerdict look_at_runner(const Request& request, const App& app) {
    return verdict_on(runner_lock, shown_runner_token(request, settings_of(app)), app);
}

// The deploy control plane is one plant, which belongs to this tenant.
constexpr std::string_view plane_tenant = "default";

}  // namespace

constinit const Door control_door{control_lock.secret, control_lock.secret, plane_tenant,
                                  look_at_header<control_lock, &Settings::shared_secret>};
constinit const Door runner_door{"a runner token", {}, plane_tenant, look_at_runner};
constinit const Door node_door{node_lock.secret, node_lock.secret, plane_tenant,
                               look_at_header<node_lock, &Settings::node_token>};
constinit const Door admin_door{admin_lock.secret, admin_lock.secret, plane_tenant,
                                look_at_header<admin_lock, &Settings::admin_token>};

}  // namespace sluice::http::deploy
