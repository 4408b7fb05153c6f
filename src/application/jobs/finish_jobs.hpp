#pragma once

#include <span>

#include "application/toolkit/transaction.hpp"

namespace sluice {

// Writes the end of jobs whose final step was applied and recorded, and carries it on to the jobs
// that depend on them: those whose dependencies have all ended may run; those that must not run
// without a success are canceled, and so on down the line.
void finish_jobs(Transaction& tx, std::span<const Job> ended);

// Ends queued jobs because a dependency ended without success; also jobs that are submitted after
// that end.
void cancel_for_dependency(Transaction& tx, Job& job, JobId dependency, JobState state);

}  // namespace sluice
