#include "infrastructure/system_clock.hpp"

#include <algorithm>

namespace sluice {
namespace {

Timestamp wall_now() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace

SystemClock::SystemClock() : last_steady_(std::chrono::steady_clock::now()), last_(wall_now()) {}

Timestamp SystemClock::now() {
    const std::lock_guard lock(mutex_);
    const auto steady = std::chrono::steady_clock::now();
    const auto passed = std::chrono::duration_cast<Duration>(steady - last_steady_);
    if (passed <= Duration{0}) return last_;
    const Duration slew = passed / 100;
    const Duration off = wall_now() - (last_ + passed);
    last_ += passed + std::clamp(off, -slew, slew);
    last_steady_ += passed;
    return last_;
}

}  // namespace sluice
