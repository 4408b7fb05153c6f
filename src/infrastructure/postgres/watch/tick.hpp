#pragma once

#include <vector>

#include "infrastructure/postgres/schema/lanes.hpp"

namespace sluice::postgres {

// How long a node keeps the duty without saying so again.
inline constexpr Duration duty_term = std::chrono::seconds(6);

// The writes and reads of a node every other second, in one statement: it renews its seats, takes
// or keeps the duty if it may, and reads the state of the cluster.
struct Tick {
    bool has_duty = false;
    int other_nodes = 0;          // that have renewed a seat lately
    std::int64_t commits = 0;     // of all nodes together; a change means that there is work
    std::size_t lanes = 0;        // how many there are
    Timestamp timed_due = never;  // only for the node with the duty
    Timestamp lease_due = never;
    std::vector<LaneId> ready{};  // lanes with jobs to claim, if asked for
    std::int64_t rules = 0;       // the version that all must know
};

// About the node that ticks.
struct Ticking {
    std::int64_t owner = 0;
    Timestamp now{};          // cluster time
    bool is_settled = true;   // see ClusterTime: else it writes no time and takes no duty
    bool agrees = true;       // the same
    bool with_lanes = false;  // asks for lanes with jobs to claim
};

// Waits for no locks, unless leases are to be renewed, and holds its own only while the server ends
// the statement. Outside of a transaction.
Tick tick(Connection& connection, const Ticking& node);

// Gives the duty up, so that another node can take it.
void leave_duty(Connection& connection, std::int64_t owner, Timestamp now);

}  // namespace sluice::postgres
