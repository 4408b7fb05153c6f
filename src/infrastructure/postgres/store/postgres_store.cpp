#include "infrastructure/postgres/store/postgres_store.hpp"

#include "infrastructure/postgres/cluster/clock_row.hpp"
#include "infrastructure/postgres/connection/settings.hpp"
#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/postgres/schema/windows.hpp"
#include "infrastructure/postgres/schema/write_queries.hpp"
#include "infrastructure/postgres/statements/postgres_reader.hpp"
#include "infrastructure/postgres/store/counted_sources.hpp"

namespace sluice {
namespace {

using namespace postgres;

// A request waits this long for a server that has just gone away.
constexpr Millis reconnect_patience{2000};
constexpr Millis start_doubt_patience{1000};

Timestamp first_moment(Connection& connection, const Query& query) {
    const postgres::Result result = connection.ask(query);
    return Row(result, 0).maybe_time().value_or(never);
}

}  // namespace

PostgresStore::PostgresStore(std::shared_ptr<Cluster> cluster)
    : cluster_(std::move(cluster)), writer_{.options = cluster_->connect_options()} {
    writer_.options.works_on_queue = true;
    writer_.connection = std::make_unique<Connection>(writer_.options);
    Connection& connection = *writer_.connection;
    check_durability(connection);
    migrate(writer_.options);
    know_time(connection, cluster_->time);
    ensure_windows(connection, cluster_->time.now());
    writer_.seat = take_seat(connection, *cluster_);
    cluster_->lanes.load(connection);
    cluster_->windows.load(connection);
    cluster_->lease_due.lower(first_moment(connection, sql::next_lease_moments));
    cluster_->timed_due.lower(first_moment(connection, sql::next_timed));
    connection.sync();
}

PostgresStore::~PostgresStore() {
    try {
        if (!writer_.connection) return;
        if (!writer_.connection->is_lost()) {
            write_counted_sources(*writer_.connection, *cluster_, writer_.seat.number);
        }
        leave_seat(*writer_.connection, writer_.seat.number, cluster_->owner, cluster_->time.now());
    } catch (const std::exception&) {
        // The seat becomes free by itself after a while.
    }
}

std::unique_ptr<Session> PostgresStore::begin() {
    writer_.outage.refuse_between_tries();
    reach_server(writer_, writer_.outage.is_on() ? Millis{0} : reconnect_patience);
    if (writer_.is_in_doubt) settle_doubt(writer_, cluster_->owner, start_doubt_patience);
    try {
        if (cluster_->source_counts.due() <= cluster_->time.now()) {
            write_counted_sources(*writer_.connection, *cluster_, writer_.seat.number);
        }
        cluster_->windows.add_missing(*writer_.connection);
    } catch (...) {
        writer_.connection->roll_back();
        throw;
    }
    return std::make_unique<PostgresSession>(writer_, *cluster_);
}

std::unique_ptr<JobReader> PostgresStore::reader() {
    return std::make_unique<PostgresReader>(cluster_->connect_options(), cluster_);
}

}  // namespace sluice
