#include "application/entities/gates.hpp"

#include <fmt/format.h>

#include "json/json_values.hpp"

namespace sluice {
namespace {

constexpr int profiles_max = 1000;

bool is_temp(const Attributes& profile) {
    return text_of(profile, "kind").value_or("").starts_with("temp_");
}

bool is_persistent(const Attributes& profile) {
    return text_of(profile, "kind") == "persistent_env";
}

std::optional<Entity> profile_named(EntityReader& entities, const Entity& entity,
                                    const Attributes& by) {
    const auto id = text_of(by, "runtime_profile_id");
    if (!id) return std::nullopt;
    return entities.find_one({entity.key.tenant, "runtime_profile", *id});
}

EntityFilter profiles_beside(const Entity& entity) {
    return {.tenant = entity.key.tenant, .kind = "runtime_profile", .parent = entity.parent};
}

std::vector<Entity> all_profiles(EntityReader& entities, const Entity& entity) {
    return entities.list(profiles_beside(entity), newest_entity, 0, profiles_max);
}

// The profile that the entity names, or else the app's newest: for changesets before for
// workspaces.
std::vector<Entity> temp_profiles(EntityReader& entities, const Entity& entity) {
    if (auto named = profile_named(entities, entity, entity.attributes)) {
        if (is_temp(named->attributes)) return {*std::move(named)};
    }
    const std::vector<Entity> all = all_profiles(entities, entity);
    for (const char* kind : {"temp_changeset", "temp_workspace"}) {
        for (const Entity& profile : all) {
            if (text_of(profile.attributes, "kind") == kind) return {profile};
        }
    }
    return {};
}

std::vector<Entity> target_profiles(EntityReader& entities, const Entity& entity) {
    const auto id = text_of(entity.attributes, "environment_id");
    if (!id) return {};
    const auto environment = entities.find_one({entity.key.tenant, "environment", *id});
    if (!environment) return {};
    auto profile = profile_named(entities, entity, environment->attributes);
    return profile ? std::vector<Entity>{*std::move(profile)} : std::vector<Entity>{};
}

// Adds the key of the entity that the attribute "<kind>_id" names.
void add_named(const Entity& entity, const char* kind, std::vector<EntityKey>& keys) {
    if (auto id = text_of(entity.attributes, fmt::format("{}_id", kind))) {
        keys.push_back({entity.key.tenant, kind, *std::move(id)});
    }
}

std::optional<Job> latest_check(JobReader& jobs, const Entity& entity, const Gate& gate) {
    std::vector<Job> latest = jobs.list(checks_of(entity, gate), newest, ListLimit(1, 1));
    return latest.empty() ? std::nullopt : std::optional(std::move(latest.front()));
}

// `looked_at_all`: there are no older successes.
std::string closed_message(const Entity& entity, const Gate& gate, const GateSearch& search,
                           const std::optional<Job>& latest, bool looked_at_all) {
    std::string text =
        fmt::format("required {} job has not succeeded for {}", gate.job_type, to_text(entity.key));
    if (const auto sha = text_of(entity.attributes, "head_sha")) {
        text += fmt::format(" at head_sha {}", *sha);
    }
    if (!search.missing().empty()) {
        const Entity& profile = search.missing().front();
        text += fmt::format(" against runtime profile {} in its revision {}", profile.key.id,
                            integer_of(profile.attributes, "profile_revision").value_or(0));
    }
    if (!latest) return text + "; there is no such job yet";
    if (!looked_at_all) {
        text += fmt::format("; older checks than the latest {} that succeeded do not count",
                            checks_looked_at);
    }
    text += fmt::format("; the latest one, {}, is {}", to_text(latest->spec->id),
                        to_text(latest->now.state));
    if (latest->now.state != JobState::succeeded) return text;
    if (!latest->damage.empty()) return text + ", but its stored row is damaged";
    return text + ", but for another revision";
}

}  // namespace

std::vector<Entity> profiles_for(EntityReader& entities, const Entity& entity,
                                 ProfileChoice choice) {
    switch (choice) {
        case ProfileChoice::none: return {};
        case ProfileChoice::temp: return temp_profiles(entities, entity);
        case ProfileChoice::target: return target_profiles(entities, entity);
        case ProfileChoice::environments: break;
    }
    std::vector<Entity> profiles = all_profiles(entities, entity);
    std::erase_if(profiles,
                  [](const Entity& profile) { return !is_persistent(profile.attributes); });
    return profiles;
}

ProfileChoice choice_in_app(EntityReader& entities, const Entity& entity, const EntityKind& kind,
                            ProfileChoice usual) {
    if (usual == ProfileChoice::none || kind.flow.empty() || entity.parent.empty()) return usual;
    const auto app = entities.find_one({entity.key.tenant, "app", entity.parent});
    const auto gates = app ? app->attributes.find("gates") : Attributes::const_iterator{};
    if (!app || gates == app->attributes.end()) return usual;
    const auto chosen = text_of(json_members(gates->second), kind.flow);
    return chosen ? parse_profile_choice(*chosen).value_or(usual) : usual;
}

std::vector<Gate> gates_before(EntityReader& entities, const Entity& entity, const EntityKind& kind,
                               std::string_view action) {
    std::vector<Gate> gates;
    for (Gate gate : kind.gates) {
        if (gate.action != action) continue;
        gate.profiles = choice_in_app(entities, entity, kind, gate.profiles);
        gates.push_back(std::move(gate));
    }
    return gates;
}

GateVerdict check_gate(Checks& checks, EntityReader& entities, const Entity& entity,
                       const Gate& gate) {
    GateVerdict verdict{.gate = gate};
    GateSearch search(entity, gate.profiles, profiles_for(entities, entity, gate.profiles));
    const bool more = search.look_through(checks, successes_of(entity, gate));
    verdict.open = search.is_over();
    if (verdict.open) {
        verdict.message =
            fmt::format("{} has succeeded for {}", gate.job_type, to_text(entity.key));
    } else {
        verdict.latest = latest_check(checks.jobs(), entity, gate);
        verdict.message = closed_message(entity, gate, search, verdict.latest, !more);
    }
    return verdict;
}

GateVerdict show_gate(JobReader& reader, const Entity& entity, const Gate& gate) {
    Checks checks(reader);
    GateVerdict verdict = check_gate(checks, reader.entities(), entity, gate);
    if (verdict.open) verdict.latest = latest_check(reader, entity, gate);
    return verdict;
}

std::optional<GateVerdict> closed_gate(Checks& checks, EntityReader& entities, const Entity& entity,
                                       const EntityKind& kind, std::string_view action) {
    for (const Gate& gate : gates_before(entities, entity, kind, action)) {
        GateVerdict verdict = check_gate(checks, entities, entity, gate);
        if (!verdict.open) return verdict;
    }
    return std::nullopt;
}

void prepare_gates(Checks& checks, EntityReader& entities, std::span<const GatedStep> steps) {
    std::vector<EntityKey> apps;
    for (const auto& [entity, kind, action] : steps) {
        if (!entity.parent.empty()) apps.push_back({entity.key.tenant, "app", entity.parent});
    }
    entities.find(apps);
    std::vector<EntityKey> profiles;
    std::vector<EntityKey> environments;
    std::vector<EntityFilter> lists;
    std::vector<JobFilter> successes;
    for (const auto& [entity, kind, action] : steps) {
        for (const Gate& gate : gates_before(entities, entity, *kind, action)) {
            successes.push_back(successes_of(entity, gate));
            if (gate.profiles == ProfileChoice::target) {
                add_named(entity, "environment", environments);
            } else if (gate.profiles != ProfileChoice::none) {
                add_named(entity, "runtime_profile", profiles);
                lists.push_back(profiles_beside(entity));
            }
        }
    }
    for (const std::optional<Entity>& found : entities.find(environments)) {
        if (found) add_named(*found, "runtime_profile", profiles);
    }
    entities.find(profiles);
    if (!lists.empty()) entities.lists(lists, profiles_max);
    checks.fetch(std::move(successes));
}

Error gate_refusal(const GateVerdict& verdict) {
    return {ErrorCode::gate_closed, verdict.message, ""};
}

}  // namespace sluice
