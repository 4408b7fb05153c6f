#pragma once

#include <string>
#include <vector>

#include "domain/jobs/retention.hpp"
#include "infrastructure/postgres/connection/connection.hpp"

// One window has all rows that belong to the jobs of one week: see migrations/0001_jobs.sql. These
// functions are called outside of a transaction, by any number of nodes at once.
namespace sluice::postgres {

// The week whose window an id belongs to, counted from 2020.
std::int64_t window_of(JobId id);

// Adds the windows of this week and of the next two where they are missing. No session has to wait.
void ensure_windows(Connection& connection, Timestamp now);

// Adds the window of this id if it is missing: for jobs that are older than all windows, and for
// clocks that are far ahead.
void ensure_window_for(Connection& connection, JobId id);

// Drops the windows of past weeks in which every job ended longer ago than jobs of its outcome are
// kept, and none may be needed: no open job depends on one, no idempotency key is that old, and no
// success is about an entity, whose gates may ask for it. Other sessions wait for a moment at the
// most: a window whose locks do not come soon is left for the next time.
struct DroppedWindows {
    std::vector<std::string> dates{};
    // Windows below this id are past in whole, but could not be dropped: their jobs are removed one
    // by one.
    JobId past_below{};
};
DroppedWindows drop_ended_windows(Connection& connection, Timestamp now,
                                  const Retention& retention);

}  // namespace sluice::postgres
