#pragma once

#include "application/ports/commands.hpp"
#include "application/toolkit/transaction.hpp"

namespace sluice {

// Decides a change of the rules, in a session of its own. With dry_run, or on a refusal, nothing is
// written. The answer tells how many claimable jobs it holds back or lets go.
Result<LimitAnswer> change_limits(Transaction& tx, const ChangeLimits& change);

// Compares the meters with the leases, in a session of its own. A repair that finds differences is
// an event of the control history.
MeterDifferences check_meters(Transaction& tx, const CheckMeters& check);

}  // namespace sluice
