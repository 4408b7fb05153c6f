#pragma once

#include "infrastructure/sql/sql_text.hpp"
#include "infrastructure/sqlite/database/tables.hpp"

// Every SQL text of the store. Values are bound in the order of their placeholders. The texts of
// inserts of several rows end with their columns; see insert.hpp.
namespace sluice::sqlite::sql {

using rows::all_columns;
using rows::changing_columns;
using rows::key_columns;
using rows::read_columns;
using rows::table_name;

// Columns of tables, under the names that statements give to these: j for job, r for requeued, d
// for done, l for lease.
inline constexpr auto queue_columns = read_columns<tables::queue_table, "j.@">;
inline constexpr auto job_columns = read_columns<tables::job_table, "j.@">;
inline constexpr auto requeued_columns = read_columns<tables::requeued_table, "r.@">;
inline constexpr auto done_columns = read_columns<tables::done_table, "d.@">;
inline constexpr auto lease_columns = read_columns<tables::lease_table, "l.@">;

template <const auto& table>
inline constexpr auto insert_into =
    "INSERT OR ROLLBACK INTO " + table_name<table> + " (" + all_columns<table> + ")";
template <const auto& table>
inline constexpr auto is_row = key_columns<table, "@ = ?", " AND ">;
template <const auto& table>
inline constexpr auto update_row = "UPDATE " + table_name<table> + " SET " +
                                   changing_columns<table, "@ = ?"> + " WHERE " + is_row<table>;
template <const auto& table>
inline constexpr auto select_from = "SELECT " + read_columns<table> + " FROM " + table_name<table>;

// ── jobs ──
inline constexpr auto insert_job = insert_into<tables::job_table>;

inline constexpr auto insert_dependency = insert_into<tables::dependency_table>;
inline constexpr char list_dependencies[] =
    "SELECT depends_on FROM dependency WHERE job_id = ? ORDER BY depends_on";
inline constexpr char has_open_dependency[] = R"sql(
SELECT 1 FROM dependency p
WHERE p.job_id = ? AND NOT EXISTS (SELECT 1 FROM done d WHERE d.id = p.depends_on) LIMIT 1)sql";

inline constexpr auto find_job =
    "SELECT " + job_columns + ", " + requeued_columns + ", " + done_columns + ", " + lease_columns +
    " FROM job j LEFT JOIN requeued r ON r.id = j.id LEFT JOIN lease l ON l.id = j.id"
    " LEFT JOIN done d ON d.id = j.id WHERE j.id = ?";
inline constexpr auto find_queued_job =
    "SELECT " + job_columns + ", " + requeued_columns +
    " FROM job j LEFT JOIN requeued r ON r.id = j.id WHERE j.id = ?";
inline constexpr auto walk_queued_jobs = "SELECT " + job_columns + ", " + requeued_columns +
                                         " FROM job j LEFT JOIN requeued r ON r.id = j.id"
                                         " WHERE j.id BETWEEN ? AND ? ORDER BY j.id LIMIT ?";
// The last column tells whether the job has ended; then the row in done has the rest.
inline constexpr auto find_leased_job = "SELECT " + job_columns + ", " + lease_columns +
                                        ", d.state FROM job j CROSS JOIN lease l ON l.id = j.id"
                                        " LEFT JOIN done d ON d.id = j.id WHERE j.id = ?";

inline constexpr char ids_after[] = "SELECT id FROM job WHERE id > ? ORDER BY id LIMIT ?";

// ── standing of jobs ──
inline constexpr auto insert_requeued = insert_into<tables::requeued_table>;
inline constexpr char delete_requeued[] = "DELETE FROM requeued WHERE id = ?";

inline constexpr auto insert_lease = insert_into<tables::lease_table>;
inline constexpr auto update_lease = update_row<tables::lease_table>;
inline constexpr char delete_lease[] = "DELETE FROM lease WHERE id = ?";

inline constexpr auto insert_done = insert_into<tables::done_table>;
// Only for a job whose lease outlived its end: the last values of the lease, once it is closed.
inline constexpr auto update_done = update_row<tables::done_table>;

// Only for jobs that have a project.
inline constexpr auto insert_unfinished = insert_into<tables::unfinished_table> + " VALUES (" +
                                          all_columns<tables::unfinished_table, "?"> + ")";
