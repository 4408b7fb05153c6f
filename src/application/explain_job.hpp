#pragma once

#include "application/commands.hpp"
#include "application/transaction.hpp"
#include "application/workers.hpp"

namespace sluice {

// Why the job does not run: for a queued job every reason that keeps it from running, for others
// what happened. Each reason names what it waits for and when that could change, where that is
// known. A store without room keeps every job from starting.
Result<Explanation> explain_job(Transaction& tx, const Workers& workers, StoreRoom room,
                                const ExplainJob& command);

}  // namespace sluice
