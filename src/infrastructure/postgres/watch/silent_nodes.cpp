#include "infrastructure/postgres/watch/silent_nodes.hpp"

namespace sluice::postgres {
namespace {

// When a look comes later than this after the one before, the time between does not count. The rest
// of the silence is more than a node needs from one sign of life to the next: so a database that
// stood still makes no node look silent.
constexpr Duration gap_allowed = silence_allowed - std::chrono::milliseconds(2500);

// A seat is renewed for two minutes. The moment that counts is that in which the look was sent:
// when the statement was held up, those of other nodes were, too. The locks of the server are read
// for each silent node, and not at all when none is silent.
#define SLUICE_NOW "('epoch'::timestamptz + $4::int8 * interval '1 microsecond')"
constexpr Query end_silent{"end_silent", R"sql(
WITH silent AS MATERIALIZED (
    SELECT owner, min(node) AS name FROM seat WHERE owner <> $1::int8 GROUP BY owner
    HAVING max(until) < )sql" SLUICE_NOW R"sql( + interval '2 minutes'
            - $2::int8 * interval '1 microsecond'
        AND ($3::bool OR max(until) > )sql" SLUICE_NOW R"sql()
        AND EXISTS (SELECT FROM duty WHERE name = 'watch'
                    AND (owner = $1::int8 OR until < )sql" SLUICE_NOW R"sql()))
SELECT silent.name, marked.sessions FROM silent CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE pg_terminate_backend(l.pid))::int4 AS sessions
    FROM pg_locks l
    WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND ((l.classid::int8 << 32) | l.objid::int8) = silent.owner OFFSET 0) marked
WHERE marked.sessions > 0)sql"};
#undef SLUICE_NOW

}  // namespace

void SteadyLooks::add(Timestamp look) {
    is_first_ = !is_steady() || look > counts_until();
    const bool is_late = look < last_ || look > last_ + gap_allowed;
    if (is_late) since_ = look;
    last_ = look;
}

Timestamp SteadyLooks::counts_until() const {
    return is_steady() ? last_ + gap_allowed : Timestamp{};
}

std::vector<SilentNode> end_silent_nodes(Connection& connection, std::int64_t own, Timestamp now,
                                         bool of_all) {
    const Connection::Ticket ticket =
        connection.post(end_silent, Params(own, silence_allowed, of_all, now));
    connection.sync();
    const Result result = connection.take(ticket);
    std::vector<SilentNode> ended;
    for (int i = 0; i < result.rows(); ++i) {
        Row row(result, i);
        SilentNode& node = ended.emplace_back();
        node.name = row.text();
        node.sessions = row.small();
    }
    return ended;
}

}  // namespace sluice::postgres
