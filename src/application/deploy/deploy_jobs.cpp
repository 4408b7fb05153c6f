#include "application/deploy/deploy_jobs.hpp"

#include <fmt/format.h>

#include "application/deploy/placements.hpp"
#include "json/json_values.hpp"

namespace sluice::deploy {
namespace {

constexpr const char* active_job = "active_job";
constexpr const char* purged_attribute = "purged_to";  // the newest job that left the app's list

JobId first_listed(const Entity& app) {
    const auto text = text_of(app.attributes, purged_attribute);
    const auto last = text ? parse_job_id(*text) : std::nullopt;
    return last ? JobId{last->value + 1} : JobId{};
}

// The refusal while a job that was created before for this app has not ended.
std::optional<Error> refuse_second(EntityChanges& changes, const Entity& app) {
    JobFilter active = active_jobs_of(app.key.id);
    active.type = build_and_deploy;
    const std::vector<Job> jobs = changes.jobs().list(active, newest, 1);
    if (jobs.empty()) return std::nullopt;
    return Error{ErrorCode::conflict,
                 fmt::format("app {} has an active {} job already: {}", app.key.id,
                             build_and_deploy, to_text(jobs.front().spec->id)),
                 ""};
}

}  // namespace

EntityKey app_key(const std::string& app_id) {
    return {.kind = app_kind, .id = app_id};
}

Result<Entity> found_or_created(EntityChanges& changes, const EntityKey& key) {
    if (auto found = changes.find(key)) return *std::move(found);
    return changes.create({.key = key});
}

bool is_deploy_job(const Job& job) {
    return job.spec->queue == queue && job.spec->tenant == EntityKey{}.tenant;
}

std::string app_of(const Job& job) {
    return job.spec->entity_type == app_kind ? job.spec->entity_id : std::string();
}

NewJob make_deploy_job(NewDeployJob wanted) {
    NewJob job;
    job.queue = queue;
    job.source = "deploy";
    if (!wanted.app_id.empty()) {
        job.entity_type = app_kind;
        job.entity_id = wanted.app_id;
        if (wanted.type == build_and_deploy) {
            job.exclusive_keys = {fmt::format("{}:{}", app_kind, wanted.app_id)};
        }
    }
    job.type = std::move(wanted.type);
    job.payload = std::move(wanted.payload);
    job.labels = std::move(wanted.labels);
    job.priority = wanted.priority;
    job.timeout = wanted.timeout;
    job.max_attempts = wanted.max_attempts;
    return job;
}

Result<EntityAnswer> create_job(EntityChanges& changes, const NewJob& wanted) {
    EntityAnswer answer;
    if (wanted.entity_id.empty()) {
        const auto id = changes.submit(wanted);
        if (!id) return id.error();
        return answer;
    }
    auto app = found_or_created(changes, app_key(wanted.entity_id));
    if (!app) return app.error();
    const bool is_alone = wanted.type == build_and_deploy;
    if (is_alone) {
        if (auto refusal = refuse_second(changes, *app)) return *std::move(refusal);
    }
    const auto id = changes.submit(wanted);
    if (!id) return id.error();
    if (is_alone) {
        app->attributes[active_job] = json_string(to_text(*id));
        changes.save(*app, "job_created");
    }
    if (auto node = place(changes, *app)) answer.others.push_back(*std::move(node));
    answer.entity = *std::move(app);
    return answer;
}

JobFilter jobs_of(const std::string& app_id) {
    JobFilter filter;
    filter.queue = queue;
    filter.entity_type = app_kind;
    filter.entity_id = app_id;
    return filter;
}

JobFilter active_jobs_of(const std::string& app_id) {
    JobFilter filter = jobs_of(app_id);
    filter.states = {JobState::queued, JobState::running};
    return filter;
}

JobFilter listed_jobs_of(EntityReader& entities, const std::string& app_id) {
    JobFilter filter = jobs_of(app_id);
    if (const auto app = entities.find_one(app_key(app_id))) filter.from = first_listed(*app);
    return filter;
}

Result<Purged> purge_app(EntityChanges& changes, const std::string& app_id) {
    auto app = changes.find(app_key(app_id));
    if (!app) return Purged{};
    const std::vector<Job> active = changes.jobs().list(active_jobs_of(app_id), newest, 1);
    if (!active.empty()) {
        return Error{
            ErrorCode::conflict,
            fmt::format("app {} has a job that is {}: {}", app_id,
                        to_text(active.front().now.state), to_text(active.front().spec->id)),
            ""};
    }
    JobFilter listed = jobs_of(app_id);
    listed.from = first_listed(*app);
    Purged purged{.jobs = changes.jobs().count(listed), .placements = app->parent.empty() ? 0 : 1};
    purged.runs = purged.jobs + purged.placements > 0 ? 1 : 0;
    if (purged.runs == 0) return purged;
    if (const auto last = changes.jobs().list(listed, newest, 1); !last.empty()) {
        app->attributes[purged_attribute] = json_string(to_text(last.front().spec->id));
    }
    const std::string detail = fmt::format(R"({{"jobs":{},"from":{}}})", purged.jobs,
                                           json_string(std::exchange(app->parent, "")));
    app->attributes.erase(active_job);
    changes.save(*app, "purged", detail);
    return purged;
}

}  // namespace sluice::deploy
