#include "application/deploy/deploy_jobs.hpp"

#include <fmt/format.h>

#include "application/deploy/runtime_nodes.hpp"
#include "application/json_values.hpp"

namespace sluice::deploy {
namespace {

constexpr const char* active_job = "active_job";

Result<Entity> found_or_created(EntityDesk& desk, const EntityKey& key) {
    if (auto found = desk.find(key)) return *std::move(found);
    return desk.create({.key = key});
}

// The refusal while a job that was created before for this app has not ended.
std::optional<Error> refuse_second(EntityDesk& desk, const Entity& app) {
    JobFilter active{.tenant = app.key.tenant,
                     .states = {JobState::queued, JobState::running},
                     .type = build_and_deploy,
                     .entity_type = app_kind,
                     .entity_id = app.key.id};
    const std::vector<Job> jobs = desk.jobs().list(active, newest, 1);
    if (jobs.empty()) return std::nullopt;
    return Error{ErrorCode::conflict,
                 fmt::format("app {} has an active {} job already: {}", app.key.id,
                             build_and_deploy, to_text(jobs.front().spec.id)),
                 ""};
}

}  // namespace

EntityKey app_key(const std::string& app_id) {
    return {.kind = app_kind, .id = app_id};
}

bool is_deploy_job(const Job& job) {
    return job.spec.queue == queue && job.spec.tenant == EntityKey{}.tenant;
}

std::string app_of(const Job& job) {
    return job.spec.entity_type == app_kind ? job.spec.entity_id : std::string();
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

Result<EntityAnswer> create_job(EntityDesk& desk, const NewJob& wanted) {
    EntityAnswer answer;
    if (wanted.entity_id.empty()) {
        const auto id = desk.submit(wanted);
        if (!id) return id.error();
        return answer;
    }
    auto app = found_or_created(desk, app_key(wanted.entity_id));
    if (!app) return app.error();
    const bool is_alone = wanted.type == build_and_deploy;
    if (is_alone) {
        if (auto refusal = refuse_second(desk, *app)) return *std::move(refusal);
    }
    const auto id = desk.submit(wanted);
    if (!id) return id.error();
    if (is_alone) {
        app->attributes[active_job] = json_string(to_text(*id));
        desk.save(*app, "job_created");
    }
    if (auto node = node_of(desk, *app)) answer.others.push_back(*std::move(node));
    answer.entity = *std::move(app);
    return answer;
}

std::optional<LeaseToken> last_lease(JobReader& reader, JobId job, const std::string& runner_id) {
    constexpr int page = 1000;
    const std::string actor = worker_actor(runner_id);
    std::optional<LeaseToken> last;
    std::int64_t after = 0;
    for (auto some = reader.events(job, 0, page); !some.empty();
         some = reader.events(job, after, page)) {
        after = some.back().seq;
        for (const Event& event : some) {
            if (event.step == Step::claimed && event.actor == actor) last = event.lease;
        }
    }
    return last;
}

}  // namespace sluice::deploy
