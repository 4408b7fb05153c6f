#pragma once

#include "application/ports/commands.hpp"
#include "application/toolkit/transaction.hpp"

namespace sluice {

// Extends leases and notes progress. A stale lease is refused and changes nothing. The lease of a
// job that was canceled or timed out is still extended, so that its keys stay taken until the
// worker has stopped; the lease of an attempt that is to be repeated after its deadline is not.
// A heartbeat by name for a job that does not run is answered with that job.
std::vector<Result<Extended>> heartbeat_jobs(Transaction& tx,
                                             std::span<const Heartbeat> heartbeats);

}  // namespace sluice
