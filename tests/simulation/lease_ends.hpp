#pragma once

#include "domain/jobs/history.hpp"

namespace sluice::simulation {

// In which way an event of a job in this state closes its lease, for the table of what was covered;
// null: it does not. `is_kept`: the lease is still open after the event.
const char* how_it_closes_its_lease(const Event& event, JobState state, bool is_kept);

}  // namespace sluice::simulation
