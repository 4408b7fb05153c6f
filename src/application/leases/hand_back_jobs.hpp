#pragma once

#include "application/ports/commands.hpp"
#include "application/toolkit/transaction.hpp"

namespace sluice {

// Puts running jobs back in the queue at once; the attempt does not count. For a job that has ended
// meanwhile, closes the lease. A stale lease is refused and changes nothing.
std::vector<Result<Job>> hand_back_jobs(Transaction& tx, std::span<const HandBack> hand_backs);

}  // namespace sluice