inline constexpr auto delete_unfinished =
    "DELETE FROM unfinished WHERE " + is_row<tables::unfinished_table>;
// Reads all rows.
inline constexpr char delete_unfinished_by_id[] = "DELETE FROM unfinished WHERE id = ?";

// ── history ──
inline constexpr auto insert_event = insert_into<tables::event_table>;
inline constexpr auto list_events =
    select_from<tables::event_table> + " WHERE job_id = ? AND seq > ? ORDER BY seq LIMIT ?";
inline constexpr auto insert_line = insert_into<tables::log_table>;
inline constexpr auto list_lines =
    select_from<tables::log_table> + " WHERE job_id = ? AND seq > ? ORDER BY seq LIMIT ?";

// ── removal of ended jobs ──
inline constexpr char list_ended[] = R"sql(
SELECT d.id, d.state, d.completed_at, d.event_seq + d.log_seq,
    d.event_seq + d.log_seq > ? AND NOT EXISTS (SELECT 1 FROM job j WHERE j.id = d.id) FROM done d
WHERE d.id > ? AND d.id < ? AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.id = d.id)
ORDER BY d.id LIMIT ?)sql";
inline constexpr char has_open_dependent[] = R"sql(
SELECT 1 FROM dependency w WHERE w.depends_on = ?
    AND NOT EXISTS (SELECT 1 FROM done d WHERE d.id = w.job_id))sql";
inline constexpr char has_key[] = R"sql(
SELECT 1 FROM job j CROSS JOIN idempotency i ON i.tenant = j.tenant AND i.key = j.idempotency_key
WHERE j.id = ? AND j.idempotency_key IS NOT NULL
    AND instr(',' || i.jobs || ',', ',' || j.id || ',') > 0)sql";
inline constexpr char delete_lines[] = "DELETE FROM log WHERE job_id = ?";
inline constexpr char delete_some_lines[] = R"sql(
DELETE FROM log WHERE job_id = ?
    AND seq < (SELECT min(seq) FROM log WHERE job_id = ?) + ?)sql";
inline constexpr char has_line[] = "SELECT 1 FROM log WHERE job_id = ? LIMIT 1";
inline constexpr char delete_events[] = "DELETE FROM event WHERE job_id = ?";
inline constexpr char delete_dependencies[] = "DELETE FROM dependency WHERE job_id = ?";
inline constexpr char delete_done[] = "DELETE FROM done WHERE id = ?";
inline constexpr char delete_job[] = "DELETE FROM job WHERE id = ?";

// ── backlog of duties ──
inline constexpr char count_deadlines[] = R"sql(
SELECT count(*) FROM lease l CROSS JOIN job j ON j.id = l.id
WHERE j.timeout > 0 AND l.since + j.timeout <= ? AND NOT l.stop_requested
    AND NOT EXISTS (SELECT 1 FROM done d WHERE d.id = l.id))sql";
inline constexpr char count_expired[] = "SELECT count(*) FROM lease WHERE until <= ?";
inline constexpr char count_requests[] = "SELECT count(*) FROM idempotency WHERE at < ?";
inline constexpr char count_old_jobs[] = R"sql(
SELECT count(*) FROM (SELECT 1 FROM done WHERE id < ? AND completed_at <
    CASE state WHEN 2 THEN ? WHEN 3 THEN ? WHEN 4 THEN ? WHEN 5 THEN ? END LIMIT ?))sql";

// ── entities ──
inline constexpr auto find_entity =
    select_from<tables::entity_table> + " WHERE " + is_row<tables::entity_table>;
inline constexpr auto put_entity =
    "INSERT INTO entity (" + all_columns<tables::entity_table> + ") VALUES (" +
    all_columns<tables::entity_table, "?"> + ") ON CONFLICT (" + key_columns<tables::entity_table> +
    ") DO UPDATE SET " + changing_columns<tables::entity_table, "@ = excluded.@">;
inline constexpr auto insert_entity_event = insert_into<tables::entity_event_table>;
inline constexpr auto list_entity_events =
    select_from<tables::entity_event_table> +
    " WHERE tenant = ? AND kind = ? AND id = ? AND seq > ? ORDER BY seq LIMIT ?";

