#pragma once

#include "infrastructure/postgres/schema/query_text.hpp"
#include "infrastructure/postgres/schema/tables.hpp"

// Every statement with which the session writes, locks or takes. Rows come as one array per column.
//
// Rows are locked in the order of their ids, so that committers that meet wait for each other in
// turn; the ids come sorted. No statement joins an array with a table: statistics that were taken
// while a queue was empty would have the planner walk the table for each element. LATERAL, ON
// CONFLICT and = ANY leave it no choice but the index. Arrays that are only inserted stand in the
// list of a SELECT, which streams them (query_text.hpp); in FROM each would be stored first.
namespace sluice::postgres::sql {

// ── reserve ──
inline constexpr Query lock_jobs{"lock_jobs", R"sql(
SELECT FROM unnest($1::int8[]) u(id)
CROSS JOIN LATERAL (SELECT FROM job j WHERE j.id = u.id FOR NO KEY UPDATE) locked)sql"};
// Locks those of these jobs that no other session has locked.
inline constexpr Query try_lock_jobs{"try_lock_jobs", R"sql(
SELECT u.id FROM unnest($1::int8[]) u(id)
CROSS JOIN LATERAL (SELECT FROM job j WHERE j.id = u.id
                    FOR NO KEY UPDATE SKIP LOCKED) locked)sql"};
inline constexpr auto lock_ready =
    query("lock_ready", "SELECT u.id FROM " + keys_as_u<tables::ready_table> +
                            " CROSS JOIN LATERAL (SELECT FROM ready x WHERE " +
                            x_is_u<tables::ready_table> + " FOR UPDATE) locked");
inline constexpr auto lock_leases = query(
    "lock_leases", "SELECT l.id, l.has_ended, " + read_columns<tables::lease_table, "l.@"> + R"sql(
FROM unnest($1::int8[]) u(id)
CROSS JOIN LATERAL (SELECT * FROM lease x WHERE x.id = u.id FOR UPDATE) l)sql");
inline constexpr Query find_blockers{
    "find_blockers", "SELECT depends_on, job_id FROM blocker WHERE depends_on = ANY($1::int8[])"};
inline constexpr auto lock_requests = query("lock_requests", lock_rows<tables::request_table>);

// ── jobs ──
inline constexpr auto insert_jobs = query("insert_jobs", insert_rows<tables::job_table>);
inline constexpr auto insert_lanes =
    query("insert_lanes", insert_rows<tables::lane_table> + " ON CONFLICT DO NOTHING");
inline constexpr auto insert_ready = query("insert_ready", insert_rows<tables::ready_table>);
inline constexpr auto insert_timed = query("insert_timed", insert_rows<tables::timed_table>);
inline constexpr auto insert_blockers =
    query("insert_blockers", insert_rows<tables::blocker_table>);
inline constexpr auto insert_dependencies =
    query("insert_dependencies", insert_rows<tables::open_dependency_table>);
inline constexpr auto delete_dependencies =
    query("delete_dependencies", delete_rows<tables::open_dependency_table>);

// Removes a queued job from the queue, whichever table it is in.
inline constexpr auto delete_ready = query("delete_ready", delete_rows<tables::ready_table>);
inline constexpr auto delete_timed = query("delete_timed", delete_rows<tables::timed_table>);
inline constexpr Query delete_blockers{"delete_blockers",
                                       "DELETE FROM blocker WHERE job_id = ANY($1::int8[])"};
inline constexpr auto delete_parked = query("delete_parked", delete_rows<tables::parked_table>);

inline constexpr auto insert_requeued =
    query("insert_requeued", insert_rows<tables::requeued_table>);
inline constexpr Query delete_requeued{"delete_requeued",
                                       "DELETE FROM requeued WHERE id = ANY($1::int8[])"};

inline constexpr auto insert_done = query("insert_done", insert_rows<tables::done_table>);
// Only for a job whose lease outlived its end: the last values of the lease, once it is closed.
inline constexpr auto update_done =
    query("update_done",
          insert_rows<tables::done_table> + " ON CONFLICT (id)" + or_change<tables::done_table>);

// ── leases ──
inline constexpr auto insert_leases = query("insert_leases", insert_rows<tables::lease_table>);
inline constexpr auto update_leases = query("update_leases", change_rows<tables::lease_table>);
inline constexpr Query delete_leases{"delete_leases",
                                     "DELETE FROM lease WHERE id = ANY($1::int8[])"};
// A lease that is locked is passed over: a heartbeat or the end of the job deals with it.
inline constexpr Query extend_leases{"extend_leases", R"sql(
UPDATE lease SET until = greatest(until, least(until + $1::int8, $2::int8 + term))
WHERE id IN (SELECT id FROM lease FOR UPDATE SKIP LOCKED))sql"};
// No lease runs out while no node has the duty: then the database was away, or all nodes were, and
// no worker could renew its lease. The node that takes the duty gives the leases that time back
// (tick.cpp). No deadline comes either: this node's idea of the time $3 may be wrong.
inline constexpr Query find_expired{"find_expired", R"sql(
SELECT id FROM lease WHERE until <= $1::int8
    AND EXISTS (SELECT FROM duty WHERE name = 'watch'
                AND (owner = 0 OR until > 'epoch'::timestamptz
                    + $3::int8 * interval '1 microsecond' - interval '4 seconds'))
ORDER BY until, id LIMIT $2::int4 FOR UPDATE OF lease SKIP LOCKED)sql"};
inline constexpr Query find_overdue{"find_overdue", R"sql(
SELECT id FROM lease WHERE deadline <= $1::int8
    AND EXISTS (SELECT FROM duty WHERE name = 'watch'
                AND (owner = 0 OR until > 'epoch'::timestamptz
                    + $3::int8 * interval '1 microsecond' - interval '4 seconds'))
ORDER BY deadline, id LIMIT $2::int4 FOR UPDATE OF lease SKIP LOCKED)sql"};
inline constexpr Query next_lease_moments{"next_lease_moments",
                                          "SELECT least(min(until), min(deadline)) FROM lease"};

// ── the queue ──

// The first jobs of these lanes; jobs that another session has locked are passed over.
inline constexpr auto first_ready = rows::FixedText(R"sql(
FROM (SELECT q.place, q.lane, q.priority, q.id, q.keys
      FROM unnest($1::int8[]) n(lane)
      CROSS JOIN LATERAL (SELECT ctid AS place, lane, priority, id, keys FROM ready
                          WHERE ready.lane = n.lane ORDER BY priority DESC, id LIMIT $2::int4
                          FOR UPDATE SKIP LOCKED) q
      ORDER BY q.priority DESC, q.id LIMIT $2::int4) p
LEFT JOIN LATERAL (SELECT * FROM requeued x WHERE x.id = p.id OFFSET 0) r ON true)sql");
inline constexpr auto in_claim_order = rows::FixedText(" ORDER BY p.priority DESC, p.id");
inline constexpr auto take = query(
    "take",
    "SELECT p.place, p.lane, p.priority, p.keys, p.id, " + read_columns<tables::job_table, "j.@"> +
        ", " + read_columns<tables::requeued_table, "r.@"> + ", r.token" + first_ready +
        " CROSS JOIN LATERAL (SELECT * FROM job x WHERE x.id = p.id OFFSET 0) j" + in_claim_order);
// The same without the jobs' own rows.
inline constexpr auto take_queue_rows =
    query("take_queue_rows", "SELECT p.place, p.lane, p.priority, p.keys, p.id, " +
                                 read_columns<tables::requeued_table, "r.@"> + ", r.token" +
                                 first_ready + in_claim_order);
inline constexpr Query find_ended{"find_ended", "SELECT id FROM done WHERE id = ANY($1::int8[])"};
inline constexpr Query delete_taken{"delete_taken",
                                    "DELETE FROM ready WHERE ctid = ANY($1::tid[])"};
inline constexpr Query promote_timed{"promote_timed", R"sql(
WITH due AS (DELETE FROM timed WHERE ctid = ANY(ARRAY(
        SELECT t.ctid FROM timed t
        CROSS JOIN LATERAL (SELECT FROM job x WHERE x.id = t.id
                            FOR NO KEY UPDATE SKIP LOCKED) j
        WHERE t.run_after <= $1::int8 ORDER BY t.run_after, t.id
        LIMIT $2::int4 FOR UPDATE OF t SKIP LOCKED))
    RETURNING lane, priority, id, keys),
added AS (INSERT INTO ready (lane, priority, id, keys)
    SELECT lane, priority, id, keys FROM due RETURNING lane)
SELECT lane, count(*) FROM added GROUP BY lane)sql"};
inline constexpr Query next_timed{"next_timed", "SELECT min(run_after) FROM timed"};

// ── keys ──
inline constexpr auto hold_keys =
    query("hold_keys",
          insert_sorted<tables::held_table> + " ON CONFLICT DO NOTHING RETURNING job_id, key");
inline constexpr auto let_keys_go = query("let_keys_go", delete_rows<tables::held_table>);
// Waits for a session that is about to free one of these keys; that key is then not returned.
inline constexpr auto lock_held =
    query("lock_held", "SELECT u.tenant, u.key FROM " + keys_as_u<tables::held_table> +
                           " CROSS JOIN LATERAL (SELECT FROM held x WHERE " +
                           x_is_u<tables::held_table> + " FOR KEY SHARE) locked");
inline constexpr auto park = query("park", insert_rows<tables::parked_table>);
// In the order of keys, as claims lock them, too. Waits for other sessions that are about to free
// one.
inline constexpr Query lock_keys{"lock_keys", R"sql(
SELECT FROM (SELECT * FROM (
    SELECT * FROM unnest($1::text[], $2::text[]) u(tenant, key)
    UNION SELECT tenant, key FROM held WHERE job_id = ANY($3::int8[])) wanted
    ORDER BY tenant COLLATE "C", key COLLATE "C") k
CROSS JOIN LATERAL (SELECT FROM held x WHERE x.tenant = k.tenant AND x.key = k.key
                    FOR UPDATE) locked)sql"};
inline constexpr Query free_keys{"free_keys", R"sql(
DELETE FROM held WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM held WHERE job_id = ANY($1::int8[])
    ORDER BY tenant COLLATE "C", key COLLATE "C" FOR UPDATE))
