#include "application/leased_jobs.hpp"

#include <fmt/format.h>

#include "domain/check.hpp"

namespace sluice {

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
    tx.not_before(*job.completed_at);
    tx.record(job, Step::lease_closed, std::nullopt, std::move(actor), std::move(detail));
    job.lease.reset();
    tx.leases().close({&job, 1});
}

void requeue_job(Transaction& tx, Job& job, Requeueing how) {
    tx.not_before(job.lease->since);
    const JobState from = job.state;
    const auto moved = job.apply(how.step);
    check(static_cast<bool>(moved), "a running job can go back to the queue");
    job.run_after = how.run_after;
    job.started_at.reset();
    job.progress.reset();
    job.message.clear();
    tx.record(job, how.step, from, std::move(how.actor), std::move(how.detail));
    job.lease.reset();
    tx.jobs().requeue({&job, 1});
}

void end_job(Transaction& tx, Job& job, Ending how) {
    tx.not_before(job.lease ? job.lease->since : job.spec.created_at);
    const JobState from = job.state;
    const auto moved = job.apply(how.step);
    check(static_cast<bool>(moved), "the job can end this way");
    job.completed_at = tx.now();
    if (how.keep_lease) job.lease->stop_requested = true;
    tx.record(job, how.step, from, std::move(how.actor), std::move(how.detail));
    if (!how.keep_lease) job.lease.reset();
}

}  // namespace sluice
