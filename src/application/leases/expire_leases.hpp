#pragma once

#include "application/toolkit/transaction.hpp"

namespace sluice {

// Takes jobs away from workers that went silent: those with attempts left are queued again at once,
// the others fail with LEASE_EXPIRED. Leases of jobs that have ended are closed. Handles `limit` at
// the most and returns how many it handled. Safe to repeat.
int expire_leases(Transaction& tx, int limit);

// Ends running jobs whose deadline has come as timed_out, or, when their type repeats timed out
// attempts and one is left, asks the worker to stop: the attempt is then repeated once the lease
// has ended.
int end_overdue_jobs(Transaction& tx, int limit);

}  // namespace sluice
