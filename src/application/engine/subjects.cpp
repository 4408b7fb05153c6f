#include "application/engine/subjects.hpp"

#include "application/entities/follow_jobs.hpp"

namespace sluice {
namespace {

std::vector<JobId> jobs_that_may_end(const Batch& batch) {
    std::vector<JobId> jobs;
    for (const auto& pending : batch.reports) {
        for (const Report& report : pending.items) jobs.push_back(report.lease.job);
    }
    for (const auto& pending : batch.cancels) {
        for (const CancelJob& cancel : pending.items) jobs.push_back(cancel.job);
    }
    for (const auto& pending : batch.lease_releases) {
        for (const ReleaseLease& release : pending.items) jobs.push_back(release.job);
    }
    return jobs;
}

}  // namespace

Subjects subjects_of(const Batch& batch, const Rules& rules, const Late& late) {
    Subjects subjects;
    subjects.jobs = late.jobs;
    // A worker that is known by its name may speak of a job while it is claimed in its name: such a
    // job is reserved, so that no claim can take it meanwhile. A token is known only after the
    // claim.
    const auto add_leased = [&](const auto& list) {
        for (const auto& pending : list) {
            for (const auto& item : pending.items) {
                bool is_by_name = false;
                if constexpr (requires { item.by_worker; }) is_by_name = item.by_worker.has_value();
                (is_by_name ? subjects.jobs : subjects.leased).push_back(item.lease.job);
            }
        }
    };
    add_leased(batch.heartbeats);
    add_leased(batch.logs);
    add_leased(batch.reports);
    add_leased(batch.hand_backs);
    for (const auto& pending : batch.cancels) {
        for (const CancelJob& cancel : pending.items) subjects.jobs.push_back(cancel.job);
    }
    for (const auto& pending : batch.lease_releases) {
        for (const ReleaseLease& release : pending.items) subjects.jobs.push_back(release.job);
    }
    subjects.ending = jobs_that_may_end(batch);
    for (const auto& pending : batch.submits) {
        for (const SubmitJobs& submit : pending.items) {
            for (const JobSpec& spec : submit.jobs) {
                subjects.jobs.insert(subjects.jobs.end(), spec.depends_on.begin(),
                                     spec.depends_on.end());
            }
            if (submit.idempotency_key.empty()) continue;
            subjects.keys.push_back({submit.jobs.front().tenant, submit.idempotency_key});
        }
    }
    for (const auto& pending : batch.replays) {
        for (const ReplayJob& replay : pending.items) {
            if (replay.idempotency_key.empty() || replay.tenant.empty()) continue;
            subjects.keys.push_back({replay.tenant, replay.idempotency_key});
        }
    }
    subjects.entities = late.entities;
    for (const auto& pending : batch.entity_actions) {
        for (const EntityAction& action : pending.items) {
            subjects.entities.insert(subjects.entities.end(), action.touches.begin(),
                                     action.touches.end());
        }
    }
    subjects.entities_of = [&rules](const JobSpec& job, std::vector<EntityKey>& keys) {
        add_followed(rules, job, keys);
    };
    return subjects;
}

}  // namespace sluice
