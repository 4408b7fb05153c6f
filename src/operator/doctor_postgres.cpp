#include "operator/doctor_postgres.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "config/store_url.hpp"
#include "infrastructure/postgres/cluster/clock_row.hpp"
#include "infrastructure/postgres/connection/settings.hpp"
#include "infrastructure/postgres/maintenance/inspection.hpp"
#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/system/system_clock.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using postgres::Connection;
using postgres::Inspection;
using postgres::LivingNode;

constexpr Duration difference_max = 1s;
// Readers, watch and housekeeper, beside the committers.
constexpr int other_connections = 4;

void look_at_durability(Connection& connection, Findings& out) {
    try {
        check_durability(connection);
        out.good("durability", "fsync, full_page_writes and synchronous_commit are on");
    } catch (const StoreUnavailable&) {
        throw;
    } catch (const std::runtime_error& error) {
        out.bad("durability", error.what(), "no engine starts before that");
    }
}

bool leads_past_pooler(const std::string& url) {
    return !Connection({.url = url}).is_pooled();
}

void look_at_way(const Config& config, const Connection& connection, Findings& out) {
    const char* const advice =
        "set store_direct to an address that leads past the pooler, for LISTEN";
    if (config.store_direct.empty()) {
        if (!connection.is_pooled()) return;
        return out.doubtful("pooler", "is in between: claims look for other nodes' jobs in turns",
                            advice);
    }
    try {
        if (leads_past_pooler(config.store_direct)) {
            out.good("pooler", "store_direct leads past it");
        } else {
            out.doubtful("pooler", "store_direct leads to one, too", advice);
        }
    } catch (const std::runtime_error& error) {
        out.bad("pooler", fmt::format("store_direct: {}", error.what()), advice);
    }
}

void look_at_server(const Config& config, const Inspection& server, Findings& out) {
    out.good("server", "PostgreSQL " + server.version);
    const std::string use =
        fmt::format("{} of {} in use", server.connections, server.connections_max);
    const int needed = config.committers + other_connections;
    if (server.connections_max - server.connections < needed) {
        out.doubtful("connections", use,
                     fmt::format("raise max_connections: an engine takes {}", needed));
    } else {
        out.good("connections", use);
    }
    if (!server.vacuums_by_itself) {
        out.bad("vacuum", "autovacuum is off", "set autovacuum = on: tables grow without it");
    } else if (server.forgotten_transactions > 0) {
        out.doubtful("vacuum",
                     fmt::format("{} transactions are open and idle for more than 5 minutes, and "
                                 "keep it from cleaning up",
                                 server.forgotten_transactions),
                     "end them; set idle_in_transaction_session_timeout for those who forget");
    } else {
        out.good("vacuum", "autovacuum is on, and no forgotten transaction is in its way");
    }
}

void look_at_nodes(const std::vector<LivingNode>& nodes, Findings& out) {
    for (const LivingNode& node : nodes) {
        out.good("node", fmt::format("{} lives, with {} committers{}", node.name, node.seats,
                                     node.has_duty ? ", and has the duty" : ""));
    }
    const bool anybody = std::any_of(nodes.begin(), nodes.end(),
                                     [](const LivingNode& node) { return node.has_duty; });
    if (nodes.empty()) {
        out.good("node", "none lives");
    } else if (!anybody) {
        out.doubtful("node", "none has the duty to look at what is due",
                     "look again in ten seconds; if it stays so, look at the nodes' logs");
    }
}

void look_at_time(Connection& connection, Findings& out) {
    SystemClock clock;
    const Timestamp theirs = server_now(connection);
    const Duration difference = clock.now() - theirs;
    const double seconds = std::chrono::duration<double>(difference).count();
    const std::string detail = fmt::format("the database's differs by {:.3f} s", -seconds);
    if (std::chrono::abs(difference) > difference_max) {
        out.doubtful("clock", detail,
                     "synchronise both: engines go by the database's, workers by their own");
    } else {
        out.good("clock", detail);
    }
}

void look_at_cluster_time(Connection& connection, Findings& out) {
    const double seconds = std::chrono::duration<double>(read_ahead(connection)).count();
    const std::string detail = fmt::format("nodes are {:.3f} s {} the database's clock",
                                           std::abs(seconds), seconds < 0 ? "behind" : "ahead of");
    if (std::abs(seconds) > 1) {
        out.doubtful("cluster time", detail,
                     "the clock was set, and nodes follow slowly; docs/operations.md tells how to "
                     "take it over at once");
    } else {
        out.good("cluster time", detail);
    }
}

}  // namespace

void look_at_steps(const std::vector<MigrationStatus>& steps, const std::string& name,
                   Findings& out) {
    const auto differs = [](const MigrationStatus& step) { return !step.matches; };
    const auto pending = [](const MigrationStatus& step) { return !step.applied_at; };
    if (std::any_of(steps.begin(), steps.end(), differs)) {
        out.bad("store", name + " was made by another version of sluice",
                "use the version that made it, or a later one");
    } else if (std::all_of(steps.begin(), steps.end(), pending)) {
        out.good("store", name + " will be made at the first start");
    } else if (std::any_of(steps.begin(), steps.end(), pending)) {
        out.doubtful("store", name + " is of an earlier version",
                     "the next start brings it up to date, or: sluice migrate up");
    } else {
        out.good("store", name);
    }
}

void look_at_postgres(const Config& config, Findings& out) {
    try {
        Connection connection({.url = config.store, .schema = config.store_schema});
        const Inspection server = inspect(connection);
        look_at_server(config, server, out);
        look_at_durability(connection, out);
        look_at_way(config, connection, out);
        look_at_steps(
            migration_status(connection),
            fmt::format("{} (schema {})", shown_store(config.store), config.store_schema.text()),
            out);
        if (server.has_store) {
            look_at_nodes(server.nodes, out);
            look_at_cluster_time(connection, out);
        }
        if (server.foreign_sessions > 0) {
            out.doubtful("roles",
                         fmt::format("{} sessions of nodes are another role's, and could not be "
                                     "ended if their node stood still",
                                     server.foreign_sessions),
                         "have all nodes use one role, or grant them pg_signal_backend");
        }
        look_at_time(connection, out);
    } catch (const std::runtime_error& error) {
        out.bad("store", fmt::format("{}: {}", shown_store(config.store), error.what()),
                "look at the server, the address, and the rights of the role");
    }
}

}  // namespace sluice
