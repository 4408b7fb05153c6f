#include "application/leases/heartbeat_delays.hpp"

#include <algorithm>

namespace sluice {

void HeartbeatDelays::begin(const Engine& engine) {
    const Timestamp now = clock_.now();
    const std::lock_guard lock(mutex_);
    engines_[&engine].runs_since = now;
}

void HeartbeatDelays::end(const Engine& engine, bool failed) {
    const Timestamp now = clock_.now();
    const std::lock_guard lock(mutex_);
    Runs& runs = engines_[&engine];
    Timestamp from = runs.runs_since.value_or(now);
    const bool is_late = failed || now - from > patience;
    if (failed && runs.failed_until && from - *runs.failed_until <= gap_max) {
        from = *runs.failed_until;
    }
    if (is_late) {
        owed_ += std::max(Duration{}, now - std::max(from, counted_until_));
        counted_until_ = std::max(counted_until_, now);
    }
    runs = {};
    if (failed) runs.failed_until = now;
}

bool HeartbeatDelays::hold_leases() const {
    const Timestamp now = clock_.now();
    const std::lock_guard lock(mutex_);
    const auto is_stuck = [&](const auto& engine) {
        const Runs& runs = engine.second;
        return runs.runs_since && now - *runs.runs_since > patience;
    };
    return owed_ > Duration{} || std::any_of(engines_.begin(), engines_.end(), is_stuck);
}

Duration HeartbeatDelays::owed() const {
    const std::lock_guard lock(mutex_);
    return owed_;
}

void HeartbeatDelays::settle(Duration time) {
    const std::lock_guard lock(mutex_);
    owed_ -= time;
}

}  // namespace sluice
