#include "nodes/campaigns.hpp"

#include "support/postgres.hpp"

namespace sluice::nodes {
namespace {

constexpr int nodes_on_postgres = 3;

// Jobs stay for as long as keys are remembered, which is an hour at the least.
constexpr std::chrono::hours shortest_retention{1};

Setting on_sqlite() {
    Setting setting;
    setting.plan.store = "sqlite:" + (setting.folder->path() / "db").string();
    setting.plan.nodes = 1;
    setting.plan.starts_renew_leases = true;
    setting.plan.strict_order = true;
    return setting;
}

// Nodes measure the database's clock over a connection that answers as slowly as the machine is
// busy, and a step carries the time at which its batch began.
Setting on_postgres(const std::string& store) {
    Setting setting;
    setting.plan.store = store;
    setting.plan.nodes = nodes_on_postgres;
    setting.plan.slack = std::chrono::seconds(1);
    setting.plan.clocks = std::chrono::milliseconds(200);
    setting.plan.competition = true;
    return setting;
}

}  // namespace

Setting one_node_on_sqlite() {
    Setting setting = on_sqlite();
    setting.plan.retention = shortest_retention;
    setting.plan.competition = true;
    return setting;
}

Setting bad_network_before_sqlite() {
    Setting setting = on_sqlite();
    setting.plan.client_network = true;
    setting.plan.freezes = true;
    setting.plan.slack = std::chrono::seconds(5);
    return setting;
}

Setting clocks_set_on_sqlite() {
    Setting setting = on_sqlite();
    setting.plan.clock_steps = true;
    return setting;
}

// With a database of its own, so that nodes can stand still in the middle of commits. Answers tell
// what is certain then; no clock is set.
Setting three_nodes_on_postgres() {
    auto server = std::make_unique<e2e::PostgresServer>();
    Setting setting = on_postgres(server->url());
    setting.server = std::move(server);
    setting.plan.database = setting.server.get();
    setting.plan.freezes = true;
    setting.plan.slack = std::chrono::seconds(5);
    return setting;
}

// A node that stood still does not know that others took over its work. The times of its steps are
// worth little then; what workers know for certain still counts. Neither do the clocks of the
// nodes' machines count: that of the database does.
Setting frozen_nodes_on_postgres() {
    Setting setting = on_postgres(fresh_database());
    setting.plan.freezes = true;
    setting.plan.clock_steps = true;
    setting.plan.slack = std::chrono::seconds(5);
    return setting;
}

// Cluster time goes on evenly for all nodes, also for those that start afterwards; it only comes
// closer to the database's clock by a two-hundredth.
Setting database_clock_set() {
    auto server = std::make_unique<e2e::PostgresServer>(e2e::PostgresServer::Clock::own);
    Setting setting = on_postgres(server->url());
    setting.server = std::move(server);
    setting.plan.database = setting.server.get();
    setting.plan.database_clock_steps = true;
    setting.plan.clocks = std::chrono::milliseconds(500);
    setting.plan.retention = shortest_retention;
    return setting;
}

// With a database of its own, which dies in the middle, behind a network that fails on both sides
// of the nodes; and nodes stand still, also in the middle of commits.
Setting dying_postgres_behind_bad_network() {
    auto server = std::make_unique<e2e::PostgresServer>();
    Setting setting = on_postgres(server->url());
    setting.server = std::move(server);
    setting.plan.database = setting.server.get();
    setting.plan.freezes = true;
    setting.plan.client_network = true;
    setting.plan.database_network = true;
    setting.plan.database_crashes = true;
    setting.plan.slack = std::chrono::seconds(5);
    return setting;
}

}  // namespace sluice::nodes
