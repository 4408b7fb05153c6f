#include "application/entities/ask_gates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "application/entities/entity_changes.hpp"

namespace sluice {
namespace {

std::vector<std::string> gated_actions(const EntityKind& kind) {
    std::vector<std::string> actions;
    for (const Gate& gate : kind.gates) {
        if (std::find(actions.begin(), actions.end(), gate.action) == actions.end()) {
            actions.push_back(gate.action);
        }
    }
    return actions;
}

std::optional<Error> check_step(const EntityKind& kind, const Entity& entity,
                                const std::string& action) {
    if (!kind.has_action(action)) {
        return no_such_action(kind, action);
    }
    if (kind.next_state(entity.state, action)) return std::nullopt;
    return Error{ErrorCode::invalid_transition,
                 fmt::format("{} is {}, where \"{}\" is not possible", to_text(entity.key),
                             entity.state, action),
                 ""};
}

// The kind's own gates of this type, since they name the profiles it must have run against.
std::vector<GateVerdict> ask_about_type(JobReader& reader, const EntityKind* kind,
                                        const Entity& entity, const std::string& job_type) {
    std::vector<GateVerdict> verdicts;
    for (const std::string& action : kind ? gated_actions(*kind) : std::vector<std::string>()) {
        for (const Gate& gate : gates_before(reader.entities(), entity, *kind, action)) {
            if (gate.job_type == job_type) verdicts.push_back(show_gate(reader, entity, gate));
        }
    }
    if (verdicts.empty()) {
        verdicts.push_back(show_gate(reader, entity, {.action = "", .job_type = job_type}));
    }
    return verdicts;
}

}  // namespace

Result<std::vector<GateVerdict>> ask_gates(JobReader& reader, const Rules& rules,
                                           const GateQuestion& question) {
    const EntityKind* kind = rules.kinds.find(question.key.kind);
    std::optional<Entity> entity = kind ? reader.entities().find_one(question.key) : std::nullopt;
    const bool is_elsewhere =
        entity && !question.parent.empty() && entity->parent != question.parent;
    if (is_elsewhere || (!entity && !question.action.empty())) {
        return no_such_entity(rules.kinds, question.key);
    }
    if (!entity) {
        entity.emplace();
        entity->key = question.key;
        entity->parent = question.parent;
    }
    if (question.action.empty()) return ask_about_type(reader, kind, *entity, question.job_type);
    if (auto refusal = check_step(*kind, *entity, question.action)) return *std::move(refusal);
    std::vector<GateVerdict> verdicts;
    for (const Gate& gate : gates_before(reader.entities(), *entity, *kind, question.action)) {
        verdicts.push_back(show_gate(reader, *entity, gate));
    }
    return verdicts;
}

std::vector<GateVerdict> all_gates(JobReader& reader, const Rules& rules, const Entity& entity) {
    std::vector<GateVerdict> verdicts;
    const EntityKind* kind = rules.kinds.find(entity.key.kind);
    if (!kind) return verdicts;
    for (const std::string& action : gated_actions(*kind)) {
        for (const Gate& gate : gates_before(reader.entities(), entity, *kind, action)) {
            verdicts.push_back(show_gate(reader, entity, gate));
        }
    }
    return verdicts;
}

}  // namespace sluice
