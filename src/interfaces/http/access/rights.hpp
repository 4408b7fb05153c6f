#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "domain/access/caller.hpp"
#include "domain/values/result.hpp"
#include "interfaces/http/access/door.hpp"

namespace sluice::http {

// The right that a caller needs for a route. Every route names one; the engine does not start with
// a route that names none.
struct Right {
    enum class Kind {
        unsaid,   // a mistake
        open,     // nothing
        any,      // a token of any kind
        scope,    // the scope
        role,     // the role in the app of the path, and no scopes that forbid it
        overall,  // the scope, for all tenants
        door,     // what the door asks for, or the scope
    };
    Kind kind = Kind::unsaid;
    Scope scope = Scope::admin;
    std::string_view role{};     // the weakest that will do
    const Door* door = nullptr;  // for Kind::door
};

namespace needs {
inline constexpr Right nothing{Right::Kind::open};
inline constexpr Right somebody{Right::Kind::any};
inline constexpr Right read{Right::Kind::scope, Scope::read};
inline constexpr Right operate{Right::Kind::scope, Scope::operate};
inline constexpr Right quota{Right::Kind::scope, Scope::quota};
inline constexpr Right work{Right::Kind::scope, Scope::work};
inline constexpr Right admin{Right::Kind::scope, Scope::admin};
inline constexpr Right read_overall{Right::Kind::overall, Scope::read};
inline constexpr Right quota_overall{Right::Kind::overall, Scope::quota};
inline constexpr Right admin_overall{Right::Kind::overall, Scope::admin};
constexpr Right reading_as(std::string_view role) {
    return {Right::Kind::role, Scope::read, role};
}
constexpr Right writing_as(std::string_view role) {
    return {Right::Kind::role, Scope::operate, role};
}
constexpr Right passing(const Door& door, Scope scope) {
    return {Right::Kind::door, scope, {}, &door};
}
}  // namespace needs

// The refusal for a caller that lacks the right; nothing when it may pass. Roles are weighed by the
// rules of apps, which know the app.
std::optional<Error> refuse_caller(const Caller& caller, const Right& right);

// For people: "orch:operate, and reviewer in the app".
std::string describe(const Right& right);

}  // namespace sluice::http