// Any of the conditions; see entity_queries.cpp.
inline constexpr auto list_entities = select_from<tables::entity_table> + " WHERE number < ?";
inline constexpr char count_entities[] = "SELECT count(*) FROM entity WHERE true";
inline constexpr char is_tenant_of_entity[] = " AND tenant = ?";
inline constexpr char is_kind_of_entity[] = " AND kind = ?";
inline constexpr char is_parent_of_entity[] = " AND parent = ?";
inline constexpr char is_entity_in_states[] = " AND state IN (";
inline constexpr char newest_entities_first[] = " ORDER BY number DESC LIMIT ? OFFSET ?";

// ── idempotency keys ──
inline constexpr auto find_request =
    select_from<tables::request_table> + " WHERE " + is_row<tables::request_table>;
inline constexpr auto put_request = "INSERT OR REPLACE INTO idempotency (" +
                                    all_columns<tables::request_table> + ") VALUES (" +
                                    all_columns<tables::request_table, "?"> + ")";
inline constexpr auto list_requests = select_from<tables::request_table> +
                                      " WHERE (tenant, key) > (?, ?) ORDER BY tenant, key LIMIT ?";
inline constexpr char forget_requests[] = R"sql(
DELETE FROM idempotency WHERE (tenant, key) IN
    (SELECT tenant, key FROM idempotency WHERE at < ? ORDER BY at LIMIT ?))sql";

// ── time given back to leases ──
inline constexpr char extend_leases[] =
    "UPDATE lease SET until = max(until, min(until + ?, ? + term))";
inline constexpr char list_lease_ends[] = "SELECT id, until FROM lease";

// ── the start, and the marks that keep it short ──
inline constexpr char renew_leases[] = "UPDATE lease SET until = ? + term";
// CROSS JOIN fixes the order of the loops: leases are few, jobs are many.
inline constexpr auto list_leases =
    "SELECT " + queue_columns +
    ", j.timeout, l.since, l.until, l.stop_requested, "
    "EXISTS (SELECT 1 FROM done d WHERE d.id = l.id) FROM lease l CROSS JOIN job j ON j.id = l.id";
// Outer joins, since NOT EXISTS would open its table anew for each of a million rows. Leased jobs
// are among the result.
inline constexpr auto list_unfinished =
    "SELECT " + queue_columns +
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
// The successes of jobs of one type about one entity.
inline constexpr char list_from_successes[] =
    "SELECT d.id FROM done d INDEXED BY done_success CROSS JOIN job j ON j.id = d.id "
    "WHERE d.id < ? AND d.success_for = ? AND d.type = ?";
// All jobs of one type about one entity.
inline constexpr char list_from_jobs_of_entity[] =
    "SELECT j.id FROM job j INDEXED BY job_of_entity WHERE j.id < ?";
inline constexpr char or_else[] = " UNION ALL ";
inline constexpr char is_unfinished[] =
    " AND j.id >= (SELECT value FROM meta WHERE key = 'low_water')"
    " AND NOT EXISTS (SELECT 1 FROM done d WHERE d.id = j.id)";
inline constexpr char is_default_tenant[] = " AND j.tenant = ?";
inline constexpr char is_other_tenant[] = " AND j.tenant <> 'default' AND j.tenant = ?";
inline constexpr char is_type[] = " AND j.type = ?";
inline constexpr char is_queue[] = " AND j.queue = ?";
inline constexpr char is_project[] = " AND j.project = ?";
// The plus keeps the planner from the index of this column: jobs are found by another field.
inline constexpr char is_also_project[] = " AND +j.project = ?";
inline constexpr char is_also_type[] = " AND +j.type = ?";
inline constexpr char is_entity_type[] = " AND j.entity_type = ?";
inline constexpr char is_entity_id[] = " AND j.entity_id = ?";
inline constexpr char is_site_id[] = " AND j.site_id = ?";
inline constexpr char is_node_id[] = " AND j.node_id = ?";
inline constexpr char is_correlation_id[] = " AND j.correlation_id = ?";
inline constexpr char is_source[] = " AND j.source = ?";
inline constexpr char is_worker[] =
    " AND EXISTS (SELECT 1 FROM lease w WHERE w.id = j.id AND w.worker_id = ?)";
