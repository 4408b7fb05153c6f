#include "infrastructure/system_clock.hpp"

#include <algorithm>

#include "infrastructure/boot_clock.hpp"

namespace sluice {

SystemClock::SystemClock(Reference reference)
    : reference_(std::move(reference)), last_boot_(since_boot()), last_(reference_()) {}

Timestamp SystemClock::now() {
    const std::lock_guard lock(mutex_);
    const Duration passed = since_boot() - last_boot_;
    if (passed <= Duration{0}) return last_;
    const Duration slew = passed / 100;
    const Duration off = reference_() - (last_ + passed);
    last_ += passed + std::clamp(off, -slew, slew);
    last_boot_ += passed;
    return last_;
}

Timestamp SystemClock::machine_time() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace sluice
