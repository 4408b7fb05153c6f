#include <algorithm>
#include <array>
#include <chrono>

#include "application/apps/app_changes.hpp"
#include "application/apps/app_parts.hpp"
#include "application/json_values.hpp"
#include "domain/check.hpp"
#include "json/json_reader.hpp"

namespace sluice::apps {
namespace {

// A job that has ended, and what it was about.
struct Ended {
    const Job& job;
    Attributes payload;
    Attributes result;

    bool succeeded() const { return job.now.state == JobState::succeeded; }
    bool is_of(std::string_view type) const { return job.spec->type == type; }
};

std::optional<Entity> find_named(EntityDesk& desk, const Ended& ended, std::string_view kind,
                                 std::string_view field) {
    const auto id = text_of(ended.payload, field);
    if (!id) return std::nullopt;
    auto entity = desk.find({ended.job.spec->tenant, std::string(kind), *id});
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

// Whether the engine itself has asked for this job. Anybody can submit one that looks like it.
bool is_asked_for(EntityDesk& desk, const Ended& ended, const Entity& environment) {
    const auto names_it = [&](const Attributes& attributes, std::string_view name) {
        return text_of(attributes, name) == to_text(ended.job.spec->id);
    };
    if (ended.is_of("runtime_profile_drift_check")) {
        return names_it(environment.attributes, "drift_check_job_id");
    }
    const auto deployment = find_named(desk, ended, "deployment", "deployment_id");
    return deployment && (names_it(deployment->attributes, "job_id") ||
                          names_it(deployment->attributes, "check_job_id"));
}

// Whether the job has looked at the environment as its payload describes it, and found it good.
bool is_validation(const Ended& ended) {
    if (!ended.succeeded() || !ended.payload.contains("fingerprint")) return false;
    if (ended.is_of("msuite_deploy") || ended.is_of("deploy_release")) return true;
    if (!ended.is_of("runtime_profile_drift_check")) return false;
    return says_no_drift(ended.result);
}

// What the environment was validated as: what the job was told, with the migrations that the job
// itself has applied, but not with those that others have applied meanwhile.
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

bool is_deployed_everywhere(EntityDesk& desk, const Entity& release) {
    const std::vector<Entity> environments = desk.list(environments_beside(release), all_of_them);
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

void move_release(EntityDesk& desk, const Ended& ended) {
    if (!ended.is_of("deploy_release") || !ended.succeeded()) return;
    auto release = find_named(desk, ended, "release", "release_id");
    if (!release) return;
    desk.move(*release,
              is_deployed_everywhere(desk, *release) ? "deployed_everywhere" : "deployed_some");
}

void update_environment(EntityDesk& desk, const Ended& ended) {
    auto environment = find_named(desk, ended, "environment", "environment_id");
    if (!environment) return record_migrations(desk, ended.job, ended.payload);
    const Attributes before = fingerprint(desk, *environment);
    record_migrations(desk, ended.job, ended.payload);
    if (!is_asked_for(desk, ended, *environment)) return;
    const Attributes attributes_before = environment->attributes;
    note_deployment_end(ended, *environment);
    if (is_validation(ended)) {
        environment->attributes["validated"] =
            to_json(validated_by(ended, before, fingerprint(desk, *environment)));
    }
    if (environment->attributes != attributes_before) desk.save(*environment);
    move_release(desk, ended);
}

// ── temp environments ──

void start_life(EntityDesk& desk, const Ended& ended) {
    auto temp = desk.find({ended.job.spec->tenant, "temp_environment", ended.job.spec->entity_id});
    if (!temp || temp->state != "active" || !is_about(*temp, ended.job)) return;
    const std::int64_t wanted = integer_of(temp->attributes, "ttl_seconds").value_or(0);
    const std::chrono::seconds ttl(std::clamp(wanted, ttl_seconds_min, ttl_seconds_max));
    const Timestamp expires_at = desk.now() + ttl;
    temp->attributes["expires_at"] = json_time(expires_at);
    const auto refusal = enqueue_expiry(desk, *temp, expires_at);
    check(!refusal, "the expiry of a temp environment can be enqueued");
}

// What the ends of jobs ask for beside what their payloads name.
struct Needs {
    std::vector<EntityKey> apps{};      // looked at
    std::vector<EntityKey> entities{};  // kept from changing
    std::vector<EntityFilter> lists{};

    void add(EntityDesk& desk, const Ended& ended) {
        std::vector<EntityKey> reported = reported_migrations(ended.job, ended.payload);
        if (!reported.empty()) {
            apps.push_back({ended.job.spec->tenant, "app", ended.job.spec->project});
        }
        std::move(reported.begin(), reported.end(), std::back_inserter(entities));
        const auto environment = find_named(desk, ended, "environment", "environment_id");
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

void before_ends(EntityDesk& desk, std::span<const Job* const> ended) {
    Needs needs;
    for (const Job* job : ended) {
        needs.add(desk, {*job, json_members(job->spec->payload), {}});
    }
    desk.looks().find(needs.apps);
    desk.fetch(std::move(needs.entities));
    desk.fetch_lists(needs.lists, all_of_them);
}

void after_job(EntityDesk& desk, const Job& job) {
    const Ended ended{job, json_members(job.spec->payload), json_members(job.now.result)};
    update_environment(desk, ended);
    if (ended.is_of("temp_env_provision") && ended.succeeded()) start_life(desk, ended);
}

}  // namespace sluice::apps
