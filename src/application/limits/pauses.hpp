#pragma once

#include <functional>

#include "application/limits/change_limits.hpp"

// Rules that only stop work: a paused source, maintenance, a blocked tenant. There is one of a kind
// for a scope. Each call is the `decide` of a ChangeLimits.
namespace sluice {

// What a request says of a pause. Of one that is in force, what is not named stays.
struct NamedOfPause {
    bool until = true;
    bool submits = true;
};

// Adds the pause. When there is one of this kind for this scope, that one gets the reason, and what
// is named.
Result<LimitAnswer> put_pause(EntityChanges& changes, LimitRule rule, const ChangeReason& why,
                              NamedOfPause named = {}, const CheckRevision& check_revision = {});

// Which pauses are meant: those of exactly this tenant; without one: those for all tenants.
struct WhichPause {
    LimitKind kind = LimitKind::throttle;
    std::string source{};  // of a throttle
    std::string tenant{};
};
// Whether the caller may be told of a rule for this tenant.
using SeesTenant = std::function<bool(const std::string& tenant)>;

// Ends the pauses that are meant. When there is none: not_found, and what there is instead, as far
// as the caller may see it.
Result<LimitAnswer> end_pauses(EntityChanges& changes, const WhichPause& which,
                               const ChangeReason& why, const SeesTenant& sees,
                               const CheckRevision& check_revision = {});

// Ends every pause that is meant; refuses with not_found, and this message, when there is none.
using IsMeant = std::function<bool(const LimitRule&)>;
Result<LimitAnswer> lift_pauses(EntityChanges& changes, const IsMeant& is_meant,
                                const ChangeReason& why, std::string none,
                                const CheckRevision& check_revision = {});

}  // namespace sluice
