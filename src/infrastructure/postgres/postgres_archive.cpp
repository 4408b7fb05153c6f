#include "infrastructure/postgres/postgres_archive.hpp"

#include <algorithm>
#include <unordered_set>

namespace sluice::postgres {
namespace {

constexpr Query list_ended{"list_ended", R"sql(
SELECT d.id, d.state::int4, d.completed_at, d.event_seq + d.log_seq FROM done d
WHERE d.id > $1::int8 AND d.id < $2::int8
    AND NOT EXISTS (SELECT FROM lease l WHERE l.id = d.id)
ORDER BY d.id LIMIT $3::int8)sql"};

// Whoever submits a job locks the rows of what it depends on. A row that is locked is passed over,
// so that this never waits in the middle of a session.
constexpr Query lock_ended{"lock_ended", R"sql(
SELECT j.id FROM job j WHERE j.id = ANY($1::int8[]) ORDER BY j.id
FOR UPDATE SKIP LOCKED)sql"};

// Asked once they are locked: whoever depends on them by now is seen. Text is compared with text,
// since a row that was damaged may hold any.
constexpr Query find_needed{"find_needed", R"sql(
SELECT u.id FROM job j JOIN unnest($1::int8[]) u(id)
    ON u.id::text = ANY(string_to_array(j.depends_on, ','))
WHERE j.depends_on IS NOT NULL AND string_to_array(j.depends_on, ',') && ($1::int8[])::text[]
    AND NOT EXISTS (SELECT FROM done d WHERE d.id = j.id)
UNION
SELECT j.id FROM job j
JOIN idempotency i ON i.tenant = j.tenant AND i.key = j.idempotency_key
WHERE j.id = ANY($1::int8[]) AND j.idempotency_key IS NOT NULL
    AND strpos(',' || i.jobs || ',', ',' || j.id || ',') > 0)sql"};

constexpr Query deletes[] = {
    {"remove_lines", "DELETE FROM log WHERE job_id = ANY($1::int8[])"},
    {"remove_events", "DELETE FROM event WHERE job_id = ANY($1::int8[])"},
    {"remove_done", "DELETE FROM done WHERE id = ANY($1::int8[])"},
    {"remove_jobs", "DELETE FROM job WHERE id = ANY($1::int8[])"},
};

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
    const Result rows =
        work_.connection.ask(list_ended, Params(after, before, std::int64_t{std::max(limit, 0)}));
    for (int i = 0; i < rows.rows(); ++i) {
        Row row(rows, i);
        EndedJob& job = found.emplace_back();
        job.id = JobId{row.integer()};
        job.state = row.one_of(JobState::succeeded, JobState::timed_out, JobState::failed, "state");
        job.completed_at = row.time();
        job.rows = row.integer();
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
    for (const Query& query : deletes) work_.connection.send(query, Params(gone));
    work_.writes.note_written();
}

}  // namespace sluice::postgres
