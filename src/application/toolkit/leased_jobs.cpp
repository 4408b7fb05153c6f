#include "application/toolkit/leased_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "application/toolkit/names.hpp"
#include "domain/values/check.hpp"

namespace sluice {
namespace {

// The time of the job's last claim, or of its submit: later steps are not earlier. (The clock may
// have been set back since.)
Timestamp last_step_of(const Job& job) {
    return job.lease ? std::max(job.lease->since, job.spec->created_at) : job.spec->created_at;
}

bool is_held_by(const Job& job, const ByWorker& worker) {
    if (worker.worker_id.empty()) return job.now.state == JobState::running;
    return job.lease->worker_id == worker.worker_id &&
           (!worker.attempt || *worker.attempt == job.now.attempt);
}

Error not_held(const Job& job, const ByWorker& worker) {
    if (worker.worker_id.empty()) {
        return {ErrorCode::conflict,
                fmt::format("the job is {} and not running", to_text(job.now.state)), ""};
    }
    const bool is_its_own = job.lease && job.lease->worker_id == worker.worker_id;
    if (is_its_own) {
        return {ErrorCode::lease_lost,
                fmt::format("attempt {} is over; the job is in attempt {} now. Stop working on it",
                            *worker.attempt, job.now.attempt),
                ""};
    }
    return {ErrorCode::lease_lost,
            fmt::format("the job is {} and not {}'s: stop working on it", to_text(job.now.state),
                        worker.worker_id),
            ""};
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
                             to_text(job->now.state)),
                 ""};
}

std::optional<Error> lease_refusal(const std::optional<Job>& job, LeaseId lease,
                                   const std::optional<ByWorker>& by_worker,
                                   const WorkerBounds& bounds) {
    if (!by_worker) return lease_refusal(job, lease, bounds);
    if (!job || !bounds.hold(job->spec)) {
        return no_such_job(lease.job);
    }
    if (job->lease && is_held_by(*job, *by_worker)) return std::nullopt;
    return not_held(*job, *by_worker);
}

std::optional<LeaseToken> last_claim(std::span<const Event> events, const ByWorker& worker) {
    const std::string actor = worker_actor(worker.worker_id);
    std::optional<LeaseToken> last;
    for (const Event& event : events) {
        const bool is_meant = !worker.attempt || event.attempt == *worker.attempt;
        if (event.step == Step::claimed && event.actor == actor && is_meant) last = event.lease;
    }
    return last;
}

void close_ended_lease(Transaction& tx, Job& job, std::string actor, std::string detail) {
    check(job.lease && is_final(job.now.state), "only an ended job's lease is closed by itself");
    tx.record(job, Step::lease_closed, std::nullopt, std::move(actor), std::move(detail),
              *job.now.completed_at);
    job.lease.reset();
    tx.leases().close({&job, 1});
}

void requeue_job(Transaction& tx, Job& job, Requeueing how) {
    const JobState from = job.now.state;
    const auto moved = job.apply(how.step);
    check(static_cast<bool>(moved), "a running job can go back to the queue");
    job.now.run_after = how.run_after;
    job.now.started_at.reset();
    job.now.progress.reset();
    job.now.message.clear();
    tx.record(job, how.step, from, std::move(how.actor), std::move(how.detail), last_step_of(job));
    job.lease.reset();
    tx.jobs().requeue({&job, 1});
}

void end_job(Transaction& tx, Job& job, Ending how) {
    const Timestamp last = last_step_of(job);
    const JobState from = job.now.state;
    const auto moved = job.apply(how.step);
    check(static_cast<bool>(moved), "the job can end this way");
    job.now.completed_at = tx.now_after(last);
    if (how.keep_lease) job.lease->stop_requested = true;
    tx.record(job, how.step, from, std::move(how.actor), std::move(how.detail), last);
    if (!how.keep_lease) job.lease.reset();
}

}  // namespace sluice
