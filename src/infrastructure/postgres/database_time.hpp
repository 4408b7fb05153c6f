#pragma once

#include <atomic>

#include "infrastructure/postgres/connection.hpp"

namespace sluice::postgres {

// Asks the server for its time, several times, and believes the quickest answer: it is off by half
// the round trip at the most.
Timestamp database_now(Connection& connection);

// The server's time, as it was measured last, carried on by the time since boot. All nodes of a
// database judge leases by it, whatever the clocks of their machines show. Thread-safe.
class DatabaseTime {
  public:
    explicit DatabaseTime(Timestamp measured);

    // A later measure, which may be off by half of what it took. One that took much longer than
    // others lately is left aside: the time since boot is the better guess then. By one thread.
    void correct(Timestamp measured, Duration trip);

    void set(Timestamp measured);
    Timestamp now() const;

  private:
    std::atomic<std::int64_t> micros_at_boot_ = 0;
    Duration quick_ = std::chrono::milliseconds(1);  // what a believable measure may take
};

}  // namespace sluice::postgres
