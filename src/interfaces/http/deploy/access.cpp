#include "interfaces/http/deploy/access.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "domain/sha256.hpp"
#include "interfaces/http/deploy/envelope.hpp"

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

struct Door {
    Shown shown;
    std::string_view secret;  // what it is called
    std::string_view holder;  // how who has it is called
    CallerKind kind;
    Scopes scopes;
};

std::optional<Door> door_of(Right::Door door, const Request& request, const Settings& settings) {
    switch (door) {
        case Right::Door::deploy_control:
            return Door{shown_secret(request, "X-DEPLOY-SECRET", settings.shared_secret),
                        "X-DEPLOY-SECRET",
                        "deploy",
                        CallerKind::service,
                        {Scope::operate}};
        case Right::Door::deploy_runner:
            return Door{shown_runner_token(request, settings),
                        "the runner's token",
                        "runner",
                        CallerKind::worker,
                        {Scope::work}};
        case Right::Door::deploy_node:
            return Door{shown_secret(request, "X-RT-Node-Token", settings.node_token),
                        "X-RT-Node-Token",
                        "node",
                        CallerKind::service,
                        {Scope::work}};
        case Right::Door::deploy_admin:
            return Door{shown_secret(request, "X-Admin-Token", settings.admin_token),
                        "X-Admin-Token",
                        "deploy-admin",
                        CallerKind::service,
                        {Scope::admin}};
        default: return std::nullopt;
    }
}

Response unauthorized(const Door& door) {
    Response response = refused_by_status(401, fmt::format("{} is missing or wrong", door.secret));
    if (door.kind == CallerKind::worker) {
        response.headers.emplace_back("WWW-Authenticate", "Bearer");
    }
    return response;
}

CallerPtr holder_of(const Door& door) {
    Caller caller;
    caller.name = door.holder;
    caller.kind = door.kind;
    caller.scopes = door.scopes;
    caller.credential = door.secret;
    return std::make_shared<Caller>(std::move(caller));
}

}  // namespace

std::string_view header_of(Right::Door door) {
    switch (door) {
        case Right::Door::deploy_control: return "X-DEPLOY-SECRET";
        case Right::Door::deploy_node: return "X-RT-Node-Token";
        case Right::Door::deploy_admin: return "X-Admin-Token";
        default: return {};
    }
}

DoorVerdict look_at_door(Right::Door which, const Request& request, const App& app) {
    const auto door = door_of(which, request, app.deploy);
    if (!door || door->shown == Shown::not_asked) return {};
    const bool is_open = app.access.is_open();  // then the engine itself asks for nothing
    if (door->shown == Shown::wrong) return {.refusal = unauthorized(*door), .is_guess = true};
    if (door->shown == Shown::nothing && is_open) return {.refusal = unauthorized(*door)};
    if (door->shown == Shown::right && !is_open) return {.caller = holder_of(*door)};
    return {};
}

}  // namespace sluice::http::deploy
