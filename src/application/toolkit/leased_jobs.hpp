#pragma once

#include <optional>
#include <span>

#include "application/toolkit/transaction.hpp"
#include "domain/values/result.hpp"

namespace sluice {

// Checks the lease of every message of a worker: each write of a worker passes here first.

// The refusal for a lease that is not the job's current one, or of a job that the worker may not
// speak about; nothing when it is accepted.
std::optional<Error> lease_refusal(const std::optional<Job>& job, LeaseId lease,
                                   const WorkerBounds& bounds);

// The same for a worker that may be known by its name instead of its lease.
std::optional<Error> lease_refusal(const std::optional<Job>& job, LeaseId lease,
                                   const std::optional<ByWorker>& by_worker,
                                   const WorkerBounds& bounds);

// The lease of the last claim by this worker, for this attempt if it names one; nothing when there
// is none among these events of a job.
std::optional<LeaseToken> last_claim(std::span<const Event> events, const ByWorker& worker);

// How far back in a job's history its workers' messages are looked for. Workers decide how long a
// history is; to read all of it for each message would keep all other callers waiting.
inline constexpr int looked_through = 100;  // events

// Closes the lease of a job that has ended, because its worker has stopped or went silent.
void close_ended_lease(Transaction& tx, Job& job, std::string actor, std::string detail);

// Puts a running job back in the queue after a step that leads there.
struct Requeueing {
    Step step = Step::retried;
    Timestamp run_after{};
    std::string actor;
    std::string detail;
};
void requeue_job(Transaction& tx, Job& job, Requeueing how);

// Ends a running job by a step that leads to a final state.
struct Ending {
    Step step = Step::succeeded;
    std::string actor;
    std::string detail;
    bool keep_lease = false;  // the worker still runs and must be told to stop
};
void end_job(Transaction& tx, Job& job, Ending how);

}  // namespace sluice
