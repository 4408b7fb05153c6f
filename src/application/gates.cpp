#include "application/gates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "application/json_values.hpp"

namespace sluice {
namespace {

constexpr int page = 100;  // with their payloads in memory at once
static_assert(checks_looked_at % page == 0);
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

std::vector<Entity> all_profiles(EntityReader& entities, const Entity& entity) {
    return entities.list(
        {.tenant = entity.key.tenant, .kind = "runtime_profile", .parent = entity.parent},
        newest_entity, 0, profiles_max);
}

// The one that the entity names, or else the app's newest: for changesets before for workspaces.
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

// Whether a check counts for the entity as it is now; profiles apart.
bool is_of_this_revision(const Entity& entity, const Attributes& payload) {
    for (const char* name : {"head_sha", "assembly_id"}) {
        const auto checked = text_of(payload, name);
        const auto present = text_of(entity.attributes, name);
        if (checked && present && *checked != *present) return false;
    }
    return true;
}

bool ran_against(const Attributes& payload, const Entity& profile) {
    return text_of(payload, "runtime_profile_id") == profile.key.id &&
           integer_of(payload, "runtime_profile_revision") ==
               integer_of(profile.attributes, "profile_revision");
}

// Whether a check whose app has no profile of the kind that the gate asks for may count: it must
// not have run against one of another kind.
bool ran_against_none_other(const Attributes& payload, ProfileChoice choice) {
    const auto kind = text_of(payload, "runtime_profile_kind");
    if (!kind || choice == ProfileChoice::none) return true;
    return kind->starts_with("temp_") == (choice == ProfileChoice::temp);
}

bool is_intact_success(const Job& job) {
    return job.now.state == JobState::succeeded && job.damage.empty();
}

// Looks through the entity's checks for one success per profile, or for any when there are none.
class Search {
  public:
    Search(const Entity& entity, ProfileChoice choice, std::vector<Entity> profiles)
        : entity_(entity), choice_(choice), missing_(std::move(profiles)) {
        any_will_do_ = missing_.empty();
    }

    void look_at(const Job& job) {
        if (!is_intact_success(job)) return;
        const Attributes payload = json_members(job.spec->payload);
        if (!is_of_this_revision(entity_, payload)) return;
        if (any_will_do_) {
            found_ = found_ || ran_against_none_other(payload, choice_);
            return;
        }
        std::erase_if(missing_,
                      [&](const Entity& profile) { return ran_against(payload, profile); });
        found_ = missing_.empty();
    }

    bool is_over() const { return found_; }
    const std::vector<Entity>& missing() const { return missing_; }

  private:
    const Entity& entity_;
    ProfileChoice choice_;
    std::vector<Entity> missing_;
    bool any_will_do_ = false;
    bool found_ = false;
};

// `looked_at_all`: there are no older successes.
std::string closed_message(const Entity& entity, const Gate& gate, const Search& search,
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

GateVerdict check_gate(JobReader& jobs, EntityReader& entities, const Entity& entity,
                       const Gate& gate) {
    JobFilter filter{.tenant = entity.key.tenant,
                     .type = gate.job_type,
                     .project = entity.parent,
                     .entity_type = entity.key.kind,
                     .entity_id = entity.key.id};
    GateVerdict verdict{.gate = gate};
    if (auto latest = jobs.list(filter, newest, 1); !latest.empty()) {
        verdict.latest = std::move(latest.front());
    }
    filter.states = {JobState::succeeded};
    Search search(entity, gate.profiles, profiles_for(entities, entity, gate.profiles));
    JobId before = newest;
    bool more = verdict.latest.has_value();
    for (int looked = 0; more && looked < checks_looked_at && !search.is_over(); looked += page) {
        const std::vector<Job> checks = jobs.list(filter, before, page);
        more = std::ssize(checks) == page;
        for (const Job& check : checks) search.look_at(check);
        if (more) before = checks.back().spec->id;
    }
    verdict.open = search.is_over();
    verdict.message =
        verdict.open ? fmt::format("{} has succeeded for {}", gate.job_type, to_text(entity.key))
                     : closed_message(entity, gate, search, verdict.latest, !more);
    return verdict;
}

std::optional<GateVerdict> closed_gate(JobReader& jobs, EntityReader& entities,
                                       const Entity& entity, const EntityKind& kind,
                                       std::string_view action) {
    for (const Gate& gate : gates_before(entities, entity, kind, action)) {
        GateVerdict verdict = check_gate(jobs, entities, entity, gate);
        if (!verdict.open) return verdict;
    }
    return std::nullopt;
}

bool is_asked_for(EntityReader& entities, const EntityKinds& kinds, const Job& job) {
    const JobSpec& spec = *job.spec;
    const EntityKind* kind = kinds.find(spec.entity_type);
    const auto is_of_type = [&](const Gate& gate) { return gate.job_type == spec.type; };
    if (!kind || !is_intact_success(job) ||
        std::none_of(kind->gates.begin(), kind->gates.end(), is_of_type)) {
        return false;
    }
    const auto entity = entities.find_one({spec.tenant, spec.entity_type, spec.entity_id});
    if (!entity || (!entity->parent.empty() && entity->parent != spec.project)) return false;
    const Attributes payload = json_members(spec.payload);
    if (!is_of_this_revision(*entity, payload)) return false;
    return std::any_of(kind->gates.begin(), kind->gates.end(), [&](const Gate& gate) {
        if (!is_of_type(gate) || !kind->may_still(entity->state, gate.action)) return false;
        const ProfileChoice choice = choice_in_app(entities, *entity, *kind, gate.profiles);
        const std::vector<Entity> profiles = profiles_for(entities, *entity, choice);
        if (profiles.empty()) return ran_against_none_other(payload, choice);
        return std::any_of(profiles.begin(), profiles.end(),
                           [&](const Entity& profile) { return ran_against(payload, profile); });
    });
}

Error gate_refusal(const GateVerdict& verdict) {
    return {ErrorCode::gate_closed, verdict.message, ""};
}

}  // namespace sluice
