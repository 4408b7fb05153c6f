#pragma once

#include "application/ports/commands.hpp"
#include "application/toolkit/transaction.hpp"

namespace sluice {

// Accepts the jobs of each command, all or none. Refuses dependencies that do not exist, belong to
// another tenant, or wait for each other. A command whose key was used within `remembered` with the
// same body adds nothing and answers as the first one did; with another body it is refused.
std::vector<Result<Submitted>> submit_jobs(Transaction& tx, std::span<const SubmitJobs> commands,
                                           Duration remembered);

}  // namespace sluice
