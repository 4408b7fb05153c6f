#pragma once

#include <memory>

#include "application/redactor.hpp"
#include "sluice/worker.hpp"

namespace sluice::worker {

// The same worker, but what the redactor looks for is taken out of all that it says about its jobs:
// log lines, progress, results and errors.
std::shared_ptr<client::JobWorker> discreet_worker(std::shared_ptr<client::JobWorker> worker,
                                                   Redactor redactor);

}  // namespace sluice::worker
