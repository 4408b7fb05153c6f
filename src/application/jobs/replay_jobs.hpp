#pragma once

#include "application/ports/commands.hpp"
#include "application/toolkit/transaction.hpp"

namespace sluice {

// Submits a new job like one that has ended, to run at once, with `replay_of` set and without its
// dependencies. The old job is not changed. A job that has not ended is refused as a conflict. A
// key that was used within `remembered` gets the job that was made then.
std::vector<Result<Job>> replay_jobs(Transaction& tx, std::span<const ReplayJob> replays,
                                     Duration remembered);

}  // namespace sluice