RETURNING tenant, key)sql"};
// For each of these keys that no job holds, the first job of each lane that waits for it. A job
// that another session has locked is passed over: that session looks after it
// (Work::look_after_keys_of).
inline constexpr Query promote_parked{"promote_parked", R"sql(
WITH first AS (
    SELECT p.place FROM (
        SELECT * FROM unnest($1::text[], $2::text[]) u(tenant, key)
        WHERE NOT EXISTS (SELECT FROM held h WHERE h.tenant = u.tenant AND h.key = u.key)
        OFFSET 0) k
    CROSS JOIN LATERAL (SELECT id FROM lane n WHERE n.tenant = k.tenant OFFSET 0) l
    CROSS JOIN LATERAL (SELECT w.ctid AS place FROM parked w
        CROSS JOIN LATERAL (SELECT FROM job x WHERE x.id = w.id
                            FOR NO KEY UPDATE SKIP LOCKED) j
        WHERE w.tenant = k.tenant AND w.key = k.key AND w.lane = l.id
        ORDER BY w.priority DESC, w.id LIMIT 1 FOR UPDATE OF w) p),
moved AS (DELETE FROM parked WHERE ctid = ANY(ARRAY(SELECT place FROM first))
    RETURNING lane, priority, id, keys),
added AS (INSERT INTO ready (lane, priority, id, keys)
    SELECT lane, priority, id, keys FROM moved RETURNING lane)
SELECT lane, count(*) FROM added GROUP BY lane)sql"};
inline constexpr Query find_holders{"find_holders", R"sql(
SELECT h.job_id FROM unnest($1::text[]) WITH ORDINALITY u(key, nth)
LEFT JOIN LATERAL (SELECT job_id FROM held x
                   WHERE x.tenant = $2::text AND x.key = u.key OFFSET 0) h ON true
ORDER BY u.nth)sql"};

