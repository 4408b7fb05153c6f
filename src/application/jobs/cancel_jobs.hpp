#pragma once

#include "application/ports/commands.hpp"
#include "application/toolkit/transaction.hpp"

namespace sluice {

// Ends queued and running jobs as canceled, at once. The worker of a running job is told in its
// next heartbeat; until it reports, or its lease runs out, the job's keys stay taken. To cancel a
// canceled job again changes nothing and answers the same; a job that ended otherwise is refused as
// a conflict. Where the type says that only admins cancel, all other callers are refused, and the
// conflict is job_not_cancellable.
std::vector<Result<Job>> cancel_jobs(Transaction& tx, std::span<const CancelJob> cancels);

}  // namespace sluice
