#pragma once

#include "application/commands.hpp"
#include "application/transaction.hpp"

namespace sluice {

// Takes workers' reports: ends jobs, or queues them again when another attempt is due.
//
//   A report under a lease that is not the job's current one is refused as lease_lost and changes
//   nothing, except that a report that this very lease made before is answered as it was then. A
//   job that was canceled or timed out under the worker stays so: the report closes the lease, and
//   unless it says the same, it is refused as a conflict. A failure without error_code or
//   error_message is refused as invalid where the type wants both; the lease goes on.
std::vector<Result<Job>> report_jobs(Transaction& tx, std::span<const Report> reports);

}  // namespace sluice
