#include "infrastructure/postgres/store/postgres_archive.hpp"

#include <algorithm>
#include <unordered_set>

namespace sluice::postgres {
namespace {

// The count is asked for only where a job has many rows; an EXISTS could be planned as a walk
// through the whole table.
constexpr Query list_ended{"list_ended", R"sql(
SELECT d.id, d.state::int4, d.completed_at, d.event_seq + d.log_seq,
    CASE WHEN d.event_seq + d.log_seq > $4::int8
        THEN (SELECT count(*) FROM job j WHERE j.id = d.id) = 0 ELSE false END
FROM done d
WHERE d.id > $1::int8 AND d.id < $2::int8
    AND NOT EXISTS (SELECT FROM lease l WHERE l.id = d.id)
ORDER BY d.id LIMIT $3::int8)sql"};

// A submit locks the rows of the jobs that its job depends on. A locked row is passed over, so that
// this never waits in the middle of a session.
constexpr Query lock_ended{"lock_ended", R"sql(
SELECT j.id FROM job j WHERE j.id = ANY($1::int8[]) ORDER BY j.id
FOR UPDATE SKIP LOCKED)sql"};

// Asked once they are locked: a job that depends on them by now is seen. A job leaves
// open_dependency with its end; the look into done is for a job whose row no longer tells its
// dependencies.
constexpr Query find_needed{"find_needed", R"sql(
SELECT o.depends_on FROM open_dependency o WHERE o.depends_on = ANY($1::int8[])
    AND NOT EXISTS (SELECT FROM done d WHERE d.id = o.job_id)
UNION ALL
SELECT j.id FROM job j
JOIN idempotency i ON i.tenant = j.tenant AND i.key = j.idempotency_key
WHERE j.id = ANY($1::int8[]) AND j.idempotency_key IS NOT NULL
    AND strpos(',' || i.jobs || ',', ',' || j.id || ',') > 0)sql"};

constexpr Query remove_lines{"remove_lines", "DELETE FROM log WHERE job_id = ANY($1::int8[])"};
constexpr Query remove_events{"remove_events", "DELETE FROM event WHERE job_id = ANY($1::int8[])"};
constexpr Query remove_done{"remove_done", "DELETE FROM done WHERE id = ANY($1::int8[])"};
constexpr Query remove_jobs{"remove_jobs", "DELETE FROM job WHERE id = ANY($1::int8[])"};

constexpr Query remove_some_lines{"remove_some_lines", R"sql(
DELETE FROM log WHERE job_id = $1::int8
    AND seq < (SELECT min(seq) FROM log WHERE job_id = $1::int8) + $2::int8)sql"};
constexpr Query has_line{"has_line", "SELECT EXISTS (SELECT FROM log WHERE job_id = $1::int8)"};

std::vector<JobId> ids_of(const Result& result) {
    std::vector<JobId> ids;
    for (int i = 0; i < result.rows(); ++i) ids.push_back(JobId{Row(result, i).integer()});
    return ids;
}

}  // namespace

std::vector<EndedJob> PostgresArchive::ended(JobId after, JobId before, int limit) {
    before = std::min(before, work_.cluster.thinned_below.load());
    std::vector<EndedJob> found;
    if (before <= after) return found;
    work_.writes.flush();
    const Result rows = work_.connection.ask(
        list_ended, Params(after, before, std::int64_t{std::max(limit, 0)}, rows_at_once));
    for (int i = 0; i < rows.rows(); ++i) {
        Row row(rows, i);
        EndedJob& job = found.emplace_back();
        job.id = JobId{row.integer()};
        job.state = row.one_of(JobState::succeeded, JobState::timed_out, JobState::failed, "state");
        job.completed_at = row.time();
        job.rows = row.integer();
        job.is_rest = row.flag();
    }
    return found;
}

std::vector<JobId> PostgresArchive::unneeded(std::span<const JobId> ids) {
    work_.writes.flush();
    std::vector<JobId> locked = ids_of(
        work_.connection.ask(lock_ended, Params(std::vector<JobId>(ids.begin(), ids.end()))));
    if (locked.empty()) return locked;
    const std::vector<JobId> found = ids_of(work_.connection.ask(find_needed, Params(locked)));
    const std::unordered_set<JobId> needed(found.begin(), found.end());
    std::erase_if(locked, [&](JobId id) { return needed.contains(id); });
    return locked;
}

void PostgresArchive::remove(std::span<const JobId> ids) {
    work_.writes.flush();
    const std::vector<JobId> gone(ids.begin(), ids.end());
    for (const Query& query : {remove_lines, remove_events, remove_done, remove_jobs}) {
        work_.connection.send(query, Params(gone));
    }
    work_.writes.note_written();
}

bool PostgresArchive::remove_part(JobId id) {
    work_.writes.flush();
    work_.writes.note_written();
    const std::vector<JobId> gone{id};
    for (const Query& query : {remove_jobs, remove_events}) {
        work_.connection.send(query, Params(gone));
    }
    work_.connection.send(remove_some_lines, Params(id, rows_at_once));
    const Result left = work_.connection.ask(has_line, Params(id));
    if (Row(left, 0).flag()) return false;
    work_.connection.send(remove_done, Params(gone));
    return true;
}

}  // namespace sluice::postgres
