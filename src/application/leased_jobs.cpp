#include "application/leased_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "domain/check.hpp"

namespace sluice {
namespace {

// Not before this: when the job was claimed, or made. (The clock may have been set back since.)
Timestamp last_step_of(const Job& job) {
    return job.lease ? std::max(job.lease->since, job.spec.created_at) : job.spec.created_at;
}

}  // namespace

std::optional<Error> lease_refusal(const std::optional<Job>& job, LeaseId lease,
                                   const WorkerBounds& bounds) {
    if (!job || !bounds.hold(job->spec))
        return Error{ErrorCode::not_found,
                     "there is no such lease: its id comes with a claimed job", ""};
    if (job->is_leased_under(lease.token)) return std::nullopt;
    return Error{ErrorCode::lease_lost,
                 fmt::format("the lease has ended; the job is {} now. Stop working on it",
                             to_text(job->state)),
                 ""};
}

void close_ended_lease(Transaction& tx, Job& job, std::string actor, std::string detail) {
    check(job.lease && is_final(job.state), "only an ended job's lease is closed by itself");
    tx.record(job, Step::lease_closed, std::nullopt, std::move(actor), std::move(detail),
              *job.completed_at);
    job.lease.reset();
    tx.leases().close({&job, 1});
}

void requeue_job(Transaction& tx, Job& job, Requeueing how) {
    const JobState from = job.state;
    const auto moved = job.apply(how.step);
    check(static_cast<bool>(moved), "a running job can go back to the queue");
    job.run_after = how.run_after;
    job.started_at.reset();
    job.progress.reset();
    job.message.clear();
    tx.record(job, how.step, from, std::move(how.actor), std::move(how.detail), last_step_of(job));
    job.lease.reset();
    tx.jobs().requeue({&job, 1});
}

void end_job(Transaction& tx, Job& job, Ending how) {
    const Timestamp last = last_step_of(job);
    const JobState from = job.state;
    const auto moved = job.apply(how.step);
    check(static_cast<bool>(moved), "the job can end this way");
    job.completed_at = tx.now_after(last);
    if (how.keep_lease) job.lease->stop_requested = true;
    tx.record(job, how.step, from, std::move(how.actor), std::move(how.detail), last);
    if (!how.keep_lease) job.lease.reset();
}

}  // namespace sluice
