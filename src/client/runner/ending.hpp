#pragma once

#include "client/runner/attempt.hpp"

namespace sluice::client {

// How a worker returned from a job.
struct Returned {
    Outcome outcome{};
    bool threw = false;
};

// Runs the job, and turns an exception of the worker into a failure. Without a worker the job
// fails, too.
Returned run_worker(JobWorker* worker, const Job& job, Context& context);

// How an attempt ends whose worker returned like this, after it was asked to stop for that reason.
Ending ending_of(Returned returned, StopReason reason, const Job& job);

}  // namespace sluice::client
