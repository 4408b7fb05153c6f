#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "application/ports/clock.hpp"
#include "domain/values/time.hpp"

namespace sluice {

class Engine;

// The time in which heartbeats were refused or stuck at a node's committers, for the committer that
// sweeps. Heartbeats go to the other committers, and a lease must not run out at the first one
// while its heartbeat waits at another, or was refused there. Used by the threads of all
// committers.
class HeartbeatDelays {
  public:
    // A run that takes longer keeps heartbeats waiting.
    static constexpr Duration patience = std::chrono::seconds(2);
    // Of two runs that failed one after the other, the time between them is lost, too; but a
    // committer without heartbeats loses nothing.
    static constexpr Duration gap_max = std::chrono::seconds(10);

    explicit HeartbeatDelays(Clock& clock) : clock_(clock) {}

    // A run of an engine that takes heartbeats, from its begin to its end.
    void begin(const Engine& engine);
    void end(const Engine& engine, bool failed);

    // Whether leases must not run out now: a run is stuck, or there is time to give back.
    bool hold_leases() const;

    // The time that all leases have to get back.
    Duration owed() const;
    // So much of it was given back.
    void settle(Duration time);

  private:
    struct Runs {
        std::optional<Timestamp> runs_since{};
        std::optional<Timestamp> failed_until{};  // the end of its last run, if that failed
    };

    Clock& clock_;
    mutable std::mutex mutex_;
    std::map<const Engine*, Runs> engines_;
    Duration owed_{};
    Timestamp counted_until_{};  // no time is counted twice
};

}  // namespace sluice
