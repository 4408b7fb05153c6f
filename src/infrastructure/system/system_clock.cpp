#include "infrastructure/system/system_clock.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr Duration close_enough = std::chrono::microseconds(100);
constexpr int tries_max = 10;

}  // namespace

// Both clocks have to be read at one moment. A process that loses its turn between the two reads
// would be ahead by as much, and for a hundred times as long; so the closest of a few tries counts.
SystemClock::SystemClock(Reference reference, SinceBoot since_boot, Duration steps_from)
    : reference_(std::move(reference)),
      since_boot_(std::move(since_boot)),
      steps_from_(steps_from),
      last_boot_(since_boot_()),
      last_(reference_()) {
    Duration apart = since_boot_() - last_boot_;
    for (int tries = 1; apart > close_enough && tries < tries_max; ++tries) {
        const Duration before = since_boot_();
        const Timestamp time = reference_();
        const Duration took = since_boot_() - before;
        if (took >= apart) continue;
        apart = took;
        last_boot_ = before;
        last_ = time;
    }
}

Timestamp SystemClock::now() {
    const std::lock_guard lock(mutex_);
    const Duration passed = since_boot_() - last_boot_;
    if (passed <= Duration{0}) return last_;
    const Duration slew = passed / 100;
    const Duration off = reference_() - (last_ + passed);
    const bool is_wrong = std::chrono::abs(off) > steps_from_;
    last_ += passed + (is_wrong ? off : std::clamp(off, -slew, slew));
    last_boot_ += passed;
    return last_;
}

Timestamp SystemClock::machine_time() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace sluice
