#include "interfaces/http/access/rights.hpp"

#include <fmt/format.h>

namespace sluice::http {
namespace {

constexpr const char* no_right =
    "nobody may do this: the table of routes has no right for it, an error of the engine; please "
    "report it";

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
    switch (right.kind) {
        case Right::Kind::unsaid: return forbidden(no_right);
        case Right::Kind::open:
        case Right::Kind::any: return std::nullopt;
        case Right::Kind::scope: return refuse_scope(caller, right.scope);
        case Right::Kind::role: return refuse_member(caller, right.scope);
        case Right::Kind::overall:
            if (!caller.any_tenant) return forbidden("this needs a token for all tenants");
            return refuse_scope(caller, right.scope);
        case Right::Kind::door:
            if (!caller.any_tenant && caller.tenant != right.door->tenant) {
                return forbidden(fmt::format(
                    "this call belongs to tenant {}, and the token to tenant {}; use a token of "
                    "that tenant, or for all",
                    right.door->tenant, caller.tenant));
            }
            return refuse_scope(caller, right.scope);
    }
    return forbidden(no_right);
}

std::string describe(const Right& right) {
    const std::string scope = name_of(right.scope);
    switch (right.kind) {
        case Right::Kind::unsaid: return "nobody";
        case Right::Kind::open: return "everybody";
        case Right::Kind::any: return "any token";
        case Right::Kind::scope: return scope;
        case Right::Kind::role:
            if (right.role.empty()) return fmt::format("any user or service ({})", scope);
            return fmt::format("role {} in the app ({})", right.role, scope);
        case Right::Kind::overall: return scope + " for all tenants";
        case Right::Kind::door: return fmt::format("{}, or {}", right.door->shown_as, scope);
    }
    return "nobody";
}

}  // namespace sluice::http
