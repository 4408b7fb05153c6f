#pragma once

#include "infrastructure/postgres/cluster/cluster.hpp"

namespace sluice::postgres {

// A committer's seat: see the table seat.
struct Seat {
    int number = 0;            // 0..1023, in the ids that it gives
    std::int64_t last_id = 0;  // the largest number that was ever given from it
};

// Takes a seat for two minutes, which the watch renews: one that was never taken, or, when there is
// none, the one that was left longest ago. Any number of committers may take one at once. Outside
// of a transaction. Throws std::runtime_error when all are taken.
Seat take_seat(Connection& connection, const Cluster& cluster);

// Gives the owner's seat up. Outside of a transaction.
void leave_seat(Connection& connection, int number, std::int64_t owner, Timestamp now);

}  // namespace sluice::postgres
