#pragma once

#include <cstdint>

#include "domain/retention.hpp"

namespace sluice {

// What somebody wants to know who looks at a store from outside.
struct BacklogQuestion {
    Timestamp now{};
    Duration idempotency_memory{};
    Retention retention{};
};

// How much of what duties deal with was due before `now` and is still there.
struct DutyBacklog {
    std::int64_t deadlines = 0;
    std::int64_t leases = 0;
    std::int64_t keys = 0;
    std::int64_t old_jobs = 0;      // needed or not; no more than backlog_counted
    std::int64_t old_windows = 0;   // of past weeks, on PostgreSQL
    std::int64_t next_windows = 0;  // of the weeks to come, there
};
inline constexpr int backlog_counted = 10'000;

}  // namespace sluice
