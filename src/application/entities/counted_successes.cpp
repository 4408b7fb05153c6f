#include "application/entities/counted_successes.hpp"

#include <algorithm>

#include "json/json_values.hpp"

namespace sluice {
namespace {

bool is_about_something(const Job& job) {
    return is_intact_success(job) && !job.spec->entity_id.empty();
}

EntityKey subject_of(const JobSpec& spec) {
    return {spec.tenant, spec.entity_type, spec.entity_id};
}

}  // namespace

// A question about an id that is no entity may name its parent, and need not.
std::vector<Entity> CountedSuccesses::subjects_of(const JobSpec& spec) {
    const bool is_known = kinds_.find(spec.entity_type) != nullptr;
    if (auto entity = is_known ? entities_.find_one(subject_of(spec)) : std::nullopt) {
        if (!entity->parent.empty() && entity->parent != spec.project) return {};
        return {*std::move(entity)};
    }
    std::vector<Entity> named(spec.project.empty() ? 1 : 2);
    for (Entity& each : named) each.key = subject_of(spec);
    named.back().parent = spec.project;
    return named;
}

void CountedSuccesses::prepare(std::span<const std::optional<Job>> jobs) {
    std::vector<EntityKey> keys;
    for (const std::optional<Job>& job : jobs) {
        if (job && is_about_something(*job)) keys.push_back(subject_of(job->spec));
    }
    if (keys.empty()) return;
    entities_.find(keys);
    std::set<Question> asked;
    std::vector<JobFilter> successes;
    for (const std::optional<Job>& job : jobs) {
        if (!job || !is_about_something(*job)) continue;
        const std::string& type = job->spec->type;
        for (const Entity& subject : subjects_of(job->spec)) {
            if (!asked.insert({subject.key, subject.parent, type}).second) continue;
            successes.push_back(successes_of(subject, {.action = "", .job_type = type}));
        }
    }
    checks_.fetch(std::move(successes));
}

bool CountedSuccesses::has(const Job& job) {
    if (!is_about_something(job)) return false;
    const JobSpec& spec = *job.spec;
    const EntityKind* kind = kinds_.find(spec.entity_type);
    const std::vector<Entity> subjects = subjects_of(spec);
    return std::any_of(subjects.begin(), subjects.end(), [&](const Entity& subject) {
        return (kind && is_before_action(subject, *kind, job)) ||
               newest_of(subject, kind, spec.type).contains(spec.id);
    });
}

const std::set<JobId>& CountedSuccesses::newest_of(const Entity& entity, const EntityKind* kind,
                                                   const std::string& type) {
    const auto [entry, is_new] = newest_.try_emplace({entity.key, entity.parent, type});
    if (!is_new) return entry->second;
    std::vector<Gate> gates;
    for (const Gate& gate : kind ? kind->gates : std::vector<Gate>()) {
        if (gate.job_type == type) gates.push_back(gate);
    }
    if (gates.empty()) gates.push_back({.action = "", .job_type = type});
    for (const Gate& gate : gates) {
        const ProfileChoice choice =
            kind ? choice_in_app(entities_, entity, *kind, gate.profiles) : gate.profiles;
        GateSearch search(entity, choice, profiles_for(entities_, entity, choice));
        search.look_through(checks_, successes_of(entity, gate));
        entry->second.insert(search.counted().begin(), search.counted().end());
    }
    return entry->second;
}

// Which of several successes counts can change with the app's choice of profiles, so all of them
// count.
bool CountedSuccesses::is_before_action(const Entity& entity, const EntityKind& kind,
                                        const Job& job) {
    const Attributes payload = json_members(job.spec->payload);
    if (!is_of_this_revision(entity, payload)) return false;
    return std::any_of(kind.gates.begin(), kind.gates.end(), [&](const Gate& gate) {
        if (gate.job_type != job.spec->type || !kind.may_still(entity.state, gate.action)) {
            return false;
        }
        const ProfileChoice choice = choice_in_app(entities_, entity, kind, gate.profiles);
        const std::vector<Entity> profiles = profiles_for(entities_, entity, choice);
        if (profiles.empty()) return ran_against_none_other(payload, choice);
        return std::any_of(profiles.begin(), profiles.end(),
                           [&](const Entity& profile) { return ran_against(payload, profile); });
    });
}

}  // namespace sluice
