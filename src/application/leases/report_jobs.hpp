#pragma once

#include "application/ports/commands.hpp"
#include "application/toolkit/transaction.hpp"

namespace sluice {

// Takes workers' reports: ends jobs, or queues them again when another attempt is due.
//
//   A report under a lease that is not the job's current one is refused as lease_lost and changes
//   nothing, except that a report that was made before under this very lease is answered as it was
//   then. A job that was canceled or timed out meanwhile stays so: the report closes the lease, and
//   unless it says the same, it is refused as a conflict. A failure without error_code or
//   error_message is refused as invalid where the type wants both; the lease goes on.
std::vector<Result<Job>> report_jobs(Transaction& tx, std::span<const Report> reports);

}  // namespace sluice
