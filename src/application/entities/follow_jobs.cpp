#include "application/entities/follow_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "application/entities/entity_changes.hpp"
#include "application/toolkit/error_detail.hpp"
#include "application/toolkit/names.hpp"
#include "domain/values/check.hpp"
#include "json/json_values.hpp"

namespace sluice {
namespace {

using Followed = EntityKinds::Followed;

constexpr std::size_t taken_bytes_max = 4096;  // of one value of a result

// The entity, or a blank one when its kind is created by the first job that names it.
std::optional<Entity> find_or_blank(EntityChanges& changes, const Followed& followed) {
    std::optional<Entity> entity = changes.find(followed.key);
    if (entity || !followed.kind->is_implicit || check_path_id("id", followed.key.id))
        return entity;
    entity.emplace();
    entity->key = followed.key;
    entity->state = followed.kind->initial;
    return entity;
}

// Whether the start of the job has put the entity in this state.
bool leads_to(const Followed& followed, const std::string& state) {
    const auto& rows = followed.kind->transitions;
    return std::any_of(rows.begin(), rows.end(), [&](const EntityTransition& row) {
        return row.action == followed.follow->on_start && row.to == state;
    });
}

Error nothing_to_move(const EntityKey& key) {
    return {ErrorCode::resource_failed,
            fmt::format("there is no {}, so that the job cannot start", to_text(key)), ""};
}

Error cannot_start(const Entity& entity) {
    return {ErrorCode::resource_failed,
            fmt::format("{} is {}, so that the job cannot start", to_text(entity.key),
                        entity.damaged ? "damaged in the store" : entity.state),
            ""};
}

std::optional<Error> refuse_start(EntityChanges& changes, const Entity& entity,
                                  const Followed& followed) {
    const std::string& action = followed.follow->on_start;
    if (entity.damaged || !followed.kind->next_state(entity.state, action)) {
        return cannot_start(entity);
    }
    const auto closed =
        closed_gate(changes.checks(), changes.looks(), entity, *followed.kind, action);
    return closed ? std::optional(gate_refusal(*closed)) : std::nullopt;
}

// The action that a job's end takes on the entity, or an empty text.
std::string ending_action(const Follow& follow, const Job& job) {
    if (job.now.state != JobState::succeeded) return follow.on_failure;
    if (follow.on_outcome.empty()) return follow.on_success;
    const auto outcome = text_of(json_members(job.now.result), "outcome");
    const auto chosen = outcome ? follow.on_outcome.find(*outcome) : follow.on_outcome.end();
    return chosen == follow.on_outcome.end() ? follow.on_success : chosen->second;
}

void take_result(Entity& entity, const Follow& follow, const Job& job) {
    if (follow.takes.empty() || job.now.state != JobState::succeeded) return;
    const Attributes result = json_members(job.now.result);
    for (const std::string& name : follow.takes) {
        const auto value = result.find(name);
        if (value == result.end() || value->second == "null") continue;
        if (value->second.size() <= taken_bytes_max) entity.attributes[name] = value->second;
    }
}

void follow_end(EntityChanges& changes, const Job& job, const std::vector<Followed>& all) {
    for (const Followed& followed : all) {
        const std::string action = ending_action(*followed.follow, job);
        if (action.empty()) continue;
        std::optional<Entity> entity = changes.find(followed.key);
        // An entity that another job has moved since, or that the table does not let move, stays.
        if (!entity || !is_about(*entity, job)) continue;
        take_result(*entity, *followed.follow, job);
        const auto refusal = changes.act(*entity, action);
        // A success whose next step cannot be taken, say because its job is too large, counts as a
        // failure.
        if (refusal && refusal->code != ErrorCode::invalid_transition) {
            changes.move(*entity, followed.follow->on_failure,
                         error_detail(resource_failed_code, refusal->message));
        }
    }
    for (const ContractRules& contract : changes.rules().contracts) {
        if (contract.after_end) contract.after_end(changes, job);
    }
}

// An entity that moves with the job that starts.
struct Start {
    Entity entity;
    const Followed* followed = nullptr;
};

// Checks all entities before any is moved, so that a refusal leaves all unmoved.
std::optional<Error> ask_to_start(EntityChanges& changes, const Job& job,
                                  const std::vector<Followed>& all, std::vector<Start>& starts) {
    for (const Followed& followed : all) {
        if (followed.follow->on_start.empty()) continue;
        std::optional<Entity> entity = find_or_blank(changes, followed);
        if (!entity) return nothing_to_move(followed.key);
        if (is_about(*entity, job) && leads_to(followed, entity->state)) continue;  // a retry
        if (auto refusal = refuse_start(changes, *entity, followed)) return refusal;
        starts.push_back({*std::move(entity), &followed});
    }
    return std::nullopt;
}

std::optional<Error> follow_start(EntityChanges& changes, const Job& job,
                                  const std::vector<Followed>& all) {
    std::vector<Start> starts;
    if (auto refusal = ask_to_start(changes, job, all, starts)) return refusal;
    for (Start& start : starts) {
        if (start.entity.number == 0) {
            auto created = changes.create({.key = start.entity.key});
            check(static_cast<bool>(created), "an entity comes into being with its first job");
            start.entity = *std::move(created);
        }
        start.entity.attributes["job_id"] = json_string(to_text(job.spec->id));
        changes.move(start.entity, start.followed->follow->on_start);
    }
    return std::nullopt;
}

// Reads the jobs and entities that the gates before these starts ask for.
void prepare_starts(EntityChanges& changes, const std::vector<std::vector<Followed>>& all) {
    std::vector<GatedStep> steps;
    for (const std::vector<Followed>& of_job : all) {
        for (const auto& [key, kind, follow] : of_job) {
            const std::string& action = follow->on_start;
            if (std::none_of(kind->gates.begin(), kind->gates.end(),
                             [&](const Gate& gate) { return gate.action == action; })) {
                continue;
            }
            if (auto entity = changes.find(key)) {
                steps.push_back({*std::move(entity), kind, action});
            }
        }
    }
    if (!steps.empty()) prepare_gates(changes.checks(), changes.looks(), steps);
}

void add_touched(const Rules& rules, const JobSpec& job, std::vector<EntityKey>& keys) {
    for (const ContractRules& contract : rules.contracts) {
        if (contract.touched_by) contract.touched_by(job, keys);
    }
}

}  // namespace

void add_followed(const Rules& rules, const JobSpec& job, std::vector<EntityKey>& keys) {
    for (auto& followed : rules.kinds.followed_by(job)) keys.push_back(std::move(followed.key));
    add_touched(rules, job, keys);
}

std::vector<std::optional<Error>> follow_starts(Transaction& tx, std::span<const Job* const> jobs) {
    EntityChanges changes(tx, engine_actor);
    std::vector<std::vector<Followed>> followed;
    std::vector<EntityKey> keys;
    for (const Job* job : jobs) {
        followed.push_back(tx.rules().kinds.followed_by(job->spec));
        for (const Followed& one : followed.back()) {
            if (!one.follow->on_start.empty()) keys.push_back(one.key);
        }
    }
    changes.fetch(std::move(keys));
    prepare_starts(changes, followed);
    std::vector<std::optional<Error>> refusals(jobs.size());
    std::vector<const Job*> started;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (!jobs[i]->damage.empty()) continue;
        if (!followed[i].empty()) {
            changes.follow(jobs[i]->spec->id, engine_actor);
            refusals[i] = follow_start(changes, *jobs[i], followed[i]);
        }
        if (!refusals[i]) started.push_back(jobs[i]);
    }
    for (const ContractRules& contract : tx.rules().contracts) {
        if (contract.after_starts && !started.empty()) contract.after_starts(changes, started);
    }
    changes.apply();
    return refusals;
}

