#pragma once

#include "application/jobs/workers.hpp"
#include "application/ports/commands.hpp"
#include "application/toolkit/transaction.hpp"

namespace sluice {

// Why the job does not run: for a queued job every reason that keeps it from running, for others
// what happened. Each reason names what it waits for and when that could change, where that is
// known. A store without space keeps every job from starting.
Result<Explanation> explain_job(Transaction& tx, const Workers& workers, StoreSpace space,
                                const ExplainJob& command);

}  // namespace sluice
