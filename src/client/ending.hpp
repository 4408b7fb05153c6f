#pragma once

#include <chrono>

#include "client/attempt.hpp"

namespace sluice::client {

// How a worker came back from a job.
struct Returned {
    Outcome outcome{};
    bool threw = false;
};

// Runs the job, and turns what a worker throws into a failure. Without a worker the job fails, too.
Returned run_worker(JobWorker* worker, const Job& job, Context& context);

// What is to be done with an attempt whose worker came back like this, after it was asked to stop
// for that reason.
Ending ending_of(Returned returned, StopReason reason, const Job& job);

}  // namespace sluice::client
