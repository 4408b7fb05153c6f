#include "infrastructure/sqlite/reading/job_queries.hpp"

#include <algorithm>

#include "domain/values/check.hpp"
#include "infrastructure/sql/job_rows.hpp"
#include "infrastructure/sql/list_filter.hpp"
#include "infrastructure/sql/list_walk.hpp"
#include "infrastructure/sqlite/database/queries.hpp"
#include "infrastructure/sqlite/reading/limit_queries.hpp"
#include "infrastructure/sqlite/reading/list_query.hpp"

namespace sluice::sqlite {
namespace {

// A filter that the driving query does not cover in full may reject candidates; a chunk that is too
// small then costs queries, and one that is too large reads jobs in vain.
constexpr int candidates_min = 32;
constexpr int candidates_max = 1000;

}  // namespace

JobQueries::JobQueries(sqlite3* connection, Moments moments, std::unique_ptr<LimitReader> limits)
    : connection_(connection),
      moments_(moments),
      entities_(connection, moments),
      limits_(limits ? std::move(limits)
                     : std::make_unique<LimitQueries>(connection, moments, entities_)),
      find_(connection, sql::find_job),
      find_queued_(connection, sql::find_queued_job),
      walk_queued_(connection, sql::walk_queued_jobs),
      find_leased_(connection, sql::find_leased_job),
      list_dependencies_(connection, sql::list_dependencies),
      list_events_(connection, sql::list_events),
      list_lines_(connection, sql::list_lines),
      ids_after_(connection, sql::ids_after) {}

void JobQueries::read_dependencies(JobSpec& spec, int count) {
    if (count == 0) return;
    const Reading reading(list_dependencies_.with(spec.id));
    while (list_dependencies_.next_row()) {
        spec.depends_on.push_back(JobId{list_dependencies_.integer(0)});
    }
}

// The job as it was when it was put.
Job JobQueries::read_submitted(Row& row) {
    JobSpec spec;
    Standing first;
    tables::DependencyCount dependencies;
    rows::read_row(row, tables::job_table, std::tie(spec, first, dependencies));
    read_dependencies(spec, dependencies.value);
    Job job = accepted(std::move(spec));
    job.now.head = {1, first.head.hash};
    return job;
}

std::optional<Job> JobQueries::read(JobId id) {
    const Reading reading(find_.with(id));
    if (!find_.next_row()) return std::nullopt;

    Row row(find_);
    Job job = read_submitted(row);
    read_requeued(row, job);
    read_done(row, job);
    read_lease(row, job);
    job.damage = row.damage();
    return job;
}

std::vector<std::optional<Job>> JobQueries::find(std::span<const JobId> ids) {
    std::vector<std::optional<Job>> jobs;
    jobs.reserve(ids.size());
    // One statement sees one moment anyway.
    const Moment moment(connection_, ids.size() == 1 ? Moments::of_transaction : moments_);
    for (const JobId id : ids) jobs.push_back(read(id));
    return jobs;
}

std::optional<Job> JobQueries::find_queued(JobId id) {
    const Reading reading(find_queued_.with(id));
    if (!find_queued_.next_row()) return std::nullopt;

    Row row(find_queued_);
    return read_queued(row);
}

Job JobQueries::read_queued(Row& row) {
    Job job = read_submitted(row);
    read_requeued(row, job);
    job.damage = row.damage();
    return job;
}

// Claims from a backlog take neighbours, which one walk reads for less than as many single reads.
// Rows between them are stepped over, as long as these are not more than the wanted ones.
std::vector<Job> JobQueries::find_queued(std::span<const JobId> sorted) {
    std::vector<Job> jobs;
    jobs.reserve(sorted.size());
    auto next = sorted.begin();
    if (sorted.size() > 1) {
        const auto rows_max = static_cast<std::int64_t>(2 * sorted.size());
        const Reading reading(walk_queued_.with(sorted.front(), sorted.back(), rows_max));
        while (next != sorted.end() && walk_queued_.next_row()) {
            const JobId id{walk_queued_.integer(0)};
            next = std::lower_bound(next, sorted.end(), id);  // jobs before it do not exist
            if (next == sorted.end() || *next != id) continue;
            Row row(walk_queued_);
            jobs.push_back(read_queued(row));
            ++next;
        }
    }
    for (; next != sorted.end(); ++next) {
        if (std::optional<Job> job = find_queued(*next)) jobs.push_back(*std::move(job));
    }
    return jobs;
}

Job JobQueries::find_leased(JobId id) {
    const Reading reading(find_leased_.with(id));
    check(find_leased_.next_row(), "a leased job is stored with its lease");

    Row row(find_leased_);
    Job job = read_submitted(row);
    read_lease(row, job);
    job.damage = row.damage();
    const bool has_ended = !row.next_is_null();
    return has_ended ? *read(id) : job;
}

Job JobQueries::find_listed(JobId id) {
    std::optional<Job> job = read(id);
    check(job.has_value(), "a listed job is stored");
    return std::move(*job);
}

std::vector<Job> JobQueries::list(const JobFilter& filter, JobId before, ListLimit limit) {
    const Moment moment(connection_, moments_);
    return walk(filter, before, limit);
}

std::vector<Job> JobQueries::walk(const JobFilter& filter, JobId before, ListLimit limit) {
    std::vector<Job> jobs;
    ListCount count(limit);
    if (count.is_full()) return jobs;

    ListQuery query(connection_, filter);
    const int chunk = std::clamp(limit.jobs, candidates_min, candidates_max);
    for (bool more = true; more && !count.is_full();) {
        const std::vector<JobId> candidates = query.next(before, chunk);
        more = candidates.size() == static_cast<std::size_t>(chunk);
        for (const JobId id : candidates) {
            before = id;
            Job job = find_listed(id);
            if (!filter.accepts(job)) continue;
            jobs.push_back(std::move(job));
            count.add(jobs.back());
            if (count.is_full()) break;
        }
    }
    return jobs;
}

std::vector<Job> JobQueries::page(const JobFilter& filter, std::int64_t offset, int limit) {
    const Moment moment(connection_, moments_);
    if (!is_exact_in_sql(filter)) {
        return page_by_walking(
            [&](JobId before, ListLimit step) { return walk(filter, before, step); }, offset,
            limit);
    }

    std::vector<Job> jobs;
    for (const JobId id : page_ids(connection_, filter, offset, limit)) {
        jobs.push_back(find_listed(id));
    }
    return jobs;
}

std::int64_t JobQueries::count(const JobFilter& filter) {
    const Moment moment(connection_, moments_);
    if (!is_exact_in_sql(filter)) {
        return count_by_walking(
            [&](JobId before, ListLimit step) { return walk(filter, before, step); });
    }
    return count_jobs(connection_, filter);
}

std::vector<Event> JobQueries::events(JobId job, std::int64_t after, int limit) {
    std::vector<Event> events;
    const Reading reading(list_events_.with(job, after, std::max(limit, 0)));
    while (list_events_.next_row()) {
        Row row(list_events_);
        events.push_back(read_event(row));
    }
    return events;
}

std::vector<LogLine> JobQueries::logs(JobId job, std::int64_t after, int limit) {
    std::vector<LogLine> lines;
    const Reading reading(list_lines_.with(job, after, std::max(limit, 0)));
    while (list_lines_.next_row()) {
        Row row(list_lines_);
        lines.push_back(read_line(row));
    }
    return lines;
}

std::vector<JobId> JobQueries::ids_after(JobId after, int limit) {
    std::vector<JobId> ids;
    const Reading reading(ids_after_.with(after, std::max(limit, 0)));
    while (ids_after_.next_row()) ids.push_back(JobId{ids_after_.integer(0)});
    return ids;
}

}  // namespace sluice::sqlite
