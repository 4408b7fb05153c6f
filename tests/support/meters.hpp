#pragma once

#include "domain/limits/meter.hpp"

// Rules with a rate, and starts by them, for tests of meters.
namespace sluice::meters {

inline constexpr Timestamp start = from_micros(1'767'225'600'000'000);

inline LimitRule with_rate(std::int64_t count, Duration period, std::int64_t burst) {
    LimitRule rule{.id = "r"};
    rule.rate = LimitRate{.count = count, .period = period, .burst = burst};
    return rule;
}

// Starts one job if the rule permits it.
inline bool try_start(const LimitRule& rule, MeterState& meter, Timestamp now) {
    if (room_of(rule, meter, now).count < 1) return false;
    note_start(rule, meter, now);
    return true;
}

}  // namespace sluice::meters
