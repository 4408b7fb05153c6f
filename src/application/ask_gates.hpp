#pragma once

#include <string>
#include <vector>

#include "application/gates.hpp"
#include "application/rules.hpp"
#include "domain/result.hpp"

namespace sluice {

// Whether something may be done to an entity, as far as jobs must have succeeded for it.
struct GateQuestion {
    EntityKey key;
    std::string parent{};    // what it belongs to, such as its app; empty: whatever it does
    std::string action{};    // either this action of its kind,
    std::string job_type{};  // or the gates of this type
};

// What each gate in question says, in order. Refuses an action that the kind's table does not allow
// now, and what there is not. A job type may be asked about for whatever jobs name, also when it is
// no entity.
Result<std::vector<GateVerdict>> ask_gates(JobReader& reader, const Rules& rules,
                                           const GateQuestion& question);

// What every gate of the entity says.
std::vector<GateVerdict> all_gates(JobReader& reader, const Rules& rules, const Entity& entity);

}  // namespace sluice
