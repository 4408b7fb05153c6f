#pragma once

#include <chrono>
#include <mutex>

#include "application/ports/clock.hpp"

namespace sluice {

// Wall time that cannot jump: it starts at the system's time and then moves with the time since
// boot. When the system's clock was set, it follows by one hundredth of the time that passes, so
// that no lease or deadline ends early or late by more than that.
class SystemClock : public Clock {
  public:
    SystemClock();

    Timestamp now() override;

  private:
    std::mutex mutex_;
    Duration last_boot_;  // time since the machine started
    Timestamp last_;
};

}  // namespace sluice
