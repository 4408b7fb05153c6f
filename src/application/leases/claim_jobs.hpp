#pragma once

#include "application/ports/commands.hpp"
#include "application/toolkit/transaction.hpp"

namespace sluice {

// Hands jobs out under new leases. A claim that finds no job is answered with none.
std::vector<Result<Claimed>> claim_jobs(Transaction& tx, std::span<const ClaimJobs> claims);

}  // namespace sluice