void follow_ends(Transaction& tx, std::span<const Job> ended) {
    EntityChanges changes(tx, engine_actor);
    std::vector<std::vector<Followed>> followed;
    std::vector<EntityKey> keys;
    for (const Job& job : ended) {
        followed.push_back(tx.rules().kinds.followed_by(job.spec));
        for (const Followed& one : followed.back()) keys.push_back(one.key);
        add_touched(tx.rules(), job.spec, keys);
    }
    changes.fetch(std::move(keys));
    for (const ContractRules& contract : tx.rules().contracts) {
        if (contract.before_ends) contract.before_ends(changes, ended);
    }
    for (std::size_t i = 0; i < ended.size(); ++i) {
        changes.follow(ended[i].spec->id, engine_actor);
        follow_end(changes, ended[i], followed[i]);
    }
    changes.apply();
}

std::optional<Error> prepare_to_follow(const Rules& rules, EntityReader& entities, JobSpec& spec,
                                       bool is_own) {
    for (const Followed& followed : rules.kinds.followed_by(spec)) {
        if (followed.follow->on_start.empty()) continue;
        const std::optional<Entity> entity =
            is_own ? std::nullopt : entities.find_one(followed.key);
        if (!entity && !is_own && followed.kind->is_implicit) {
            if (auto refusal = check_path_id("entity_id", followed.key.id)) return refusal;
        }
        if (entity && !followed.kind->next_state(entity->state, followed.follow->on_start) &&
            followed.kind->next_state(entity->state, "reset")) {
            Error refusal = cannot_start(*entity);
            refusal.message += "; reset it first";
            return refusal;
        }
        if (followed.key.id != spec.entity_id || followed.key.kind != spec.entity_type) continue;
        const std::string key =
            fmt::format("{}{}:{}", own_key_prefix, spec.entity_type, spec.entity_id);
        if (std::find(spec.exclusive_keys.begin(), spec.exclusive_keys.end(), key) ==
            spec.exclusive_keys.end()) {
            spec.exclusive_keys.push_back(key);
            std::sort(spec.exclusive_keys.begin(), spec.exclusive_keys.end());
        }
    }
    return std::nullopt;
}

}  // namespace sluice
