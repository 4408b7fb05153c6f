#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "application/entities/gate_search.hpp"
#include "domain/entities/entity.hpp"
#include "domain/entities/entity_kind.hpp"

namespace sluice {

// The verdict of a gate about an entity right now.
struct GateVerdict {
    Gate gate;
    bool open = false;
    std::string message{};  // for people: the missing success, and the latest job of the kind
    // The latest job of the gate's type for this entity. For an open gate only show_gate() reads
    // it.
    std::optional<Job> latest{};
};

// Asks for a success of a job of the gate's type, for the entity as it is now: when the job's
// payload carries `head_sha` and the entity has one they are equal, and likewise the runtime
// profile that the gate asks for, in its present revision. Jobs and entities count as the readers
// see them. Checks that have not succeeded cost nothing, however many there are, and neither do
// other jobs of the entity.
GateVerdict check_gate(Checks& checks, EntityReader& entities, const Entity& entity,
                       const Gate& gate);
// The same for display: with the latest job, whether the gate is open or closed.
GateVerdict show_gate(JobReader& reader, const Entity& entity, const Gate& gate);

// The gates before an action of the entity, as its app has them.
std::vector<Gate> gates_before(EntityReader& entities, const Entity& entity, const EntityKind& kind,
                               std::string_view action);

// The first gate before the action that is closed, if any.
std::optional<GateVerdict> closed_gate(Checks& checks, EntityReader& entities, const Entity& entity,
                                       const EntityKind& kind, std::string_view action);

// Reads the jobs and entities that the gates before these actions ask for, in a few calls of the
// stores however many there are. `entities` remembers those that it has read.
struct GatedStep {
    Entity entity;
    const EntityKind* kind = nullptr;
    std::string_view action;
};
void prepare_gates(Checks& checks, EntityReader& entities, std::span<const GatedStep> steps);

// The profiles that the entity's app has chosen for its checks, or the default.
ProfileChoice choice_in_app(EntityReader& entities, const Entity& entity, const EntityKind& kind,
                            ProfileChoice usual);

// The runtime profiles of the entity's app that a check of it must run against.
std::vector<Entity> profiles_for(EntityReader& entities, const Entity& entity,
                                 ProfileChoice choice);

// The refusal for a closed gate.
Error gate_refusal(const GateVerdict& verdict);

}  // namespace sluice
