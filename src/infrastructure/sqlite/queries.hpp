#pragma once

// Every SQL text of the store. Values are bound in the order of their placeholders. The texts of
// inserts end with their columns; see insert.hpp.
namespace sluice::sqlite::sql {

// Column lists that several statements share, as macros since literals are joined by the compiler.
// The standing of a job: how it stands beside what was asked for.
#define SLUICE_STANDING(t)                                                        \
    t "attempt, " t "run_after, " t "progress, " t "message, " t "error_code, " t \
      "error_message, " t "result, " t "log_seq, " t "event_seq, " t "head_hash"
#define SLUICE_QUEUE_SPEC                                                                \
    "j.id, j.tenant, j.queue, j.type, j.priority, j.created_at, j.run_after, j.labels, " \
    "j.site_id, j.node_id, j.exclusive_keys, j.dependencies"
#define SLUICE_SPEC                                                                       \
    SLUICE_QUEUE_SPEC                                                                     \
    ", j.max_attempts, j.timeout, j.backoff, j.retry_on_timeout, j.run_despite_failure, " \
    "j.project, j.entity_type, j.entity_id, j.source, j.correlation_id, j.replay_of, "    \
    "j.payload_digest, j.head_hash, j.payload, j.idempotency_key"
#define SLUICE_REQUEUED "r.id, r.started_at, " SLUICE_STANDING("r.")
#define SLUICE_LEASE                                                                   \
    "l.token, l.worker_id, l.since, l.until, l.term, l.stop_requested, l.client_seq, " \
    "l.batch_mark, " SLUICE_STANDING("l.")
#define SLUICE_DONE "d.state, d.started_at, d.completed_at, " SLUICE_STANDING("d.")

// ── jobs ──
inline constexpr char insert_job[] = R"sql(
INSERT OR ROLLBACK INTO job (id, tenant, queue, type, priority, created_at, run_after, labels,
    site_id, node_id, exclusive_keys, dependencies, max_attempts, timeout, backoff,
    retry_on_timeout, run_despite_failure, project, entity_type, entity_id, source,
    correlation_id, replay_of, payload_digest, head_hash, payload, idempotency_key))sql";

inline constexpr char insert_dependency[] =
    "INSERT OR ROLLBACK INTO dependency (job_id, depends_on)";
inline constexpr char list_dependencies[] =
    "SELECT depends_on FROM dependency WHERE job_id = ? ORDER BY depends_on";
inline constexpr char has_open_dependency[] = R"sql(
SELECT 1 FROM dependency p
WHERE p.job_id = ? AND NOT EXISTS (SELECT 1 FROM done d WHERE d.id = p.depends_on) LIMIT 1)sql";

inline constexpr char find_job[] =
    "SELECT " SLUICE_SPEC ", " SLUICE_REQUEUED ", " SLUICE_DONE ", " SLUICE_LEASE
    " FROM job j LEFT JOIN requeued r ON r.id = j.id LEFT JOIN lease l ON l.id = j.id"
    " LEFT JOIN done d ON d.id = j.id WHERE j.id = ?";
inline constexpr char find_queued_job[] =
    "SELECT " SLUICE_SPEC ", " SLUICE_REQUEUED
    " FROM job j LEFT JOIN requeued r ON r.id = j.id WHERE j.id = ?";
// The last column tells whether the job has ended; then this is not all there is to know of it.
inline constexpr char find_leased_job[] = "SELECT " SLUICE_SPEC ", " SLUICE_LEASE
                                          ", d.state FROM job j CROSS JOIN lease l ON l.id = j.id"
                                          " LEFT JOIN done d ON d.id = j.id WHERE j.id = ?";

inline constexpr char ids_after[] = "SELECT id FROM job WHERE id > ? ORDER BY id LIMIT ?";

// ── how jobs stand ──
inline constexpr char insert_requeued[] =
    "INSERT OR ROLLBACK INTO requeued (id, started_at, " SLUICE_STANDING("") ")";
inline constexpr char delete_requeued[] = "DELETE FROM requeued WHERE id = ?";

inline constexpr char insert_lease[] =
    "INSERT OR ROLLBACK INTO lease (id, token, worker_id, since, until, term, stop_requested, "
    "client_seq, batch_mark, " SLUICE_STANDING("") ")";
inline constexpr char update_lease[] = R"sql(
UPDATE lease SET until = ?, term = ?, stop_requested = ?, client_seq = ?, batch_mark = ?,
    progress = ?, message = ?, log_seq = ?, event_seq = ?, head_hash = ?
WHERE id = ? AND token = ?)sql";
inline constexpr char delete_lease[] = "DELETE FROM lease WHERE id = ?";

inline constexpr char insert_done[] =
    "INSERT OR ROLLBACK INTO done (id, state, started_at, completed_at, " SLUICE_STANDING(
        "") ", project, type)";
// Only for a job whose lease outlived its end: what the lease knew last, once it is closed.
inline constexpr char update_done[] = R"sql(
UPDATE done SET progress = ?, message = ?, log_seq = ?, event_seq = ?, head_hash = ?
WHERE id = ?)sql";

