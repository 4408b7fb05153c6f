#pragma once

#include <vector>

#include "infrastructure/postgres/lanes.hpp"

namespace sluice::postgres {

// How long the one who has the duty keeps it without saying so again.
inline constexpr Duration duty_term = std::chrono::seconds(6);

// What a node says and hears every other second, in one statement: it renews its seats, takes or
// keeps the duty if it may, and looks around.
struct Tick {
    bool has_duty = false;
    int other_nodes = 0;          // that have renewed a seat lately
    std::int64_t commits = 0;     // of all nodes together; another number means that some work
    std::size_t lanes = 0;        // that there are
    Timestamp timed_due = never;  // only for the one with the duty
    Timestamp lease_due = never;
    std::vector<LaneId> ready{};  // lanes with something to claim, if they were asked for
};

// Of the node that says it.
struct Ticking {
    std::int64_t owner = 0;
    Timestamp now{};          // cluster time
    bool is_settled = true;   // see ClusterTime: else it writes no time and takes no duty
    bool agrees = true;       // the same
    bool with_lanes = false;  // asks for lanes with something to claim
};

// Waits for nobody's locks, unless leases are to be renewed, and holds its own only while the
// server ends the statement. Outside of a transaction.
Tick tick(Connection& connection, const Ticking& node);

// Lets others have the duty.
void leave_duty(Connection& connection, std::int64_t owner, Timestamp now);

}  // namespace sluice::postgres
