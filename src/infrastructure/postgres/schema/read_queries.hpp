#pragma once

#include "infrastructure/postgres/schema/query_text.hpp"
#include "infrastructure/postgres/schema/tables.hpp"

// Every query that only reads jobs.
//
// Where a statement looks rows up one by one, OFFSET 0 keeps the planner from making a join of it,
// which could read whole windows. Bounds of ids are given twice where two tables are meant, since
// the planner leaves out windows only by the bounds of each table.
//
// Statements without a name are planned each time, with their values: that costs a millisecond, but
// leaves out most windows, and never keeps a plan that was made when a table was empty.
namespace sluice::postgres::sql {

// One row for each id, in their order. $2 and $3 are the least and the greatest of the ids.
inline constexpr auto find_jobs =
    query("", "SELECT " + read_columns<tables::job_table, "j.@"> + ", " +
                  read_columns<tables::requeued_table, "r.@"> + ", " +
                  read_columns<tables::done_table, "d.@"> + ", " +
                  read_columns<tables::lease_table, "l.@"> + R"sql(
FROM unnest($1::int8[]) WITH ORDINALITY AS wanted (id, nth)
LEFT JOIN LATERAL (SELECT * FROM job x
    WHERE x.id = wanted.id AND x.id >= $2::int8 AND x.id <= $3::int8 OFFSET 0) j ON true
LEFT JOIN LATERAL (SELECT * FROM requeued x WHERE x.id = wanted.id OFFSET 0) r ON true
LEFT JOIN LATERAL (SELECT * FROM done x
    WHERE x.id = wanted.id AND x.id >= $2::int8 AND x.id <= $3::int8 OFFSET 0) d ON true
LEFT JOIN LATERAL (SELECT * FROM lease x WHERE x.id = wanted.id OFFSET 0) l ON true
ORDER BY wanted.nth)sql");
inline constexpr auto find_specs =
    query("", "SELECT " + read_columns<tables::job_table> + " FROM job WHERE id = ANY($1::int8[])");

inline constexpr auto list_events =
    query("list_events",
          "SELECT " + read_columns<tables::event_table> +
              " FROM event WHERE job_id = $1::int8 AND seq > $2::int8 ORDER BY seq LIMIT $3::int8");
inline constexpr auto list_lines =
    query("list_lines",
          "SELECT " + read_columns<tables::log_table> +
              " FROM log WHERE job_id = $1::int8 AND seq > $2::int8 ORDER BY seq LIMIT $3::int8");
inline constexpr Query list_ids_after{
    "", "SELECT id FROM job WHERE id > $1::int8 ORDER BY id LIMIT $2::int8"};

// Planned each time: it reads all of the queue, however long it is.
inline constexpr auto count_depths =
    query("", "SELECT " + read_columns<tables::lane_table, "n.@"> + R"sql(, sum(counted.jobs)::int8
FROM (
    SELECT lane, count(*) AS jobs FROM ready GROUP BY lane
    UNION ALL SELECT lane, count(*) FROM timed GROUP BY lane
    UNION ALL SELECT lane, count(*) FROM parked GROUP BY lane
    UNION ALL SELECT lane, count(*) FROM blocker WHERE nth = 0 GROUP BY lane) counted
JOIN lane n ON n.id = counted.lane GROUP BY n.id)sql");

// ── lists: a beginning, any of the conditions, an end; see list_query.cpp ──

// $1 is the bound above the ids, $2 the least id, $3 how many. {} stands for the number of the
// condition's own parameter.

// The id that ends the range of newest jobs that is worth a walk; nothing when there are fewer.
inline constexpr Query find_end_of_newest{"", R"sql(
SELECT id FROM job WHERE id < $1::int8 AND id >= $2::int8
ORDER BY id DESC OFFSET $3::int8 LIMIT 1)sql"};

inline constexpr char list_from_jobs[] =
    "SELECT j.id FROM job j WHERE j.id < $1::int8 AND j.id >= $2::int8";
inline constexpr char newest_jobs_first[] = " ORDER BY j.id DESC";

inline constexpr char list_from_leases[] = R"sql(
SELECT l.id FROM lease l CROSS JOIN LATERAL (SELECT FROM job j
    WHERE j.id = l.id AND j.id < $1::int8 AND j.id >= $2::int8)sql";
inline constexpr char among_leases[] = " OFFSET 0) x WHERE l.id < $1::int8 AND l.id >= $2::int8";
inline constexpr char is_worker[] = " AND l.worker_id = ${}::text";
inline constexpr char newest_leases_first[] = " ORDER BY l.id DESC";

inline constexpr char list_from_done[] = R"sql(
SELECT d.id FROM done d CROSS JOIN LATERAL (SELECT FROM job j
    WHERE j.id = d.id AND j.id < $1::int8 AND j.id >= $2::int8)sql";
inline constexpr char among_done[] = " OFFSET 0) x WHERE d.id < $1::int8 AND d.id >= $2::int8";
inline constexpr char is_unsuccessful[] = " AND d.state <> 2";
inline constexpr char is_in_states[] = " AND d.state = ANY(${}::int8[])";
inline constexpr char newest_done_first[] = " ORDER BY d.id DESC";

// The jobs of one type in one project that ended in one state; several states are merged.
inline constexpr char is_done_of_project[] = " AND d.project = ${}::text";
inline constexpr char is_done_of_type[] = " AND d.type = ${}::text";
inline constexpr char is_done_in_state[] = " AND d.state = ${}::int8";
inline constexpr char is_success_for[] =
    " AND d.state = 2 AND -d.id > -$1::int8 AND d.success_for = ${}::text";
// Only the index of this condition has this order (migration 0011), and so no other is walked.
inline constexpr char newest_successes_first[] = " ORDER BY -d.id";
inline constexpr char is_before_in_entity[] = " AND -j.id > -$1::int8";
inline constexpr char newest_of_entity_first[] = " ORDER BY -j.id";
inline constexpr char begin_parts[] = "SELECT p.id FROM ((";
inline constexpr char next_part[] = ") UNION ALL (";
inline constexpr char end_parts[] = ")) p";
inline constexpr char newest_of_parts_first[] = " ORDER BY p.id DESC";

// A queued job is in exactly one of four tables, and each of them knows its lane. The order within
// the inner SELECT lets the outer one stop after a page.
inline constexpr char begin_lanes[] =
    "WITH lanes AS (SELECT ARRAY(SELECT n.id FROM lane n WHERE true";
inline constexpr char is_lane_of_tenant[] = " AND n.tenant = ${}::text";
inline constexpr char is_lane_of_queue[] = " AND n.queue = ${}::text";
inline constexpr char is_lane_of_type[] = " AND n.type = ${}::text";
inline constexpr char list_from_queue[] = R"sql() AS ids)
SELECT q.id FROM (
    SELECT id FROM ready
    WHERE lane = ANY((SELECT ids FROM lanes)::int8[]) AND id < $1::int8 AND id >= $2::int8
    UNION ALL SELECT id FROM timed
    WHERE lane = ANY((SELECT ids FROM lanes)::int8[]) AND id < $1::int8 AND id >= $2::int8
    UNION ALL SELECT id FROM parked
    WHERE lane = ANY((SELECT ids FROM lanes)::int8[]) AND id < $1::int8 AND id >= $2::int8
    UNION ALL SELECT job_id FROM blocker
    WHERE lane = ANY((SELECT ids FROM lanes)::int8[]) AND nth = 0
        AND job_id < $1::int8 AND job_id >= $2::int8)sql";
inline constexpr char and_from_leases[] = R"sql(
    UNION ALL SELECT id FROM lease
    WHERE NOT has_ended AND id < $1::int8 AND id >= $2::int8)sql";
