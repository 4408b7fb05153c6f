#pragma once

#include <chrono>
#include <functional>
#include <mutex>

#include "application/ports/clock.hpp"
#include "infrastructure/system/boot_clock.hpp"

namespace sluice {

// Wall time that cannot jump: it starts at the reference's time and then moves with the time since
// boot. When the reference was set, it follows by one hundredth of the time that passes, so that no
// lease or deadline ends early or late by more than that. A reference that is steady by itself is
// followed at once when it differs by more than `steps_from`: then the clock was wrong.
class SystemClock : public Clock {
  public:
    using Reference = std::function<Timestamp()>;
    using SinceBoot = std::function<Duration()>;

    // Nodes that share a database use cluster time as reference, which is steady; others use the
    // clock of their machine.
    explicit SystemClock(Reference reference = machine_time,
                         SinceBoot since_boot = sluice::since_boot,
                         Duration steps_from = Duration::max());

    // Cluster time is slewed up to this difference.
    static constexpr Duration cluster_steps_from = std::chrono::milliseconds(500);

    Timestamp now() override;

  private:
    static Timestamp machine_time();

    const Reference reference_;
    const SinceBoot since_boot_;
    const Duration steps_from_;
    std::mutex mutex_;
    Duration last_boot_;  // time since the machine started
    Timestamp last_;
};

}  // namespace sluice
