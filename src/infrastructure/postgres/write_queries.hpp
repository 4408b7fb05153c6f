#pragma once

#include "infrastructure/postgres/connection.hpp"
#include "infrastructure/postgres/row_columns.hpp"

// Every text with which the session writes, locks or takes. Rows come as one array per column.
//
// Rows are locked in the order of their ids, so that committers that meet wait for each other in
// turn; the ids come sorted. No statement joins an array with a table: statistics that were taken
// while a queue was empty would have the planner walk the table for each element. LATERAL, ON
// CONFLICT and = ANY leave it no choice but the index. Arrays that are only inserted stand in the
// list of a SELECT, which streams them; in FROM each would be stored first.
namespace sluice::postgres::sql {

// ── reserve ──
inline constexpr Query lock_jobs{"lock_jobs", R"sql(
SELECT FROM unnest($1::int8[]) u(id)
CROSS JOIN LATERAL (SELECT FROM job j WHERE j.id = u.id FOR NO KEY UPDATE) locked)sql"};
inline constexpr Query lock_ready{"lock_ready", R"sql(
SELECT u.id FROM unnest($1::int8[], $2::int4[], $3::int8[]) u(lane, priority, id)
CROSS JOIN LATERAL (SELECT FROM ready r WHERE r.lane = u.lane
                    AND r.priority = u.priority AND r.id = u.id FOR UPDATE) locked)sql"};
inline constexpr Query lock_leases{"lock_leases",
                                   "SELECT l.id, l.has_ended, " SLUICE_LEASE_COLUMNS R"sql(
FROM unnest($1::int8[]) u(id)
CROSS JOIN LATERAL (SELECT * FROM lease x WHERE x.id = u.id FOR UPDATE) l)sql"};
inline constexpr Query find_blockers{
    "find_blockers", "SELECT depends_on, job_id FROM blocker WHERE depends_on = ANY($1::int8[])"};
inline constexpr Query lock_requests{"lock_requests", R"sql(
SELECT i.tenant, i.key, i.at, i.body_digest, i.jobs
FROM unnest($1::text[], $2::text[]) u(tenant, key)
CROSS JOIN LATERAL (SELECT * FROM idempotency x
                    WHERE x.tenant = u.tenant AND x.key = u.key FOR UPDATE) i)sql"};

// ── jobs ──
inline constexpr Query insert_jobs{"insert_jobs", R"sql(
INSERT INTO job (id, tenant, queue, type, priority, created_at, run_after, labels, site_id,
    node_id, exclusive_keys, depends_on, max_attempts, timeout, backoff, retry_on_timeout,
    run_despite_failure, project, entity_type, entity_id, source, correlation_id, replay_of,
    payload_digest, head_hash, payload, idempotency_key)
SELECT unnest($1::int8[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]),
    unnest($5::int4[]), unnest($6::int8[]), unnest($7::int8[]), unnest($8::text[]),
    unnest($9::text[]), unnest($10::text[]), unnest($11::text[]), unnest($12::text[]),
    unnest($13::int4[]), unnest($14::int8[]), unnest($15::text[]), unnest($16::bool[]),
    unnest($17::bool[]), unnest($18::text[]), unnest($19::text[]), unnest($20::text[]),
    unnest($21::text[]), unnest($22::text[]), unnest($23::int8[]), unnest($24::bytea[]),
    unnest($25::bytea[]), unnest($26::text[]), unnest($27::text[]))sql"};
inline constexpr Query insert_lanes{"insert_lanes", R"sql(
INSERT INTO lane (id, tenant, queue, type, labels)
SELECT unnest($1::int8[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]),
    unnest($5::text[]) ON CONFLICT DO NOTHING)sql"};
inline constexpr Query insert_ready{"insert_ready", R"sql(
INSERT INTO ready (lane, priority, id, keys)
SELECT unnest($1::int8[]), unnest($2::int4[]), unnest($3::int8[]), unnest($4::text[]))sql"};
inline constexpr Query insert_timed{"insert_timed", R"sql(
INSERT INTO timed (run_after, id, lane, priority, keys)
SELECT unnest($1::int8[]), unnest($2::int8[]), unnest($3::int8[]), unnest($4::int4[]),
    unnest($5::text[]))sql"};
inline constexpr Query insert_blockers{"insert_blockers", R"sql(
INSERT INTO blocker (depends_on, job_id, lane, nth)
SELECT unnest($1::int8[]), unnest($2::int8[]), unnest($3::int8[]), unnest($4::int4[]))sql"};

// What a queued job leaves behind, wherever it is.
inline constexpr Query delete_ready{"delete_ready", R"sql(
DELETE FROM ready WHERE ctid = ANY(ARRAY(
    SELECT x.ctid FROM unnest($1::int8[], $2::int4[], $3::int8[]) u(lane, priority, id)
    CROSS JOIN LATERAL (SELECT ctid FROM ready r WHERE r.lane = u.lane
                        AND r.priority = u.priority AND r.id = u.id OFFSET 0) x)))sql"};
inline constexpr Query delete_timed{"delete_timed", R"sql(
DELETE FROM timed WHERE ctid = ANY(ARRAY(
    SELECT x.ctid FROM unnest($1::int8[], $2::int8[]) u(run_after, id)
    CROSS JOIN LATERAL (SELECT ctid FROM timed t
                        WHERE t.run_after = u.run_after AND t.id = u.id OFFSET 0) x)))sql"};
inline constexpr Query delete_blockers{"delete_blockers",
                                       "DELETE FROM blocker WHERE job_id = ANY($1::int8[])"};
inline constexpr Query delete_parked{"delete_parked", R"sql(
DELETE FROM parked WHERE ctid = ANY(ARRAY(
    SELECT x.ctid FROM unnest($1::text[], $2::text[], $3::int8[], $4::int4[], $5::int8[])
        u(tenant, key, lane, priority, id)
    CROSS JOIN LATERAL (SELECT ctid FROM parked p
                        WHERE p.tenant = u.tenant AND p.key = u.key AND p.lane = u.lane
                        AND p.priority = u.priority AND p.id = u.id OFFSET 0) x)))sql"};

inline constexpr Query insert_requeued{
    "insert_requeued",
    "INSERT INTO requeued (id, started_at, " SLUICE_STANDING_COLUMNS("") ", token) "
    "SELECT unnest($1::int8[]), unnest($2::int8[]), unnest($3::int4[]), "
    "unnest($4::int8[]), unnest($5::int4[]), unnest($6::text[]), unnest($7::text[]), "
    "unnest($8::text[]), unnest($9::text[]), unnest($10::int8[]), unnest($11::int8[]), "
    "unnest($12::bytea[]), unnest($13::int8[])"};
inline constexpr Query delete_requeued{"delete_requeued",
                                       "DELETE FROM requeued WHERE id = ANY($1::int8[])"};

#define SLUICE_INSERT_DONE \
    "INSERT INTO done (id, state, started_at, completed_at, " \
    SLUICE_STANDING_COLUMNS("") ", project, type) " \
    "SELECT unnest($1::int8[]), unnest($2::int4[]), unnest($3::int8[]), " \
    "unnest($4::int8[]), unnest($5::int4[]), unnest($6::int8[]), unnest($7::int4[]), " \
    "unnest($8::text[]), unnest($9::text[]), unnest($10::text[]), unnest($11::text[]), " \
    "unnest($12::int8[]), unnest($13::int8[]), unnest($14::bytea[]), unnest($15::text[]), " \
    "unnest($16::text[])"
inline constexpr Query insert_done{"insert_done", SLUICE_INSERT_DONE};
// Only for a job whose lease outlived its end: what the lease knew last, once it is closed.
inline constexpr Query update_done{"update_done", SLUICE_INSERT_DONE R"sql(
ON CONFLICT (id) DO UPDATE SET progress = excluded.progress, message = excluded.message,
    log_seq = excluded.log_seq, event_seq = excluded.event_seq,
    head_hash = excluded.head_hash)sql"};
#undef SLUICE_INSERT_DONE

// ── leases ──
#define SLUICE_INSERT_LEASES \
    "INSERT INTO lease (id, token, worker_id, since, until, term, stop_requested, " \
    "client_seq, batch_mark, " SLUICE_STANDING_COLUMNS("") ", deadline, has_ended) " \
    "SELECT unnest($1::int8[]), unnest($2::int8[]), unnest($3::text[]), " \
    "unnest($4::int8[]), unnest($5::int8[]), unnest($6::int8[]), unnest($7::bool[]), " \
    "unnest($8::int8[]), unnest($9::int8[]), unnest($10::int4[]), unnest($11::int8[]), " \
    "unnest($12::int4[]), unnest($13::text[]), unnest($14::text[]), " \
    "unnest($15::text[]), unnest($16::text[]), unnest($17::int8[]), " \
    "unnest($18::int8[]), unnest($19::bytea[]), unnest($20::int8[]), " \
    "unnest($21::bool[])"
inline constexpr Query insert_leases{"insert_leases", SLUICE_INSERT_LEASES};
// The rows are there, and locked by this session.
inline constexpr Query update_leases{"update_leases", SLUICE_INSERT_LEASES R"sql(
ON CONFLICT (id) DO UPDATE SET until = excluded.until, term = excluded.term,
    stop_requested = excluded.stop_requested, client_seq = excluded.client_seq,
    batch_mark = excluded.batch_mark, progress = excluded.progress, message = excluded.message,
    log_seq = excluded.log_seq, event_seq = excluded.event_seq, head_hash = excluded.head_hash,
    deadline = excluded.deadline, has_ended = excluded.has_ended
WHERE lease.token = excluded.token)sql"};
#undef SLUICE_INSERT_LEASES
inline constexpr Query delete_leases{"delete_leases",
                                     "DELETE FROM lease WHERE id = ANY($1::int8[])"};
// What is locked is being dealt with, by a heartbeat or by who ends the job.
inline constexpr Query extend_leases{"extend_leases", R"sql(
UPDATE lease SET until = greatest(until, least(until + $1::int8, $2::int8 + term))
WHERE id IN (SELECT id FROM lease FOR UPDATE SKIP LOCKED))sql"};
// No lease runs out while nobody has the duty: then the database was away, or all nodes were, and
// no worker could renew its lease. Who takes the duty gives them that time back (tick.cpp).
inline constexpr Query find_expired{"find_expired", R"sql(
SELECT id FROM lease WHERE until <= $1::int8
    AND EXISTS (SELECT FROM duty WHERE name = 'watch'
                AND (owner = 0 OR until > now() - interval '4 seconds'))
ORDER BY until, id LIMIT $2::int4 FOR UPDATE OF lease SKIP LOCKED)sql"};
inline constexpr Query find_overdue{"find_overdue", R"sql(
SELECT id FROM lease WHERE deadline <= $1::int8 ORDER BY deadline, id LIMIT $2::int4
FOR UPDATE SKIP LOCKED)sql"};
inline constexpr Query next_lease_moments{"next_lease_moments",
                                          "SELECT least(min(until), min(deadline)) FROM lease"};

// ── the queue ──
// What somebody else has locked is passed over.
inline constexpr Query take{"take",
                            "SELECT p.place, p.lane, p.priority, p.keys, " SLUICE_JOB_COLUMNS
                            ", " SLUICE_REQUEUED_COLUMNS
                            R"sql(, r.token
FROM (SELECT q.place, q.lane, q.priority, q.id, q.keys
      FROM unnest($1::int8[]) n(lane)
      CROSS JOIN LATERAL (SELECT ctid AS place, lane, priority, id, keys FROM ready
                          WHERE ready.lane = n.lane ORDER BY priority DESC, id LIMIT $2::int4
                          FOR UPDATE SKIP LOCKED) q
      ORDER BY q.priority DESC, q.id LIMIT $2::int4) p
CROSS JOIN LATERAL (SELECT * FROM job x WHERE x.id = p.id OFFSET 0) j
LEFT JOIN LATERAL (SELECT * FROM requeued x WHERE x.id = p.id OFFSET 0) r ON true
ORDER BY p.priority DESC, p.id)sql"};
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
inline constexpr Query hold_keys{"hold_keys", R"sql(
INSERT INTO held (tenant, key, job_id)
SELECT * FROM unnest($1::text[], $2::text[], $3::int8[]) u(tenant, key, job_id)
ORDER BY u.tenant, u.key
ON CONFLICT DO NOTHING RETURNING job_id, key)sql"};
inline constexpr Query let_keys_go{"let_keys_go", R"sql(
DELETE FROM held WHERE ctid = ANY(ARRAY(
    SELECT x.ctid FROM unnest($1::text[], $2::text[]) u(tenant, key)
    CROSS JOIN LATERAL (SELECT ctid FROM held h
                        WHERE h.tenant = u.tenant AND h.key = u.key OFFSET 0) x)))sql"};
// Somebody who is about to free one of these is waited for; then it is not returned.
inline constexpr Query lock_held{"lock_held", R"sql(
SELECT u.tenant, u.key FROM unnest($1::text[], $2::text[]) u(tenant, key)
CROSS JOIN LATERAL (SELECT FROM held h
                    WHERE h.tenant = u.tenant AND h.key = u.key FOR KEY SHARE) locked)sql"};
inline constexpr Query park{"park", R"sql(
INSERT INTO parked (tenant, key, lane, priority, id, keys)
SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::int8[]), unnest($4::int4[]),
    unnest($5::int8[]), unnest($6::text[]))sql"};