inline constexpr char look_at_jobs[] = R"sql(
    ORDER BY 1 DESC) q CROSS JOIN LATERAL (SELECT FROM job j
    WHERE j.id = q.id AND j.id < $1::int8 AND j.id >= $2::int8)sql";
inline constexpr char among_queued[] = " OFFSET 0) x";
inline constexpr char newest_queued_first[] = " ORDER BY q.id DESC";

inline constexpr char limited[] = " LIMIT $3::int8";
inline constexpr char without_the_first[] = " OFFSET ${}::int8";
inline constexpr char begin_count[] = "SELECT count(*) FROM (";
inline constexpr char end_count[] = ") counted";

// Conditions that lists leave to JobFilter::accepts. Numbers as in JobState: a job that has not
// ended is 0, queued, or 1, running.
inline constexpr char is_exactly_in_states[] = R"sql(
AND coalesce((SELECT s.state FROM done s
              WHERE s.id = j.id AND s.id < $1::int8 AND s.id >= $2::int8),
             (SELECT 1 FROM lease s WHERE s.id = j.id), 0) = ANY(${}::int8[]))sql";
inline constexpr char is_run_by_worker[] = R"sql(
AND EXISTS (SELECT FROM lease w WHERE w.id = j.id AND w.worker_id = ${}::text OFFSET 0))sql";

inline constexpr char is_unfinished[] = R"sql(
AND NOT EXISTS (SELECT FROM done d
    WHERE d.id = j.id AND d.id < $1::int8 AND d.id >= $2::int8 OFFSET 0))sql";
inline constexpr char has_ended_in_states[] = R"sql(
AND EXISTS (SELECT FROM done d
    WHERE d.id = j.id AND d.id < $1::int8 AND d.id >= $2::int8
        AND d.state = ANY(${}::int8[]) OFFSET 0))sql";
inline constexpr char is_default_tenant[] = " AND j.tenant = ${}::text";
inline constexpr char is_other_tenant[] = " AND j.tenant <> 'default' AND j.tenant = ${}::text";
inline constexpr char is_type[] = " AND j.type = ${}::text";
inline constexpr char is_queue[] = " AND j.queue = ${}::text";
inline constexpr char is_project[] = " AND j.project = ${}::text";
inline constexpr char is_entity_type[] = " AND j.entity_type = ${}::text";
inline constexpr char is_entity_id[] = " AND j.entity_id = ${}::text";
inline constexpr char is_site_id[] = " AND j.site_id = ${}::text";
inline constexpr char is_node_id[] = " AND j.node_id = ${}::text";
inline constexpr char is_correlation_id[] = " AND j.correlation_id = ${}::text";
inline constexpr char is_source[] = " AND j.source = ${}::text";
inline constexpr char may_have_label[] = " AND strpos(j.labels, ${}::text) > 0";
inline constexpr char is_replay_of[] = " AND j.replay_of = ${}::int8";
inline constexpr char is_created_from[] = " AND j.created_at >= ${}::int8";
inline constexpr char is_created_before[] = " AND j.created_at < ${}::int8";

}  // namespace sluice::postgres::sql
