#pragma once

#include <algorithm>
#include <vector>

#include "infrastructure/postgres/cluster/cluster_time.hpp"

namespace sluice::simulation {

// The row of a shared database by which its nodes agree on the time, as the table clock, and the
// times of their seats.
class DatabaseClock {
  public:
    postgres::ClockReading read(Timestamp server, Duration at) const {
        postgres::ClockReading reading = row_;
        reading.server = server;
        reading.at = at;
        for (const Timestamp until : seats_) {
            if (until > row_.latest + std::chrono::minutes(1)) reading.seats += to_micros(until);
        }
        return reading;
    }

    // Each start of a node takes a seat, and none is left: nodes are killed.
    std::size_t take_seat(Timestamp now) {
        seats_.push_back(now + seat_term);
        return seats_.size() - 1;
    }

    void write(const std::optional<postgres::ClockCorrection>& correction) {
        if (!correction || correction->after != row_.corrections) return;
        row_.ahead = correction->ahead;
        ++row_.corrections;
    }

    // The writes of a node's tick.
    void tick(std::size_t seat, const postgres::ClusterTime& time) {
        seats_[seat] = time.now() + seat_term;
        if (!time.is_settled()) return;
        if (time.agrees()) {
            slew(std::clamp<Duration>(time.now() - row_.latest, Duration{}, longest) / 200);
            ++row_.agreements;
        }
        row_.latest = std::max(row_.latest, time.now());
    }

    Duration ahead() const { return row_.ahead; }

    // By how much cluster time has come closer to the server's clock since the beginning: so far it
    // is from a clock that was never set.
    Duration slewed() const { return slewed_; }

  private:
    void slew(Duration most) {
        const Duration step = std::clamp(row_.ahead, -most, most);
        row_.ahead -= step;
        slewed_ -= step;
    }

    static constexpr Duration longest = std::chrono::seconds(10);
    static constexpr Duration seat_term = std::chrono::minutes(2);

    postgres::ClockReading row_{};
    std::vector<Timestamp> seats_;
    Duration slewed_{};
};

}  // namespace sluice::simulation
