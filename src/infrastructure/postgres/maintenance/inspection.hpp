#pragma once

#include <string>
#include <vector>

#include "infrastructure/postgres/connection/connection.hpp"

namespace sluice::postgres {

// A node that gave a sign of life lately.
struct LivingNode {
    std::string name;
    int seats = 0;  // how many committers it has
    bool has_duty = false;
};

// The facts that an operator should know about a server. A role without pg_read_all_stats sees only
// its own transactions and connections.
struct Inspection {
    std::string version;
    bool vacuums_by_itself = false;
    int connections = 0;
    int connections_max = 0;
    int forgotten_transactions = 0;  // open, and idle for more than five minutes
    bool has_store = false;
    std::vector<LivingNode> nodes;
    int foreign_sessions = 0;  // of nodes; this role could not end them if their node fell silent
};

// Reads only. Outside of a transaction.
Inspection inspect(Connection& connection);

}  // namespace sluice::postgres
