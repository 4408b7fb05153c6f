#pragma once

#include <vector>

#include "domain/values/time.hpp"

namespace sluice {

// How long a job waits before its next attempt.
struct Backoff {
    enum class Kind { none, list, exponential };

    Kind kind = Kind::none;
    std::vector<Duration>
        delays{};     // list: one per retry; the last one holds for all further retries
    Duration base{};  // exponential: the ceiling of the first delay, doubled by each retry
    Duration cap{};   // exponential: no ceiling is higher

    bool operator==(const Backoff&) const = default;

    static Backoff none() { return {}; }
    static Backoff list(std::vector<Duration> delays);
    static Backoff exponential(Duration base, Duration cap);

    // The delay after `attempt` failed (1 is the first). `chance` in [0, 1) picks the point between
    // zero and the ceiling of an exponential backoff (full jitter); the other kinds ignore it.
    Duration after(int attempt, double chance) const;
};

}  // namespace sluice
