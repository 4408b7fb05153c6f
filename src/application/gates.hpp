#pragma once

#include <optional>
#include <string>
#include <vector>

#include "application/ports/job_reader.hpp"
#include "domain/entity.hpp"
#include "domain/entity_kind.hpp"

namespace sluice {

// What a gate says about an entity right now.
struct GateVerdict {
    Gate gate;
    bool open = false;
    std::string message{};        // for people: what is missing, and the latest job of the kind
    std::optional<Job> latest{};  // the latest job of the gate's type for this entity
};

// So many of an entity's successful checks are looked at, the newest first. A gate stays closed,
// and says so, when none of them counts for the entity as it is now: a new check comes first.
inline constexpr int checks_looked_at = 500;

// Asks for a success of a job of the gate's type, for the entity as it is now: when the job's
// payload carries `head_sha` and the entity has one they are equal, and likewise the runtime
// profile that the gate asks for, in its present revision. What the readers see counts. Checks that
// have not succeeded cost nothing, however many there are.
GateVerdict check_gate(JobReader& jobs, EntityReader& entities, const Entity& entity,
                       const Gate& gate);
inline GateVerdict check_gate(JobReader& reader, const Entity& entity, const Gate& gate) {
    return check_gate(reader, reader.entities(), entity, gate);
}

// The gates before an action of the entity, as its app has them.
std::vector<Gate> gates_before(EntityReader& entities, const Entity& entity, const EntityKind& kind,
                               std::string_view action);

// The first gate before the action that is closed, if any.
std::optional<GateVerdict> closed_gate(JobReader& jobs, EntityReader& entities,
                                       const Entity& entity, const EntityKind& kind,
                                       std::string_view action);

// Which profiles the entity's app has chosen for its checks, or the usual ones.
ProfileChoice choice_in_app(EntityReader& entities, const Entity& entity, const EntityKind& kind,
                            ProfileChoice usual);

// The runtime profiles of the entity's app that a check of it must run against.
std::vector<Entity> profiles_for(EntityReader& entities, const Entity& entity,
                                 ProfileChoice choice);

// Whether a gate counts this success now, before an action that its entity may still take. A job
// that is about no entity, or about one that is gone, is asked for by none.
bool is_asked_for(EntityReader& entities, const EntityKinds& kinds, const Job& job);

// The refusal for a closed gate.
Error gate_refusal(const GateVerdict& verdict);

}  // namespace sluice
