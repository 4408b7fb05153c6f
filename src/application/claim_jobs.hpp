#pragma once

#include "application/commands.hpp"
#include "application/transaction.hpp"

namespace sluice {

// Hands jobs out under new leases. A claim that finds nothing is answered with nothing.
std::vector<Result<Claimed>> claim_jobs(Transaction& tx, std::span<const ClaimJobs> claims);

}  // namespace sluice
