#pragma once

#include <time.h>

#include <chrono>

namespace sluice::client {

// The time since the machine started, sleep included. Leases are measured with it, since no
// setting of the clock moves it.
using BootTime = std::chrono::nanoseconds;

inline constexpr BootTime boot_never = BootTime::max();

inline BootTime boot_now() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace sluice::client