inline constexpr Query free_keys{
    "free_keys", "DELETE FROM held WHERE job_id = ANY($1::int8[]) RETURNING tenant, key"};
// For each of these keys that nobody holds, the first of each lane that waits for it.
inline constexpr Query promote_parked{"promote_parked", R"sql(
WITH first AS (
    SELECT p.place FROM unnest($1::text[], $2::text[]) k(tenant, key)
    CROSS JOIN LATERAL (SELECT id FROM lane n WHERE n.tenant = k.tenant OFFSET 0) l
    CROSS JOIN LATERAL (SELECT w.ctid AS place FROM parked w
        CROSS JOIN LATERAL (SELECT FROM job x WHERE x.id = w.id FOR NO KEY UPDATE) j
        WHERE w.tenant = k.tenant AND w.key = k.key AND w.lane = l.id
        ORDER BY w.priority DESC, w.id LIMIT 1 FOR UPDATE OF w) p
    WHERE NOT EXISTS (SELECT FROM held h WHERE h.tenant = k.tenant AND h.key = k.key)),
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
inline constexpr Query insert_events{"insert_events", R"sql(
INSERT INTO event (job_id, seq, step, from_state, to_state, attempt, lease, at, log_seq,
    actor, detail, hash)
SELECT unnest($1::int8[]), unnest($2::int8[]), unnest($3::int4[]), unnest($4::int4[]),
    unnest($5::int4[]), unnest($6::int4[]), unnest($7::int8[]), unnest($8::int8[]),
    unnest($9::int8[]), unnest($10::text[]), unnest($11::text[]), unnest($12::bytea[]))sql"};
inline constexpr Query insert_lines{"insert_lines", R"sql(
INSERT INTO log (job_id, seq, attempt, level, at, event_seq, message, data)
SELECT unnest($1::int8[]), unnest($2::int8[]), unnest($3::int4[]), unnest($4::int4[]),
    unnest($5::int8[]), unnest($6::int8[]), unnest($7::text[]), unnest($8::text[]))sql"};

// ── idempotency keys ──
inline constexpr Query insert_requests{"insert_requests", R"sql(
INSERT INTO idempotency (tenant, key, at, body_digest, jobs)
SELECT * FROM unnest($1::text[], $2::text[], $3::int8[], $4::bytea[], $5::text[])
    u(tenant, key, at, body_digest, jobs)
ORDER BY u.tenant, u.key)sql"};
inline constexpr Query put_requests{"put_requests", R"sql(
INSERT INTO idempotency (tenant, key, at, body_digest, jobs)
SELECT * FROM unnest($1::text[], $2::text[], $3::int8[], $4::bytea[], $5::text[])
    u(tenant, key, at, body_digest, jobs)
ORDER BY u.tenant, u.key
ON CONFLICT (tenant, key) DO UPDATE
SET at = excluded.at, body_digest = excluded.body_digest, jobs = excluded.jobs)sql"};
inline constexpr Query forget_requests{"forget_requests", R"sql(
DELETE FROM idempotency WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM idempotency WHERE at < $1::int8 ORDER BY at LIMIT $2::int4
    FOR UPDATE SKIP LOCKED)))sql"};

