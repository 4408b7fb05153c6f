#include "infrastructure/postgres/cluster/seats.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "application/limits/stored_rules.hpp"
#include "infrastructure/postgres/schema/limit_queries.hpp"

namespace sluice::postgres {
namespace {

// A copy of a store brings rules, and no seat that knows their version.
constexpr Query take_new{"take_new_seat", R"sql(
INSERT INTO seat (number, owner, node, until, commits, last_id, rules)
SELECT n, $1::int8, $2::text,
    'epoch'::timestamptz + $3::int8 * interval '1 microsecond' + interval '2 minutes', 0, 0,
    greatest((SELECT max(rules) FROM seat), (SELECT revision FROM entity
        WHERE tenant = $4::text AND kind = $5::text AND id = $6::text), 0)
FROM generate_series(0, 1023) n
WHERE NOT EXISTS (SELECT FROM seat s WHERE s.number = n) ORDER BY n LIMIT 1
RETURNING number, last_id)sql"};

// A seat whose owner signs a commit right now is not left, whatever its time says.
constexpr Query take_left{"take_left_seat", R"sql(
UPDATE seat SET owner = $1::int8, node = $2::text,
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
    const Timestamp now = cluster.time.now();
    const EntityKey rules = control_key();
    connection.begin();
    connection.send(sql::lock_seats);
    Result taken = connection.ask(take_new, Params(cluster.owner, cluster.node_name, now,
                                                   rules.tenant, rules.kind, rules.id));
    if (taken.rows() == 0) {
        taken = connection.ask(take_left, Params(cluster.owner, cluster.node_name, now));
    }
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