// Only for jobs that have a project.
inline constexpr char insert_unfinished[] =
    "INSERT OR ROLLBACK INTO unfinished (project, type, id) VALUES (?,?,?)";
inline constexpr char delete_unfinished[] =
    "DELETE FROM unfinished WHERE project = ? AND type = ? AND id = ?";
// Looks at all of them.
inline constexpr char delete_unfinished_by_id[] = "DELETE FROM unfinished WHERE id = ?";

// ── history ──
inline constexpr char insert_event[] = R"sql(
INSERT OR ROLLBACK INTO event (job_id, seq, step, from_state, to_state, attempt, lease, at, log_seq,
    actor, detail, hash))sql";
inline constexpr char list_events[] = R"sql(
SELECT seq, step, from_state, to_state, attempt, lease, at, log_seq, actor, detail, hash
FROM event WHERE job_id = ? AND seq > ? ORDER BY seq LIMIT ?)sql";
inline constexpr char insert_line[] = R"sql(
INSERT OR ROLLBACK INTO log (job_id, seq, attempt, level, at, event_seq, message, data))sql";
inline constexpr char list_lines[] = R"sql(
SELECT seq, attempt, level, at, event_seq, message, data
FROM log WHERE job_id = ? AND seq > ? ORDER BY seq LIMIT ?)sql";

// ── entities ──
#define SLUICE_ENTITY \
    "tenant, kind, id, number, parent, state, revision, created_at, updated_at, attributes"
inline constexpr char find_entity[] =
    "SELECT " SLUICE_ENTITY " FROM entity WHERE tenant = ? AND kind = ? AND id = ?";
// The number and created_at of one that is there stay.
inline constexpr char put_entity[] = "INSERT INTO entity (" SLUICE_ENTITY R"sql()
VALUES (?,?,?,?,?,?,?,?,?,?)
ON CONFLICT (tenant, kind, id) DO UPDATE SET
    parent = excluded.parent, state = excluded.state, revision = excluded.revision,
    updated_at = excluded.updated_at, attributes = excluded.attributes)sql";
inline constexpr char insert_entity_event[] = R"sql(
INSERT OR ROLLBACK INTO entity_event (tenant, kind, id, seq, at, action, from_state, to_state,
    actor, job, detail))sql";
inline constexpr char list_entity_events[] = R"sql(
SELECT seq, at, action, from_state, to_state, actor, job, detail
FROM entity_event WHERE tenant = ? AND kind = ? AND id = ? AND seq > ? ORDER BY seq LIMIT ?)sql";

// Any of the conditions; see entity_queries.cpp.
inline constexpr char list_entities[] = "SELECT " SLUICE_ENTITY " FROM entity WHERE number < ?";
inline constexpr char count_entities[] = "SELECT count(*) FROM entity WHERE true";
inline constexpr char is_tenant_of_entity[] = " AND tenant = ?";
inline constexpr char is_kind_of_entity[] = " AND kind = ?";
inline constexpr char is_parent_of_entity[] = " AND parent = ?";
inline constexpr char is_entity_in_states[] = " AND state IN (";
inline constexpr char newest_entities_first[] = " ORDER BY number DESC LIMIT ? OFFSET ?";

// ── idempotency keys ──
inline constexpr char find_request[] =
    "SELECT at, body_digest, jobs FROM idempotency WHERE tenant = ? AND key = ?";
inline constexpr char put_request[] =
    "INSERT OR REPLACE INTO idempotency (tenant, key, at, body_digest, jobs) VALUES (?,?,?,?,?)";
inline constexpr char list_requests[] = R"sql(
SELECT tenant, key, at, body_digest, jobs FROM idempotency
WHERE (tenant, key) > (?, ?) ORDER BY tenant, key LIMIT ?)sql";
inline constexpr char forget_requests[] = R"sql(
DELETE FROM idempotency WHERE (tenant, key) IN
    (SELECT tenant, key FROM idempotency WHERE at < ? ORDER BY at LIMIT ?))sql";

// ── what leases lost while nothing could be written ──
inline constexpr char extend_leases[] =
    "UPDATE lease SET until = max(until, min(until + ?, ? + term))";
inline constexpr char list_lease_ends[] = "SELECT id, until FROM lease";

// ── the start, and the marks that keep it short ──
inline constexpr char renew_leases[] = "UPDATE lease SET until = ? + term";
// CROSS JOIN fixes the order of the loops: leases are few, jobs are many.
inline constexpr char list_leases[] = "SELECT " SLUICE_QUEUE_SPEC
                                      ", j.timeout, l.token, l.since, l.until, l.stop_requested, "
                                      "EXISTS (SELECT 1 FROM done d WHERE d.id = l.id) "
                                      "FROM lease l CROSS JOIN job j ON j.id = l.id";
// Outer joins, since NOT EXISTS would open its table anew for each of a million rows. Those that
// are leased are among them.
inline constexpr char list_unfinished[] =
    "SELECT " SLUICE_QUEUE_SPEC
    ", r.id, r.run_after FROM job j LEFT JOIN done d ON d.id = j.id "
    "LEFT JOIN requeued r ON r.id = j.id WHERE j.id >= ? AND d.id IS NULL ORDER BY j.id";