// ── history ──
inline constexpr auto insert_events = query("insert_events", insert_rows<tables::event_table>);
inline constexpr auto insert_lines = query("insert_lines", insert_rows<tables::log_table>);

// ── idempotency keys ──
inline constexpr auto insert_requests =
    query("insert_requests", insert_sorted<tables::request_table>);
inline constexpr auto put_requests =
    query("put_requests", insert_sorted<tables::request_table> + " ON CONFLICT (" +
                              key_columns<tables::request_table> + ")" +
                              or_change<tables::request_table>);
inline constexpr Query forget_requests{"forget_requests", R"sql(
DELETE FROM idempotency WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM idempotency WHERE at < $1::int8 ORDER BY at LIMIT $2::int4
    FOR UPDATE SKIP LOCKED)))sql"};

// ── entities ──
inline constexpr auto insert_entities =
    query("insert_entities", insert_sorted<tables::entity_table>);
inline constexpr auto update_entities = query("update_entities", change_rows<tables::entity_table>);
inline constexpr auto insert_entity_events =
    query("insert_entity_events", insert_rows<tables::entity_event_table>);

// ── the commit ──

// Fails (division by zero), and the commit with it, when another node has taken the seat, or when
// the commit was given up for lost and shut out. Fails otherwise (logarithm of zero) when the
// session goes by rules that are older than those that the seat must know. To commit is a sign of
// life, too: the tick passes over seats that are signed at that moment.
inline constexpr Query sign{"sign", R"sql(
WITH signed AS (UPDATE seat SET commits = $3::int8, last_id = greatest(last_id, $4::int8),
        until = greatest(until, 'epoch'::timestamptz + $5::int8 * interval '1 microsecond'
            + interval '2 minutes')
    WHERE number = $1::int4 AND owner = $2::int8 AND commits = $3::int8 - 1 RETURNING rules)
SELECT 1 / count(*), ln(min((rules <= $6::int8)::int4)) FROM signed)sql"};
inline constexpr std::string_view seat_is_taken = "22012";
inline constexpr std::string_view rules_are_old = "2201E";
// For the commit after the count $3 whose answer was lost: if it has not signed by now it never
// can, since its session, which may still be at work, finds another count. To ask again does no
// harm.
inline constexpr Query settle{"settle", R"sql(
UPDATE seat SET commits = CASE commits WHEN $3::int8 THEN $3::int8 + 2 ELSE commits END
WHERE number = $1::int4 AND owner = $2::int8 RETURNING commits)sql"};

}  // namespace sluice::postgres::sql
