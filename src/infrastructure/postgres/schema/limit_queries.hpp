#pragma once

#include "infrastructure/postgres/schema/query_text.hpp"
#include "infrastructure/postgres/schema/tables.hpp"

// Every statement about rules, meters and sources.
namespace sluice::postgres::sql {

// ── meters ──

// Meters that this node has not seen yet, in the order of their ids. Should a meter have lost its
// row and not what was returned to it, that is no room. The returns are locked, so that those are
// not counted that are removed with their meter at this moment.
inline constexpr auto add_meters =
    query("add_meters", "INSERT INTO meter (" + all_columns<tables::meter_table> + ") SELECT " +
                            all_columns<rows::meter_table, "u.@"> + R"sql(,
    u.taken + coalesce((SELECT sum(given)::int8 FROM (SELECT given FROM permit_return p
        WHERE p.meter = u.id FOR KEY SHARE) r), 0)
FROM unnest()sql" + all_columns<tables::meter_table, "$#::%[]"> +
                            ") u(" + all_columns<tables::meter_table> +
                            ") ORDER BY u.id ON CONFLICT DO NOTHING");
// Locks meters in the order of their ids, which come sorted, and reads them, with the latest
// cluster time. What was returned is read as of the beginning of the statement: it may lack what
// came back since, never have too much.
inline constexpr auto lock_meters_until = rows::FixedText(R"sql(
SELECT m.id, m.taken, m.full_at_ns, m.owed_until_ns, m.starts,
    coalesce((SELECT sum(given)::int8 FROM permit_return p WHERE p.meter = m.id), 0),
    (SELECT latest FROM clock)
FROM unnest($1::int8[]) u(id)
CROSS JOIN LATERAL (SELECT * FROM meter x WHERE x.id = u.id FOR UPDATE)sql");
inline constexpr auto lock_meters = query("lock_meters", lock_meters_until + ") m");
inline constexpr auto try_lock_meters =
    query("try_lock_meters", lock_meters_until + " SKIP LOCKED) m");
// What has come back by now.
inline constexpr Query find_returned{"find_returned", R"sql(
SELECT u.id, coalesce((SELECT sum(given)::int8 FROM permit_return p WHERE p.meter = u.id), 0)
FROM unnest($1::int8[]) u(id))sql"};
inline constexpr auto update_meters = query("update_meters", change_rows<tables::meter_table>);
// Rows of this committer alone.
inline constexpr auto return_permits =
    query("return_permits", insert_sorted<tables::permit_return_table> +
                                " ON CONFLICT (meter, seat) DO UPDATE SET given = "
                                "permit_return.given + excluded.given");
inline constexpr Query read_meters{"read_meters", R"sql(
SELECT u.id, m.taken, m.full_at_ns, m.owed_until_ns, m.starts,
    coalesce((SELECT sum(given)::int8 FROM permit_return p WHERE p.meter = u.id), 0)
FROM unnest($1::int8[]) u(id)
LEFT JOIN LATERAL (SELECT * FROM meter x WHERE x.id = u.id OFFSET 0) m ON true)sql"};

// ── a change of the rules ──

// Committers that open a store at once take their seats one after the other, and none takes one
// while the rules change: the number is any constant.
inline constexpr Query lock_seats{
    "lock_seats", "SELECT pg_advisory_xact_lock(7310001, hashtext(current_schema()))"};
inline constexpr Query lock_meters_of{"lock_meters_of", R"sql(
SELECT FROM meter WHERE rule = ANY($1::text[]) ORDER BY id FOR UPDATE)sql"};
// Waits for every session that is about to commit; those that come later see the new version.
inline constexpr Query lock_all_seats{"lock_all_seats",
                                      "SELECT FROM seat ORDER BY number FOR UPDATE"};
inline constexpr Query set_rules{"set_rules", "UPDATE seat SET rules = $1::int8"};
inline constexpr Query newest_rules{"newest_rules", "SELECT max(rules) FROM seat"};
// Leases by lane: tenant, queue, type, count, source. Those of before there was a column for the
// lane are counted by their jobs.
inline constexpr auto leases_by_lane = rows::FixedText(R"sql(
SELECT n.tenant, n.queue, n.type, b.leases, coalesce(n.source, '')
FROM by_lane b CROSS JOIN LATERAL (SELECT * FROM lane x WHERE x.id = b.lane OFFSET 0) n
UNION ALL
SELECT j.tenant, j.queue, j.type, count(*), coalesce(j.source, '')
FROM lease l CROSS JOIN LATERAL (SELECT * FROM job x WHERE x.id = l.id OFFSET 0) j
WHERE l.lane IS NULL AND EXISTS (SELECT FROM by_lane WHERE lane IS NULL)
GROUP BY j.tenant, j.queue, j.type, j.source)sql");
inline constexpr auto with_leases = rows::FixedText(R"sql(
WITH by_lane AS MATERIALIZED (SELECT lane, count(*) AS leases FROM lease GROUP BY lane))sql");
inline constexpr auto count_leases = query("count_leases", with_leases + leases_by_lane);
inline constexpr Query meters_of{"meters_of", R"sql(
SELECT m.id, m.rule, m.name, m.full_at_ns, m.owed_until_ns, m.starts, m.taken,
    coalesce((SELECT sum(given)::int8 FROM permit_return p WHERE p.meter = m.id), 0)
FROM meter m WHERE rule = ANY($1::text[]) ORDER BY id)sql"};
// Meters and leases of one moment: either a meter, as its id, rule, name and what is active by it,
// or 0 and leases by lane.
inline constexpr auto compare_meters = query("compare_meters", with_leases + R"sql(
SELECT m.id, m.rule, m.name, '', m.taken
    - coalesce((SELECT sum(given)::int8 FROM permit_return p WHERE p.meter = m.id), 0),
    NULL FROM meter m
UNION ALL
SELECT 0, l.* FROM ()sql" + leases_by_lane + ") l");

// ── lanes, for people ──

inline constexpr auto lanes_now =
    query("lanes_now", "SELECT " + read_columns<tables::lane_table, "n.@"> + R"sql(, r.count
FROM lane n CROSS JOIN LATERAL (SELECT count(*) FROM (
    SELECT FROM ready WHERE ready.lane = n.id LIMIT $1::int8) few) r
WHERE r.count > 0)sql");

// ── sources ──

inline constexpr auto put_sources =
    query("put_sources", insert_sorted<tables::source_table> + R"sql(
ON CONFLICT (tenant, source, seat) DO UPDATE SET
    last_job_at = greatest(source.last_job_at, excluded.last_job_at))sql");
inline constexpr auto add_to_source_hours =
    query("add_to_source_hours", insert_sorted<tables::source_hour_table> + R"sql(
ON CONFLICT (tenant, source, hour, seat) DO UPDATE SET
    submitted = source_hour.submitted + excluded.submitted,
    succeeded = source_hour.succeeded + excluded.succeeded,
    failed = source_hour.failed + excluded.failed)sql");
inline constexpr Query sum_up_sources{"sum_up_sources", R"sql(
SELECT s.tenant, s.source, s.at, coalesce(h.submitted, 0), coalesce(h.succeeded, 0),
    coalesce(h.failed, 0)
FROM (SELECT tenant, source, max(last_job_at) AS at FROM source
      WHERE $2::text = '' OR tenant = $2::text GROUP BY tenant, source) s
LEFT JOIN LATERAL (SELECT sum(submitted)::int8 AS submitted, sum(succeeded)::int8 AS succeeded,
        sum(failed)::int8 AS failed FROM source_hour x
    WHERE x.tenant = s.tenant AND x.source = s.source AND x.hour >= $1::int8) h ON true
ORDER BY s.tenant, s.source)sql"};
inline constexpr Query find_source{"find_source", R"sql(
SELECT EXISTS (SELECT FROM source WHERE tenant = $1::text AND source = $2::text))sql"};
inline constexpr Query sources_of_tenant{"sources_of_tenant", R"sql(
SELECT count(*) FROM (SELECT FROM source WHERE tenant = $1::text GROUP BY source) s)sql"};
// Those of which nothing was counted since the hour $1, and that have no job before the time $2;
// and no job that waits or is leased.
inline constexpr Query find_silent_sources{"find_silent_sources", R"sql(
WITH silent AS MATERIALIZED (
    SELECT tenant, source FROM source s GROUP BY tenant, source
    HAVING coalesce(max(last_job_at), 0) < $2::int8 AND NOT EXISTS (
        SELECT FROM source_hour h
        WHERE h.tenant = s.tenant AND h.source = s.source AND h.hour >= $1::int8)),
used AS MATERIALIZED (SELECT lane FROM timed UNION SELECT lane FROM parked
    UNION SELECT lane FROM blocker UNION SELECT lane FROM lease WHERE lane IS NOT NULL)
SELECT tenant, source FROM silent s
WHERE NOT EXISTS (SELECT FROM lane n WHERE n.tenant = s.tenant AND n.source = s.source AND (
        EXISTS (SELECT FROM ready WHERE ready.lane = n.id) OR n.id IN (SELECT lane FROM used)))
    AND NOT EXISTS (SELECT FROM lease l JOIN job j ON j.id = l.id
        WHERE l.lane IS NULL AND j.tenant = s.tenant AND j.source = s.source)
ORDER BY tenant, source)sql"};
// Rows of sessions that count a job at this moment stay.
inline constexpr Query forget_sources{"forget_sources", R"sql(
DELETE FROM source WHERE ctid = ANY(ARRAY(
    SELECT s.ctid FROM unnest($1::text[], $2::text[]) u(tenant, source)
    CROSS JOIN LATERAL (SELECT ctid FROM source x
        WHERE x.tenant = u.tenant AND x.source = u.source AND coalesce(last_job_at, 0) < $3::int8
        FOR UPDATE SKIP LOCKED) s)))sql"};

}  // namespace sluice::postgres::sql
