#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "application/caller.hpp"
#include "domain/result.hpp"

namespace sluice::http {

// What a caller needs to be let through to a route. Every route names one; the engine does not
// start with a route that names none.
struct Right {
    enum class Door {
        unsaid,          // a mistake
        open,            // nothing
        any,             // a token of any kind
        scope,           // the scope
        role,            // the role in the app of the path, and no scopes that forbid it
        overall,         // the scope, for all tenants
        deploy_control,  // X-DEPLOY-SECRET where there is one, or the scope
        deploy_runner,   // a runner's token where there are any, or the scope
        deploy_node,     // X-RT-Node-Token where there is one, or the scope
        deploy_admin,    // X-Admin-Token where there is one, or the scope
    };
    Door door = Door::unsaid;
    Scope scope = Scope::admin;
    std::string_view role{};  // the weakest that will do
};

namespace needs {
inline constexpr Right nothing{Right::Door::open};
inline constexpr Right somebody{Right::Door::any};
inline constexpr Right read{Right::Door::scope, Scope::read};
inline constexpr Right operate{Right::Door::scope, Scope::operate};
inline constexpr Right work{Right::Door::scope, Scope::work};
inline constexpr Right admin{Right::Door::scope, Scope::admin};
inline constexpr Right read_overall{Right::Door::overall, Scope::read};
constexpr Right reading_as(std::string_view role) {
    return {Right::Door::role, Scope::read, role};
}
constexpr Right writing_as(std::string_view role) {
    return {Right::Door::role, Scope::operate, role};
}
inline constexpr Right deploy_read{Right::Door::deploy_control, Scope::read};
inline constexpr Right deploy_operate{Right::Door::deploy_control, Scope::operate};
inline constexpr Right deploy_work{Right::Door::deploy_runner, Scope::work};
inline constexpr Right deploy_node{Right::Door::deploy_node, Scope::admin};
inline constexpr Right deploy_admin{Right::Door::deploy_admin, Scope::admin};
}  // namespace needs

// The refusal for a caller who has not got it; nothing when they may pass. Roles are weighed by the
// rules of apps, which know the app.
std::optional<Error> refuse_caller(const Caller& caller, const Right& right);

// For people: "orch:operate, and reviewer in the app".
std::string describe(const Right& right);

}  // namespace sluice::http
