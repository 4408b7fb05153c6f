#pragma once

#include <optional>
#include <string>

#include "application/entities/entity_changes.hpp"
#include "application/toolkit/make_job.hpp"

// The deploy control plane: its jobs, and the app that each deploys. Seed 004.
namespace sluice::deploy {

// Its jobs are those of this queue.
inline constexpr const char* queue = "deploy";
inline constexpr const char* build_and_deploy = "BUILD_AND_DEPLOY";
inline constexpr const char* app_kind = "deploy_app";

EntityKey app_key(const std::string& app_id);
Result<Entity> found_or_created(EntityChanges& changes, const EntityKey& key);

bool is_deploy_job(const Job& job);

// The app that the job deploys; empty: none.
std::string app_of(const Job& job);

// A job as a client asks for it. Fields that are not set come from the job's type.
struct NewDeployJob {
    std::string type{};
    std::string payload = "{}";
    std::string app_id{};  // as the payload names it; empty: it names none
    std::vector<std::string> labels{};
    std::optional<int> priority{};
    std::optional<Duration> timeout{};
    std::optional<int> max_attempts{};
};

// The job for the request. Two that deploy the same app never run at once, not even when the first
// was canceled and its runner has not stopped yet.
NewJob make_deploy_job(NewDeployJob wanted);

// Enqueues the job, unless it is a BUILD_AND_DEPLOY and its app has one that has not ended: then it
// is refused as a conflict. The app is put on a node; the answer's `others` has that node, if there
// is one.
Result<EntityAnswer> create_job(EntityChanges& changes, const NewJob& wanted);

// The app's jobs that have not ended.
JobFilter active_jobs_of(const std::string& app_id);

// The app's jobs without those that existed when it was purged.
JobFilter listed_jobs_of(EntityReader& entities, const std::string& app_id);

// Takes the app off its node, and its jobs off its list; history keeps all of them. Refused while
// one of them has not ended.
struct Purged {
    std::int64_t jobs = 0;
    std::int64_t runs = 0;  // one when there was anything to purge
    std::int64_t placements = 0;
};
Result<Purged> purge_app(EntityChanges& changes, const std::string& app_id);

}  // namespace sluice::deploy
