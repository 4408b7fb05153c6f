#include "infrastructure/postgres/cluster/seats.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace sluice::postgres {
namespace {

// Committers that open a store at once take their seats one after the other: the number is any
// constant.
constexpr Query lock_seats{"lock_seats",
                           "SELECT pg_advisory_xact_lock(7310001, hashtext(current_schema()))"};

constexpr Query take_new{"take_new_seat", R"sql(
INSERT INTO seat (number, owner, name, until, commits, last_id)
SELECT n, $1::int8, $2::text,
    'epoch'::timestamptz + $3::int8 * interval '1 microsecond' + interval '2 minutes', 0, 0
FROM generate_series(0, 1023) n
WHERE NOT EXISTS (SELECT FROM seat s WHERE s.number = n) ORDER BY n LIMIT 1
RETURNING number, last_id)sql"};

// A seat whose owner signs a commit right now is not left, whatever its time says.
constexpr Query take_left{"take_left_seat", R"sql(
UPDATE seat SET owner = $1::int8, name = $2::text,
    until = 'epoch'::timestamptz + $3::int8 * interval '1 microsecond' + interval '2 minutes',
    commits = 0
WHERE number = (
    SELECT number FROM seat
    WHERE until < 'epoch'::timestamptz + $3::int8 * interval '1 microsecond'
    ORDER BY until LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING number, last_id)sql"};

constexpr Query leave{"leave_seat", R"sql(
UPDATE seat SET until = 'epoch'::timestamptz + $3::int8 * interval '1 microsecond'
WHERE number = $1::int4 AND owner = $2::int8)sql"};

}  // namespace

Seat take_seat(Connection& connection, const Cluster& cluster) {
    const Params params(cluster.owner, cluster.node_name, cluster.time.now());
    connection.begin();
    connection.send(lock_seats);
    Result taken = connection.ask(take_new, params);
    if (taken.rows() == 0) taken = connection.ask(take_left, params);
    connection.commit();
    if (taken.rows() == 0) {
        throw std::runtime_error(fmt::format(
            "all 1024 seats for committers in the schema \"{}\" are taken: stop nodes, lower "
            "\"committers\", or wait two minutes for the seats of nodes that were killed",
            connection.schema().text()));
    }
    Row row(taken, 0);
    return {.number = row.small(), .last_id = row.integer()};
}

void leave_seat(Connection& connection, int number, std::int64_t owner, Timestamp now) {
    connection.send(leave, Params(number, owner, now));
    connection.sync();
}

}  // namespace sluice::postgres
