#include "infrastructure/postgres/silent_nodes.hpp"

namespace sluice::postgres {
namespace {

// When a look comes later than this after the one before, the time between does not count. The rest
// of the silence is more than a node needs from one sign of life to the next: so a database that
// stood still makes nobody look silent.
constexpr Duration gap_allowed = silence_allowed - std::chrono::milliseconds(2500);

// A seat is renewed for two minutes. All times are those of the database, and that of this very
// statement counts: it may have been held up, too. The locks of the server are read for each node
// that is silent, and not at all when none is.
constexpr Query end_silent{"end_silent", R"sql(
WITH silent AS MATERIALIZED (
    SELECT owner, min(name) AS name FROM seat WHERE owner <> $1::int8 GROUP BY owner
    HAVING max(until) < now() + interval '2 minutes' - $2::int8 * interval '1 microsecond'
        AND ($3::bool OR max(until) > now())
        AND (extract(epoch FROM now()) * 1000000)::int8 <= $4::int8
        AND EXISTS (SELECT FROM duty WHERE name = 'watch'
                    AND (owner = $1::int8 OR until < now())))
SELECT (extract(epoch FROM now()) * 1000000)::int8, ended.name, ended.sessions
FROM (SELECT) look LEFT JOIN LATERAL (
    SELECT silent.name, marked.sessions FROM silent CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE pg_terminate_backend(l.pid))::int4 AS sessions
        FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND ((l.classid::int8 << 32) | l.objid::int8) = silent.owner OFFSET 0) marked
    WHERE marked.sessions > 0) ended ON true)sql"};

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

LookAtOthers end_silent_nodes(Connection& connection, std::int64_t own, Timestamp counts_until,
                              bool of_all) {
    const Connection::Ticket ticket =
        connection.post(end_silent, Params(own, silence_allowed, of_all, counts_until));
    connection.sync();
    const Result result = connection.take(ticket);
    LookAtOthers look;
    for (int i = 0; i < result.rows(); ++i) {
        Row row(result, i);
        look.at = row.time();
        std::string name = row.text();
        const int sessions = row.small();
        if (sessions > 0) look.ended.push_back({.name = std::move(name), .sessions = sessions});
    }
    return look;
}

}  // namespace sluice::postgres
