#include "infrastructure/system_clock.hpp"

#include <time.h>

#include <algorithm>

namespace sluice {
namespace {

// Unlike the steady clock of the standard library this one goes on while the machine is suspended.
Duration since_boot() {
    timespec time{};
    clock_gettime(CLOCK_BOOTTIME, &time);
    return std::chrono::duration_cast<Duration>(std::chrono::seconds(time.tv_sec) +
                                                std::chrono::nanoseconds(time.tv_nsec));
}

Timestamp wall_now() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace

SystemClock::SystemClock() : last_boot_(since_boot()), last_(wall_now()) {}

Timestamp SystemClock::now() {
    const std::lock_guard lock(mutex_);
    const Duration passed = since_boot() - last_boot_;
    if (passed <= Duration{0}) return last_;
    const Duration slew = passed / 100;
    const Duration off = wall_now() - (last_ + passed);
    last_ += passed + std::clamp(off, -slew, slew);
    last_boot_ += passed;
    return last_;
}

}  // namespace sluice
