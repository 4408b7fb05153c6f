#pragma once

#include <string>
#include <vector>

#include "application/entities/gates.hpp"
#include "application/toolkit/rules.hpp"
#include "domain/values/result.hpp"

namespace sluice {

// Whether an action may be taken on an entity, as far as jobs must have succeeded for it.
struct GateQuestion {
    EntityKey key;
    std::string parent{};    // its parent, such as its app; empty: any
    std::string action{};    // either this action of its kind,
    std::string job_type{};  // or the gates of this type
};

// The verdict of each gate in question, in order. Refuses an action that the kind's table does not
// allow now, and an unknown entity or action. A job type may be asked about for any id that jobs
// name, also when it is no entity.
Result<std::vector<GateVerdict>> ask_gates(JobReader& reader, const Rules& rules,
                                           const GateQuestion& question);

// The verdict of every gate of the entity.
std::vector<GateVerdict> all_gates(JobReader& reader, const Rules& rules, const Entity& entity);

}  // namespace sluice
