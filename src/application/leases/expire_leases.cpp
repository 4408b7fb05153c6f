#include "application/leases/expire_leases.hpp"

#include <fmt/format.h>

#include "application/jobs/finish_jobs.hpp"
#include "application/toolkit/error_detail.hpp"
#include "application/toolkit/leased_jobs.hpp"
#include "domain/values/check.hpp"

namespace sluice {
namespace {

std::string silent_message(const Job& job) {
    return fmt::format("worker {} did not renew its lease, which ended at {}", job.lease->worker_id,
                       to_rfc3339(job.lease->until));
}

void retry_timed_out(Transaction& tx, Job& job) {
    job.now.error_code = job_timeout_code;
    job.now.error_message = "the attempt ran into its deadline";
    requeue_job(tx, job,
                {.step = Step::retried,
                 .run_after = tx.now() + job.spec->backoff.after(job.now.attempt, tx.chance()),
                 .actor = engine_actor,
                 .detail = error_detail(job.now.error_code, job.now.error_message)});
}

// Adds the engine's own line to the log of an app's job, which its operators read first.
void say_timed_out(Transaction& tx, Job& job) {
    const LogLine line = next_line(
        job, {.level = LogLevel::error,
              .message = fmt::format("job timed out after {}ms", to_millis(job.spec->timeout)),
              .at = tx.now()});
    tx.append({&line, 1});
}

void expire(Transaction& tx, Job& job, std::vector<Job>& ended) {
    if (is_final(job.now.state)) {
        return close_ended_lease(tx, job, engine_actor,
                                 error_detail(lease_expired_code, silent_message(job)));
    }
    if (job.lease->stop_requested) return retry_timed_out(tx, job);

    job.now.error_code = lease_expired_code;
    job.now.error_message = silent_message(job);
    std::string detail = error_detail(job.now.error_code, job.now.error_message);
    if (job.now.attempt < job.spec->max_attempts) {
        requeue_job(tx, job,
                    {.step = Step::lease_expired,
                     .run_after = tx.now(),
                     .actor = engine_actor,
                     .detail = std::move(detail)});
        return;
    }
    ++tx.counts().leases_expired;
    end_job(tx, job, {.step = Step::failed, .actor = engine_actor, .detail = std::move(detail)});
    ended.push_back(std::move(job));
}

}  // namespace

int expire_leases(Transaction& tx, int limit) {
    const std::vector<JobId> ids = tx.leases().expired(tx.now(), limit);
    std::vector<Job> ended;
    for (std::optional<Job>& job : tx.jobs().find(ids)) {
        check(job && job->lease, "an expired lease has a job");
        expire(tx, *job, ended);
    }
    finish_jobs(tx, ended);
    return static_cast<int>(ids.size());
}

int end_overdue_jobs(Transaction& tx, int limit) {
    const std::vector<JobId> ids = tx.leases().overdue(tx.now(), limit);
    std::vector<Job> ended;
    for (std::optional<Job>& job : tx.jobs().find(ids)) {
        check(job && job->lease && job->now.state == JobState::running, "an overdue job runs");
        if (job->spec->retry_on_timeout && job->now.attempt < job->spec->max_attempts) {
            job->lease->stop_requested = true;
            tx.leases().save({&*job, 1});
            continue;
        }
        job->now.error_code = job_timeout_code;
        job->now.error_message =
            fmt::format("the job did not end within {} ms", to_millis(job->spec->timeout));
        if (!job->spec->project.empty()) say_timed_out(tx, *job);
        end_job(tx, *job,
                {.step = Step::timed_out,
                 .actor = engine_actor,
                 .detail = error_detail(job->now.error_code, job->now.error_message),
                 .keep_lease = true});
        ended.push_back(*std::move(job));
    }
    finish_jobs(tx, ended);
    return static_cast<int>(ids.size());
}

}  // namespace sluice
