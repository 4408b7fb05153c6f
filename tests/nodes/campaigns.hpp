#pragma once

#include <memory>

#include "e2e/engine.hpp"
#include "nodes/campaign.hpp"

namespace sluice::nodes {

// A plan, and the resources that it needs while it runs.
struct Setting {
    Plan plan{};
    std::unique_ptr<e2e::TempFolder> folder = std::make_unique<e2e::TempFolder>();
    std::unique_ptr<e2e::PostgresServer> server{};
};

// All campaigns, each with its faults.
Setting one_node_on_sqlite();
Setting bad_network_before_sqlite();
Setting clocks_set_on_sqlite();
Setting three_nodes_on_postgres();   // that freeze
Setting database_clock_set();        // of PostgreSQL, under three nodes
Setting frozen_nodes_on_postgres();  // whose clocks are set, too
Setting dying_postgres_behind_bad_network();

}  // namespace sluice::nodes
