#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "e2e/postgres_server.hpp"

namespace sluice::nodes {

struct Plan {
    std::string store{};
    int nodes = 3;
    int workers = 16;
    int clients = 4;
    int operators = 2;
    std::chrono::seconds duration{15};
    std::uint64_t seed = 1;

    // The faults; the seed decides when, and which node they hit.
    bool kills = true;  // nodes die or are stopped, and start again
    // Nodes also stand still for a while and then go on; with `database` also within commits.
    bool freezes = false;
    bool client_network = false;  // between clients and nodes: lost answers, repeated requests,…
    bool clock_steps = false;     // nodes' wall clocks are set by an hour
    bool database_clock_steps = false;  // the database's, by two; needs `database` with its own
    bool database_network = false;      // the same between nodes and the database; needs `database`
    bool database_crashes = false;      // the database dies, or kills backends; needs `database`
    e2e::PostgresServer* database = nullptr;  // that the campaign may damage

    // At the end the nodes are started once more, later by more than this; then they remove jobs
    // that succeeded. Zero: they do not. On PostgreSQL it needs `database` with a clock of its own.
    std::chrono::hours retention{};

    // The healing ends with claims that wait for long and compete for permits.
    bool competition = false;

    // Properties of the store for the checker.
    std::chrono::milliseconds slack{5};   // between a step's time and the moment others see it
    std::chrono::milliseconds clocks{5};  // between the nodes' clocks and the clients'
    bool starts_renew_leases = false;     // as with a store of a single node
    bool strict_order = false;            // claims are served in one order, as there
};

// The files of a campaign for the checker.
struct Files {
    std::filesystem::path record{};
    std::filesystem::path history{};
    std::filesystem::path kept{};  // the history once more, after retention; or empty
};

// Clients and workers use the nodes while the faults happen; then all jobs get the time to end.
// Fails the test when a job does not end, or a node does not start or stop as it should.
Files run_campaign(const Plan& plan, const std::filesystem::path& folder);

}  // namespace sluice::nodes