// ── entities ──
#define SLUICE_INSERT_ENTITIES                                                                  \
    "INSERT INTO entity (tenant, kind, id, number, parent, state, revision, created_at, "       \
    "updated_at, attributes) "                                                                  \
    "SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[], $5::text[], "         \
    "$6::text[], $7::int8[], $8::int8[], $9::int8[], $10::text[]) "                             \
    "u(tenant, kind, id, number, parent, state, revision, created_at, updated_at, attributes) " \
    "ORDER BY u.tenant, u.kind, u.id"
inline constexpr Query insert_entities{"insert_entities", SLUICE_INSERT_ENTITIES};
// The rows are there, and locked by this session.
inline constexpr Query update_entities{"update_entities", SLUICE_INSERT_ENTITIES R"sql(
ON CONFLICT (tenant, kind, id) DO UPDATE SET parent = excluded.parent, state = excluded.state,
    revision = excluded.revision, updated_at = excluded.updated_at,
    attributes = excluded.attributes)sql"};
#undef SLUICE_INSERT_ENTITIES
inline constexpr Query insert_entity_events{"insert_entity_events", R"sql(
INSERT INTO entity_event (tenant, kind, id, seq, at, action, from_state, to_state, actor,
    job, detail)
SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::text[]), unnest($4::int8[]),
    unnest($5::int8[]), unnest($6::text[]), unnest($7::text[]), unnest($8::text[]),
    unnest($9::text[]), unnest($10::int8[]), unnest($11::text[]))sql"};

// ── the commit ──
// Fails (division by zero), and the commit with it, when another node has taken the seat, or when
// the commit was given up for lost and shut out. To commit is a sign of life, too: the tick passes
// over seats that are signed at that moment.
inline constexpr Query sign{"sign", R"sql(
WITH signed AS (UPDATE seat SET commits = $3::int8, last_id = greatest(last_id, $4::int8),
        until = greatest(until, now() + interval '2 minutes')
    WHERE number = $1::int4 AND owner = $2::int8 AND commits = $3::int8 - 1 RETURNING 1)
SELECT 1 / count(*) FROM signed)sql"};
inline constexpr std::string_view seat_is_taken = "22012";
// For a commit after the count $3 whose answer was lost: one that has not signed by now never can,
// since its session, which may still be on its way, finds another count. To ask again does no harm.
inline constexpr Query settle{"settle", R"sql(
UPDATE seat SET commits = CASE commits WHEN $3::int8 THEN $3::int8 + 2 ELSE commits END
WHERE number = $1::int4 AND owner = $2::int8 RETURNING commits)sql"};

}  // namespace sluice::postgres::sql
