#include <algorithm>
#include <chrono>

#include "application/apps/app_changes.hpp"
#include "application/apps/app_parts.hpp"
#include "domain/values/check.hpp"
#include "json/json_reader.hpp"
#include "json/json_values.hpp"

namespace sluice::apps {
namespace {

// A job that has ended, with its payload and result as attributes.
struct Ended {
    const Job& job;
    Attributes payload;
    Attributes result;

    bool succeeded() const { return job.now.state == JobState::succeeded; }
    bool is_of(std::string_view type) const { return job.spec->type == type; }
};

std::optional<Entity> find_named(EntityChanges& changes, const Ended& ended, std::string_view kind,
                                 std::string_view field) {
    const auto id = text_of(ended.payload, field);
    if (!id) return std::nullopt;
    auto entity = changes.find({ended.job.spec->tenant, std::string(kind), *id});
    return entity && entity->parent == ended.job.spec->project ? entity : std::nullopt;
}

// ── environments ──

bool says_no_drift(const Attributes& result) {
    const std::string_view drift = json_of(result, "drift");
    if (drift.empty() || drift == "null") return true;
    JsonReader reader(drift);
    if (reader.kind() != JsonReader::Kind::array) return false;
    bool is_empty = true;
    reader.array([&](std::size_t) { is_empty = false; });
    return is_empty;
}

// Whether the engine itself has ordered this job. Any client can submit one that looks like it.
bool is_asked_for(EntityChanges& changes, const Ended& ended, const Entity& environment) {
    const auto names_it = [&](const Attributes& attributes, std::string_view name) {
        return text_of(attributes, name) == to_text(ended.job.spec->id);
    };
    if (ended.is_of("runtime_profile_drift_check")) {
        return names_it(environment.attributes, "drift_check_job_id");
    }
    const auto deployment = find_named(changes, ended, "deployment", "deployment_id");
    return deployment && (names_it(deployment->attributes, "job_id") ||
                          names_it(deployment->attributes, "check_job_id"));
}

// Whether the job has checked the environment as its payload describes it, and it passed.
bool is_validation(const Ended& ended) {
    if (!ended.succeeded() || !ended.payload.contains("fingerprint")) return false;
    if (ended.is_of("msuite_deploy") || ended.is_of("deploy_release")) return true;
    if (!ended.is_of("runtime_profile_drift_check")) return false;
    return says_no_drift(ended.result);
}

// The fingerprint that the job has validated: the one in its payload, with the migrations that the
// job itself has applied, but not with those that others have applied meanwhile.
Attributes validated_by(const Ended& ended, const Attributes& before, const Attributes& after) {
    Attributes validated = json_members(json_of(ended.payload, "fingerprint"));
    if (json_of(validated, "migrations") == json_of(before, "migrations")) {
        validated["migrations"] = json_of(after, "migrations");
    }
    return validated;
}

EntityFilter environments_beside(const Entity& part) {
    return {.tenant = part.key.tenant, .kind = "environment", .parent = part.parent};
}

bool is_deployed_everywhere(EntityChanges& changes, const Entity& release) {
    const std::vector<Entity> environments =
        changes.list(environments_beside(release), all_of_them);
    return std::all_of(environments.begin(), environments.end(), [&](const Entity& environment) {
        return text_of(environment.attributes, "current_release_id") == release.key.id;
    });
}

void note_deployment_end(const Ended& ended, Entity& environment) {
    if (!ended.is_of("deploy_release")) return;
    Attributes& attributes = environment.attributes;
    if (text_of(attributes, "active_deployment_id") == ended.job.spec->entity_id) {
        attributes.erase("active_deployment_id");
    }
    const std::string_view release = json_of(ended.payload, "release_id");
    if (ended.succeeded() && !release.empty()) attributes["current_release_id"] = release;
}

void move_release(EntityChanges& changes, const Ended& ended) {
    if (!ended.is_of("deploy_release") || !ended.succeeded()) return;
    auto release = find_named(changes, ended, "release", "release_id");
    if (!release) return;
    changes.move(*release, is_deployed_everywhere(changes, *release) ? "deployed_everywhere"
                                                                     : "deployed_some");
}

void update_environment(EntityChanges& changes, const Ended& ended) {
    auto environment = find_named(changes, ended, "environment", "environment_id");
    if (!environment) return record_migrations(changes, ended.job, ended.payload);
    const Attributes before = fingerprint(changes, *environment);
    record_migrations(changes, ended.job, ended.payload);
    if (!is_asked_for(changes, ended, *environment)) return;
    const Attributes attributes_before = environment->attributes;
    note_deployment_end(ended, *environment);
    if (is_validation(ended)) {
        environment->attributes["validated"] =
            to_json(validated_by(ended, before, fingerprint(changes, *environment)));
    }
    if (environment->attributes != attributes_before) changes.save(*environment);
    move_release(changes, ended);
}

// ── temp environments ──

void start_life(EntityChanges& changes, const Ended& ended) {
    auto temp =
        changes.find({ended.job.spec->tenant, "temp_environment", ended.job.spec->entity_id});
    if (!temp || temp->state != "active" || !is_about(*temp, ended.job)) return;
    const std::int64_t wanted = integer_of(temp->attributes, "ttl_seconds").value_or(0);
    const std::chrono::seconds ttl(std::clamp(wanted, ttl_seconds_min, ttl_seconds_max));
    const Timestamp expires_at = changes.now() + ttl;
    temp->attributes["expires_at"] = json_time(expires_at);
    const auto refusal = enqueue_expiry(changes, *temp, expires_at);
    check(!refusal, "the expiry of a temp environment can be enqueued");
}

// The entities that the ends of jobs read besides those that their payloads name.
struct Needs {
    std::vector<EntityKey> apps{};      // only read
    std::vector<EntityKey> entities{};  // locked
    std::vector<EntityFilter> lists{};

    void add(EntityChanges& changes, const Ended& ended) {
        std::vector<EntityKey> reported = reported_migrations(ended.job, ended.payload);
        if (!reported.empty()) {
            apps.push_back({ended.job.spec->tenant, "app", ended.job.spec->project});
        }
        std::move(reported.begin(), reported.end(), std::back_inserter(entities));
        const auto environment = find_named(changes, ended, "environment", "environment_id");
        if (!environment) return;
        lists.push_back(migrations_of(*environment));
        if (ended.is_of("deploy_release") && ended.succeeded()) {
            lists.push_back(environments_beside(*environment));
        }
        if (auto profile = text_of(environment->attributes, "runtime_profile_id")) {
            entities.push_back(sibling(*environment, "runtime_profile", *std::move(profile)));
        }
    }
};

}  // namespace

void before_ends(EntityChanges& changes, std::span<const Job* const> ended) {
    Needs needs;
    for (const Job* job : ended) {
        needs.add(changes, {*job, json_members(job->spec->payload), {}});
    }
    changes.looks().find(needs.apps);
    changes.fetch(std::move(needs.entities));
    changes.fetch_lists(needs.lists, all_of_them);
}

void after_job(EntityChanges& changes, const Job& job) {
    const Ended ended{job, json_members(job.spec->payload), json_members(job.now.result)};
    update_environment(changes, ended);
    if (ended.is_of("temp_env_provision") && ended.succeeded()) start_life(changes, ended);
}

}  // namespace sluice::apps
