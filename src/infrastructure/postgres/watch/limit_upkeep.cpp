#include "infrastructure/postgres/watch/limit_upkeep.hpp"

#include "application/limits/stored_rules.hpp"
#include "application/ports/limit_store.hpp"
#include "infrastructure/postgres/schema/limit_queries.hpp"

// Rows that a session has locked are left to the next time: what it waits for may be locked here.
namespace sluice::postgres {
namespace {

constexpr int meters_at_once = 1000;
constexpr int returns_at_once = 10'000;

// Meters of rules that are not in force: those are entities. A meter goes with all of its returns,
// or stays when one of them is locked: what was returned to it would count as free once the rule is
// in force again.
constexpr Query remove_meters{"remove_meters", R"sql(
WITH unwanted AS MATERIALIZED (
    SELECT id FROM meter m WHERE NOT EXISTS (SELECT FROM entity e
        WHERE e.tenant = $1::text AND e.kind = $2::text AND e.id = m.rule AND e.state = 'active')
    LIMIT $3::int4 FOR UPDATE OF m SKIP LOCKED),
locked AS MATERIALIZED (
    SELECT meter, seat FROM permit_return WHERE meter = ANY(ARRAY(SELECT id FROM unwanted))
    FOR UPDATE SKIP LOCKED),
whole AS MATERIALIZED (
    SELECT id FROM unwanted EXCEPT
    SELECT p.meter FROM permit_return p
    WHERE p.meter = ANY(ARRAY(SELECT id FROM unwanted)) AND NOT EXISTS (
        SELECT FROM locked l WHERE l.meter = p.meter AND l.seat = p.seat)),
returns AS (DELETE FROM permit_return WHERE meter = ANY(ARRAY(SELECT id FROM whole)) RETURNING 1),
meters AS (DELETE FROM meter WHERE id = ANY(ARRAY(SELECT id FROM whole)) RETURNING 1)
SELECT (SELECT count(*)::int4 FROM meters), (SELECT count(*)::int4 FROM returns))sql"};
// Meters that are as if they had never counted. Permits are given under the lock of the meter, and
// what is not returned yet counts as taken, so that nothing can come back to a meter whose returns
// make up for all that was taken. A session that waits for the meter adds it again. Rows whose last
// change is younger than the mark ($3) stay.
#define SLUICE_IS_OLD(row) \
    "age(" row             \
    ".xmin)::int8 > \
        pg_snapshot_xmax(pg_current_snapshot())::text::int8 - $3::int8 "
constexpr Query remove_rested{"remove_rested", R"sql(
WITH rested AS MATERIALIZED (
    SELECT id, taken FROM meter m
    WHERE full_at_ns <= $1::int8 AND owed_until_ns <= $1::int8
        AND (starts IS NULL OR full_at_ns <= $1::int8 - 3660000000000)
        AND taken = coalesce((SELECT sum(given) FROM permit_return p WHERE p.meter = m.id), 0)
        AND )sql" SLUICE_IS_OLD("m") R"sql(
    LIMIT $2::int4 FOR UPDATE OF m SKIP LOCKED),
locked AS MATERIALIZED (
    SELECT meter, given FROM permit_return WHERE meter = ANY(ARRAY(SELECT id FROM rested))
    FOR UPDATE SKIP LOCKED),
idle AS MATERIALIZED (
    SELECT id FROM rested LEFT JOIN (
        SELECT meter, sum(given) AS given FROM locked GROUP BY meter) l ON l.meter = rested.id
    WHERE rested.taken = coalesce(l.given, 0)),
returns AS (DELETE FROM permit_return WHERE meter = ANY(ARRAY(SELECT id FROM idle)) RETURNING 1),
meters AS (DELETE FROM meter WHERE id = ANY(ARRAY(SELECT id FROM idle)) RETURNING 1)
SELECT (SELECT count(*)::int4 FROM meters), (SELECT count(*)::int4 FROM returns))sql"};
constexpr Query gather_old_returns{"gather_old_returns", R"sql(
WITH gone AS (DELETE FROM permit_return WHERE (meter, seat) IN (
        SELECT meter, seat FROM permit_return x WHERE seat >= $1::int4
            AND )sql" SLUICE_IS_OLD("x") R"sql(
        LIMIT $2::int4 FOR UPDATE OF x SKIP LOCKED)
    RETURNING meter, given),
kept AS (INSERT INTO permit_return (meter, seat, given)
    SELECT meter, -1, sum(given) FROM gone GROUP BY meter ORDER BY meter
    ON CONFLICT (meter, seat) DO UPDATE SET given = permit_return.given + excluded.given)
SELECT count(*) FROM gone)sql"};
#undef SLUICE_IS_OLD
constexpr Query last_transaction{"last_transaction", R"sql(
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::int8)sql"};
constexpr Query remove_hours{"remove_hours", R"sql(
DELETE FROM source_hour WHERE (tenant, source, hour, seat) IN (
    SELECT tenant, source, hour, seat FROM source_hour x WHERE hour < $1::int8
    LIMIT 10000 FOR UPDATE OF x SKIP LOCKED))sql"};

#define SLUICE_OF_FREE_SEATS                                                          \
    "x WHERE x.seat >= 0 AND NOT EXISTS (SELECT FROM seat s WHERE s.number = x.seat " \
    "AND s.until > 'epoch'::timestamptz + $1::int8 * interval '1 microsecond') "      \
    "LIMIT 10000 FOR UPDATE OF x SKIP LOCKED"
constexpr Query gather_returns{"gather_returns", R"sql(
WITH gone AS (DELETE FROM permit_return WHERE (meter, seat) IN (
        SELECT meter, seat FROM permit_return )sql" SLUICE_OF_FREE_SEATS R"sql()
    RETURNING meter, given),
kept AS (INSERT INTO permit_return (meter, seat, given)
    SELECT meter, -1, sum(given) FROM gone GROUP BY meter ORDER BY meter
    ON CONFLICT (meter, seat) DO UPDATE SET given = permit_return.given + excluded.given)
SELECT count(*) FROM gone)sql"};
constexpr Query gather_sources{"gather_sources", R"sql(
WITH gone AS (DELETE FROM source WHERE (tenant, source, seat) IN (
        SELECT tenant, source, seat FROM source )sql" SLUICE_OF_FREE_SEATS R"sql()
    RETURNING tenant, source, last_job_at),
kept AS (INSERT INTO source (tenant, source, seat, last_job_at)
    SELECT tenant, source, -1, max(last_job_at) FROM gone
    GROUP BY tenant, source ORDER BY tenant, source
    ON CONFLICT (tenant, source, seat) DO UPDATE SET
        last_job_at = greatest(source.last_job_at, excluded.last_job_at))
SELECT count(*) FROM gone)sql"};
constexpr Query gather_hours{"gather_hours", R"sql(
WITH gone AS (DELETE FROM source_hour WHERE (tenant, source, hour, seat) IN (
        SELECT tenant, source, hour, seat FROM source_hour )sql" SLUICE_OF_FREE_SEATS R"sql()
    RETURNING tenant, source, hour, submitted, succeeded, failed),
kept AS (INSERT INTO source_hour (tenant, source, hour, seat, submitted, succeeded, failed)
    SELECT tenant, source, hour, -1, sum(submitted), sum(succeeded), sum(failed) FROM gone
    GROUP BY tenant, source, hour ORDER BY tenant, source, hour
    ON CONFLICT (tenant, source, hour, seat) DO UPDATE SET
        submitted = source_hour.submitted + excluded.submitted,
        succeeded = source_hour.succeeded + excluded.succeeded,
        failed = source_hour.failed + excluded.failed)
SELECT count(*) FROM gone)sql"};
#undef SLUICE_OF_FREE_SEATS

Result answer_at_once(Connection& connection, const Query& query, const Params& params) {
    const Connection::Ticket ticket = connection.post(query, params);
    connection.sync();
    return connection.take(ticket);
}

int ask_at_once(Connection& connection, const Query& query, const Params& params) {
    const Result result = answer_at_once(connection, query, params);
    return result.rows() > 0 ? static_cast<int>(Row(result, 0).integer()) : result.affected();
}

struct Removed {
    int meters = 0;
    int returns = 0;
};

Removed read_removed(const Result& removed) {
    Row row(removed, 0);
    const int meters = row.small();
    return {meters, row.small()};
}

// While the rules do not change, so that a rule does not come back with half of its meters.
Removed remove_some_meters(Connection& connection) {
    const EntityKey rule = limit_key("");
    connection.begin();
    try {
        connection.send(sql::lock_seats);
        const Result removed =
            connection.ask(remove_meters, Params(rule.tenant, rule.kind, meters_at_once));
        connection.commit();
        return read_removed(removed);
    } catch (...) {
        connection.roll_back();
        throw;
    }
}

int remove_meters_of_no_rule(Connection& connection) {
    int rows = 0;
    for (;;) {
        const Removed removed = remove_some_meters(connection);
        rows += removed.meters + removed.returns;
        if (removed.meters < meters_at_once) return rows;
    }
}

}  // namespace

int LimitUpkeep::remove_what_rests(Connection& connection, Timestamp now) {
    if (mark_ && now < mark_->at + std::chrono::hours(1)) return 0;
    const Result seen = answer_at_once(connection, last_transaction, {});
    const Mark mark{.transaction = Row(seen, 0).integer(), .at = now};
    const std::optional<Mark> before = std::exchange(mark_, mark);
    if (!before) return 0;
    int rows = 0;
    for (Removed removed{.meters = meters_at_once}; removed.meters == meters_at_once;) {
        removed = read_removed(
            answer_at_once(connection, remove_rested,
                           Params(to_micros(now) * 1000, meters_at_once, before->transaction)));
        rows += removed.meters + removed.returns;
    }
    return rows + ask_at_once(connection, gather_old_returns,
                              Params(0, returns_at_once, before->transaction));
}

int LimitUpkeep::run(Connection& connection, Timestamp now) {
    int rows = remove_meters_of_no_rule(connection);
    rows += remove_what_rests(connection, now);
    rows += ask_at_once(connection, remove_hours, Params(first_hour_counted(now)));
    for (const Query& gather : {gather_returns, gather_sources, gather_hours}) {
        rows += ask_at_once(connection, gather, Params(now));
    }
    return rows;
}

}  // namespace sluice::postgres
