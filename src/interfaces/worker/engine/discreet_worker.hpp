#pragma once

#include <memory>

#include "application/secrets/redactor.hpp"
#include "sluice/worker.hpp"

namespace sluice::worker {

// The same worker, but secrets that the redactor finds are removed from all its messages: log
// lines, progress, results and errors.
std::shared_ptr<client::JobWorker> discreet_worker(std::shared_ptr<client::JobWorker> worker,
                                                   Redactor redactor);

}  // namespace sluice::worker
