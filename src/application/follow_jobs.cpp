#include "application/follow_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "application/apps/app_changes.hpp"
#include "application/entity_desk.hpp"
#include "application/error_detail.hpp"
#include "application/json_values.hpp"

namespace sluice {
namespace {

using Followed = EntityKinds::Followed;

constexpr std::size_t taken_bytes_max = 4096;  // of one value of a result

// The entity, or a new one when its kind comes into being with the first job that names it.
std::optional<Entity> find_followed(EntityDesk& desk, const Followed& followed) {
    std::optional<Entity> entity = desk.find(followed.key);
    if (entity || !followed.kind->is_implicit) return entity;
    auto created = desk.create({.key = followed.key});
    return created ? std::optional(*std::move(created)) : std::nullopt;
}

// Whether the start of the job has put the entity there.
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
    return {
        ErrorCode::resource_failed,
        fmt::format("{} is {}, so that the job cannot start", to_text(entity.key), entity.state),
        ""};
}

std::optional<Error> refuse_start(EntityDesk& desk, const Entity& entity,
                                  const Followed& followed) {
    const std::string& action = followed.follow->on_start;
    if (!followed.kind->next_state(entity.state, action)) return cannot_start(entity);
    const auto closed = closed_gate(desk.jobs(), entity, *followed.kind, action);
    return closed ? std::optional(gate_refusal(*closed)) : std::nullopt;
}

// What a job's end does to the entity, or an empty text.
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

void follow_end(Transaction& tx, const Job& job) {
    const std::vector<Followed> all = tx.rules().kinds.followed_by(job.spec);
    const bool is_of_app = !job.spec->project.empty() && !job.spec->entity_id.empty();
    if (all.empty() && !is_of_app) return;
    EntityDesk desk(tx, engine_actor, job.spec->id);
    for (const Followed& followed : all) {
        const std::string action = ending_action(*followed.follow, job);
        if (action.empty()) continue;
        std::optional<Entity> entity = desk.find(followed.key);
        // One that another job has moved since, or that the table does not let move, stays.
        if (!entity || !is_about(*entity, job)) continue;
        take_result(*entity, *followed.follow, job);
        const auto refusal = desk.act(*entity, action);
        // A success whose next step cannot be taken, say because its job is too large, is none.
        if (refusal && refusal->code != ErrorCode::invalid_transition) {
            desk.move(*entity, followed.follow->on_failure,
                      error_detail(resource_failed_code, refusal->message));
        }
    }
    if (is_of_app) apps::after_job(desk, job);
    desk.apply();
}

}  // namespace

std::optional<Error> follow_start(Transaction& tx, const Job& job) {
    const std::vector<Followed> all = tx.rules().kinds.followed_by(job.spec);
    if (all.empty()) return std::nullopt;
    EntityDesk desk(tx, engine_actor, job.spec->id);
    for (const Followed& followed : all) {
        if (followed.follow->on_start.empty()) continue;
        std::optional<Entity> entity = find_followed(desk, followed);
        if (!entity) return nothing_to_move(followed.key);
        if (is_about(*entity, job) && leads_to(followed, entity->state)) continue;  // a retry
        if (auto refusal = refuse_start(desk, *entity, followed)) return refusal;
        entity->attributes["job_id"] = json_string(to_text(job.spec->id));
        desk.move(*entity, followed.follow->on_start);
    }
    desk.apply();
    return std::nullopt;
}

void follow_ends(Transaction& tx, std::span<const Job> ended) {
    for (const Job& job : ended) follow_end(tx, job);
}

std::optional<Error> prepare_to_follow(Transaction& tx, JobSpec& spec, bool is_own) {
    for (const Followed& followed : tx.rules().kinds.followed_by(spec)) {
        if (followed.follow->on_start.empty()) continue;
        const std::optional<Entity> entity = tx.jobs().entities().find_one(followed.key);
        if (!is_own && entity &&
            !followed.kind->next_state(entity->state, followed.follow->on_start) &&
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