inline constexpr char walk_from_low_water[] = R"sql(
SELECT j.id, d.id IS NOT NULL FROM job j LEFT JOIN done d ON d.id = j.id
WHERE j.id >= ? ORDER BY j.id LIMIT ?)sql";
inline constexpr char read_mark[] = "SELECT value FROM meta WHERE key = ?";
inline constexpr char write_mark[] = "UPDATE meta SET value = ? WHERE key = ?";

// ── lists: one driver, any of the conditions, one order; see job_queries.cpp ──
inline constexpr char list_from_jobs[] = "SELECT j.id FROM job j WHERE j.id < ?";
inline constexpr char list_from_leases[] =
    "SELECT j.id FROM lease l CROSS JOIN job j ON j.id = l.id WHERE l.id < ?";
inline constexpr char list_from_done[] =
    "SELECT j.id FROM done d CROSS JOIN job j ON j.id = d.id WHERE d.id < ?";
inline constexpr char list_from_unsuccessful[] =
    "SELECT j.id FROM done d INDEXED BY done_unsuccessful CROSS JOIN job j ON j.id = d.id "
    "WHERE d.state <> 2 AND d.id < ?";
// Jobs of one type in one project: those that ended in one state, and those that have not ended.
inline constexpr char list_from_ended_of_type[] =
    "SELECT d.id FROM done d INDEXED BY done_by_type CROSS JOIN job j ON j.id = d.id "
    "WHERE d.id < ? AND d.project = ? AND d.type = ? AND d.state = ?";
inline constexpr char list_from_unfinished_of_type[] =
    "SELECT u.id FROM unfinished u CROSS JOIN job j ON j.id = u.id "
    "WHERE u.id < ? AND u.project = ? AND u.type = ?";
inline constexpr char or_else[] = " UNION ALL ";
inline constexpr char is_unfinished[] =
    " AND j.id >= (SELECT value FROM meta WHERE key = 'low_water')"
    " AND NOT EXISTS (SELECT 1 FROM done d WHERE d.id = j.id)";
inline constexpr char is_default_tenant[] = " AND j.tenant = ?";
inline constexpr char is_other_tenant[] = " AND j.tenant <> 'default' AND j.tenant = ?";
inline constexpr char is_type[] = " AND j.type = ?";
inline constexpr char is_queue[] = " AND j.queue = ?";
inline constexpr char is_project[] = " AND j.project = ?";
// The plus keeps its index for jobs whose other fields have none.
inline constexpr char is_also_project[] = " AND +j.project = ?";
inline constexpr char is_entity_type[] = " AND j.entity_type = ?";
inline constexpr char is_entity_id[] = " AND j.entity_id = ?";
inline constexpr char is_site_id[] = " AND j.site_id = ?";
inline constexpr char is_node_id[] = " AND j.node_id = ?";
inline constexpr char is_correlation_id[] = " AND j.correlation_id = ?";
inline constexpr char is_worker[] =
    " AND EXISTS (SELECT 1 FROM lease w WHERE w.id = j.id AND w.worker_id = ?)";
// As JobState counts: a job that has not ended is 0, queued, or 1, running.
inline constexpr char is_in_states[] =
    " AND coalesce((SELECT s.state FROM done s WHERE s.id = j.id),"
    " EXISTS (SELECT 1 FROM lease s WHERE s.id = j.id)) IN (";
inline constexpr char may_have_label[] = " AND instr(j.labels, ?) > 0";
inline constexpr char is_replay_of[] = " AND j.replay_of = ?";
inline constexpr char is_from_id[] = " AND j.id >= ?";
inline constexpr char is_created_from[] = " AND j.created_at >= ?";
inline constexpr char is_created_before[] = " AND j.created_at < ?";
inline constexpr char newest_jobs_first[] = " ORDER BY j.id DESC LIMIT ?";
inline constexpr char newest_leases_first[] = " ORDER BY l.id DESC LIMIT ?";
inline constexpr char newest_done_first[] = " ORDER BY d.id DESC LIMIT ?";
inline constexpr char newest_first[] = " ORDER BY 1 DESC LIMIT ?";
inline constexpr char without_the_first[] = " OFFSET ?";
inline constexpr char begin_count[] = "SELECT count(*) FROM (";
inline constexpr char end_count[] = ")";

// ── migrations ──
inline constexpr char find_migration_table[] =
    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'";
inline constexpr char create_migration_table[] = R"sql(
CREATE TABLE IF NOT EXISTS migration (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL))sql";
inline constexpr char list_migrations[] =
    "SELECT number, name, checksum, applied_at FROM migration ORDER BY number";
inline constexpr char insert_migration[] =
    "INSERT INTO migration (number, name, checksum, applied_at) VALUES (?,?,?,?)";

#undef SLUICE_STANDING
#undef SLUICE_QUEUE_SPEC
#undef SLUICE_SPEC
#undef SLUICE_REQUEUED
#undef SLUICE_LEASE
#undef SLUICE_DONE
#undef SLUICE_ENTITY

}  // namespace sluice::sqlite::sql