// Numbers as in JobState: a job that has not ended is 0, queued, or 1, running.
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

// ── limits ──
inline constexpr auto list_leased_lanes =
    "SELECT " + queue_columns + " FROM lease l CROSS JOIN job j ON j.id = l.id";
inline constexpr auto list_meters = select_from<tables::meter_table>;
inline constexpr auto find_meter = select_from<tables::meter_table> + " WHERE id = ?";
inline constexpr auto put_meter = "INSERT INTO meter (" + all_columns<tables::meter_table> +
                                  ") VALUES (" + all_columns<tables::meter_table, "?"> +
                                  ") ON CONFLICT (id) DO UPDATE SET " +
                                  changing_columns<tables::meter_table, "@ = excluded.@">;
inline constexpr char delete_meter[] = "DELETE FROM meter WHERE id = ?";
// Those whose buckets are full, and whose last start was more than an hour ago if starts count.
inline constexpr char delete_rested_meters[] = R"sql(
DELETE FROM meter WHERE full_at_ns <= ?1 AND owed_until_ns <= ?1
    AND (starts IS NULL OR full_at_ns <= ?1 - 3660 * 1000000000))sql";

inline constexpr auto put_source = "INSERT INTO source (" + all_columns<tables::source_table> +
                                   ") VALUES (" + all_columns<tables::source_table, "?"> +
                                   ") ON CONFLICT (tenant, source) DO UPDATE SET "
                                   "last_job_at = coalesce(max(last_job_at, excluded.last_job_at),"
                                   " excluded.last_job_at, last_job_at)";
inline constexpr auto add_to_source_hour =
    "INSERT INTO source_hour (" + all_columns<tables::source_hour_table> + ") VALUES (" +
    all_columns<tables::source_hour_table, "?"> +
    ") ON CONFLICT (tenant, source, hour) DO UPDATE SET " +
    changing_columns<tables::source_hour_table, "@ = @ + excluded.@">;
inline constexpr char forget_source_hours[] = "DELETE FROM source_hour WHERE hour < ?";
inline constexpr char list_silent_sources[] = R"sql(
SELECT tenant, source FROM source s WHERE (last_job_at IS NULL OR last_job_at < ?2)
    AND NOT EXISTS (SELECT 1 FROM source_hour h
                    WHERE h.tenant = s.tenant AND h.source = s.source AND h.hour >= ?1))sql";
inline constexpr char forget_source[] = "DELETE FROM source WHERE tenant = ? AND source = ?";
inline constexpr char find_source[] = "SELECT 1 FROM source WHERE tenant = ? AND source = ?";
inline constexpr char count_sources[] = "SELECT count(*) FROM source WHERE tenant = ?";
inline constexpr char sum_up_sources[] = R"sql(
SELECT s.tenant, s.source, s.last_job_at,
    coalesce(sum(h.submitted), 0), coalesce(sum(h.succeeded), 0), coalesce(sum(h.failed), 0)
FROM source s
LEFT JOIN source_hour h ON h.tenant = s.tenant AND h.source = s.source AND h.hour >= ?1
WHERE ?2 = '' OR s.tenant = ?2
GROUP BY s.tenant, s.source ORDER BY s.tenant, s.source)sql";
inline constexpr auto list_sources = select_from<tables::source_table> + " ORDER BY tenant, source";
inline constexpr auto list_source_hours =
    select_from<tables::source_hour_table> + " ORDER BY tenant, source, hour";

// ── migrations ──
inline constexpr char find_migration_table[] =
    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'";
inline constexpr char find_foreign_table[] = R"sql(
SELECT 1 FROM sqlite_schema WHERE type = 'table'
    AND NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'))sql";
inline constexpr char create_migration_table[] = R"sql(
CREATE TABLE IF NOT EXISTS migration (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL))sql";
inline constexpr char list_migrations[] =
    "SELECT number, name, checksum, applied_at FROM migration ORDER BY number";
inline constexpr char insert_migration[] =
    "INSERT INTO migration (number, name, checksum, applied_at) VALUES (?,?,?,?)";

}  // namespace sluice::sqlite::sql
