#pragma once

#include <optional>
#include <span>
#include <vector>

#include "application/transaction.hpp"
#include "domain/result.hpp"

namespace sluice {

// The one place where a worker's word is weighed: everything that a worker writes passes here
// first.

// The refusal for a lease that is not the job's current one, or that is not the worker's to speak
// about; nothing when all is well.
std::optional<Error> lease_refusal(const std::optional<Job>& job, LeaseId lease,
                                   const WorkerBounds& bounds);

// The same for a worker that may be known by its name in place of its lease.
std::optional<Error> lease_refusal(const std::optional<Job>& job, LeaseId lease,
                                   const std::optional<ByWorker>& by_worker,
                                   const WorkerBounds& bounds);

// The lease of the last claim by this worker, for this attempt if it names one; nothing when there
// is none among these events of a job.
std::optional<LeaseToken> last_claim(std::span<const Event> events, const ByWorker& worker);

// How far back in a job's history its workers' words are looked for. How long a history is, workers
// decide; to look through all of it for each of their words would keep everybody else waiting.
inline constexpr int looked_through = 100;  // events

// Closes the lease of a job that has ended, because its worker has stopped or went silent.
void close_ended_lease(Transaction& tx, Job& job, std::string actor, std::string detail);

// Puts a running job back in the queue after a step that leads there; `from` the worker's or
// engine's hand.
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
