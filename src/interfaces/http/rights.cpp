#include "interfaces/http/rights.hpp"

#include <fmt/format.h>

namespace sluice::http {
namespace {

// The deploy control plane is one plant, which belongs to this tenant.
constexpr std::string_view deploy_tenant = "default";

std::string name_of(Scope scope) {
    return scope == Scope::work ? "a worker's token" : std::string(to_text(scope));
}

Error forbidden(std::string message) {
    return {ErrorCode::forbidden, std::move(message), ""};
}

std::optional<Error> refuse_scope(const Caller& caller, Scope scope) {
    if (caller.scopes.allow(scope)) return std::nullopt;
    return forbidden(fmt::format("this needs {}", name_of(scope)));
}

// Scopes narrow what a token may do in the name of its owner; one without any is not narrowed.
std::optional<Error> refuse_member(const Caller& caller, Scope scope) {
    if (caller.kind == CallerKind::worker) return forbidden("workers are no members of apps");
    return caller.scopes.empty() ? std::nullopt : refuse_scope(caller, scope);
}

}  // namespace

std::optional<Error> refuse_caller(const Caller& caller, const Right& right) {
    switch (right.door) {
        case Right::Door::unsaid: return forbidden("nobody may do this");
        case Right::Door::open:
        case Right::Door::any: return std::nullopt;
        case Right::Door::scope: return refuse_scope(caller, right.scope);
        case Right::Door::role: return refuse_member(caller, right.scope);
        case Right::Door::overall:
            if (!caller.any_tenant) return forbidden("this needs a token for all tenants");
            return refuse_scope(caller, right.scope);
        case Right::Door::deploy_control:
        case Right::Door::deploy_runner:
        case Right::Door::deploy_node:
        case Right::Door::deploy_admin:
            if (!caller.any_tenant && caller.tenant != deploy_tenant) {
                return forbidden(fmt::format("this belongs to tenant {}", deploy_tenant));
            }
            return refuse_scope(caller, right.scope);
    }
    return forbidden("nobody may do this");
}

std::string describe(const Right& right) {
    const std::string scope = name_of(right.scope);
    switch (right.door) {
        case Right::Door::unsaid: return "nobody";
        case Right::Door::open: return "everybody";
        case Right::Door::any: return "any token";
        case Right::Door::scope: return scope;
        case Right::Door::role:
            if (right.role.empty()) return fmt::format("any user or service ({})", scope);
            return fmt::format("role {} in the app ({})", right.role, scope);
        case Right::Door::overall: return scope + " for all tenants";
        case Right::Door::deploy_control: return "X-DEPLOY-SECRET, or " + scope;
        case Right::Door::deploy_runner: return "a runner token, or " + scope;
        case Right::Door::deploy_node: return "X-RT-Node-Token, or " + scope;
        case Right::Door::deploy_admin: return "X-Admin-Token, or " + scope;
    }
    return "nobody";
}

}  // namespace sluice::http
