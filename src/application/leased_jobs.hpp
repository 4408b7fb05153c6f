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
