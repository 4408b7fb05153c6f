#pragma once

#include <span>

#include "application/ports/commands.hpp"
#include "application/toolkit/transaction.hpp"

namespace sluice {

// Takes jobs away from their workers, whose next message is refused as lease_lost: those with
// attempts left are queued again at once, the others fail with LEASE_RELEASED. The attempt counts.
// Of a job that has ended, closes the lease. A job that nobody holds is refused as a conflict and
// does not change. A dry run changes nothing, and answers the job as it would be.
std::vector<Result<Job>> release_leases(Transaction& tx, std::span<const ReleaseLease> releases);

}  // namespace sluice
