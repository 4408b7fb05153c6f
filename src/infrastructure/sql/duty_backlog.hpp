#pragma once

#include <cstdint>

#include "domain/jobs/retention.hpp"

namespace sluice {

// Questions of an operator who looks at a store from outside.
struct BacklogQuestion {
    Timestamp now{};
    Duration idempotency_memory{};
    Retention retention{};
};

// How many items of each duty were due before `now` and are still there.
struct DutyBacklog {
    std::int64_t deadlines = 0;
    std::int64_t leases = 0;
    std::int64_t keys = 0;
    std::int64_t old_jobs = 0;      // needed or not; no more than backlog_counted
    std::int64_t old_windows = 0;   // of past weeks, on PostgreSQL
    std::int64_t next_windows = 0;  // of the next weeks, on PostgreSQL
};
inline constexpr int backlog_counted = 10'000;

}  // namespace sluice
