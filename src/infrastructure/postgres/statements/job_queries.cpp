#include "infrastructure/postgres/statements/job_queries.hpp"

#include <algorithm>

#include "infrastructure/postgres/schema/read_queries.hpp"
#include "infrastructure/postgres/statements/list_query.hpp"
#include "infrastructure/sql/job_rows.hpp"
#include "infrastructure/sql/list_filter.hpp"
#include "infrastructure/sql/list_walk.hpp"

namespace sluice::postgres {
namespace {

// A filter that the driving query does not cover in full may reject candidates; a chunk that is too
// small then costs queries, and one that is too large reads jobs in vain.
constexpr int candidates_min = 32;
constexpr int candidates_max = 1000;

// So many jobs are read at once where a list has a limit of bytes, since they could be large: few
// at first, and then as many as are likely to be needed.
constexpr std::size_t together_first = 4;
constexpr std::size_t together_most = 32;

// Unfinished jobs are mostly among the newest, or they are few. So the newest are walked, in the
// case of a deep queue, and the rest is read from the queue's tables, in the case of a deep
// archive.
constexpr std::int64_t worth_a_walk = 1000;

std::int64_t row_count(int limit) {
    return std::max(limit, 0);
}

std::vector<JobId> ids_of(const Result& result) {
    std::vector<JobId> ids;
    ids.reserve(static_cast<std::size_t>(result.rows()));
    for (int i = 0; i < result.rows(); ++i) ids.push_back(JobId{Row(result, i).integer()});
    return ids;
}

Job read_job(Row& row) {
    Job job = read_submitted(row);
    read_requeued(row, job);
    read_done(row, job);
    read_lease(row, job);
    job.damage = row.damage();
    return job;
}

// One page of a list, while it fills.
class Page {
  public:
    Page(Connection& connection, const JobFilter& filter, ListLimit limit)
        : connection_(connection),
          filter_(filter),
          count_(limit),
          chunk_(std::clamp(limit.jobs, candidates_min, candidates_max)),
          has_limit_(limit.bytes != SIZE_MAX),
          bytes_left_(limit.bytes),
          together_(has_limit_ ? std::min<std::size_t>(together_first, most(limit.jobs))
                               : candidates_max) {}

    bool is_full() const { return count_.is_full(); }

    void fill(ListDriver driver, IdRange range) {
        for (bool more = true; more && !is_full();) {
            const ListQuery query = list_query(filter_, driver, range, chunk_);
            const std::vector<JobId> ids = ids_of(connection_.ask({"", query.text}, query.params));
            more = ids.size() == static_cast<std::size_t>(chunk_);
            if (!ids.empty()) range.before = ids.back();
            add_accepted(ids);
        }
    }

    std::vector<Job> jobs() && { return std::move(jobs_); }

  private:
    static std::size_t most(int jobs) { return static_cast<std::size_t>(std::max(jobs, 1)); }

    void add_accepted(std::span<const JobId> ids) {
        while (!ids.empty() && !is_full()) {
            const std::size_t some = std::min(ids.size(), together_);
            for (std::optional<Job>& job : find_jobs(connection_, ids.first(some))) {
                if (is_full()) return;
                if (job) add(*std::move(job));
            }
            ids = ids.subspan(some);
            if (!has_limit_) continue;
            const std::size_t each = seen_bytes_ / std::max<std::size_t>(seen_, 1) + 1;
            together_ = std::clamp<std::size_t>(bytes_left_ / each, 1, together_most);
        }
    }

    void add(Job job) {
        const std::size_t bytes = text_bytes(job);
        ++seen_;
        seen_bytes_ += bytes;
        if (!filter_.accepts(job)) return;
        bytes_left_ -= std::min(bytes, bytes_left_);
        count_.add(job);
        jobs_.push_back(std::move(job));
    }

    Connection& connection_;
    const JobFilter& filter_;
    ListCount count_;
    int chunk_;
    bool has_limit_;  // of bytes
    std::size_t bytes_left_;
    std::size_t together_;  // how many jobs are read at once
    std::size_t seen_ = 0;  // jobs that were read, be they accepted or not
    std::size_t seen_bytes_ = 0;
    std::vector<Job> jobs_;
};

void fill_with_unfinished(Connection& connection, Page& page, IdRange range) {
    const std::vector<JobId> end = ids_of(
        connection.ask(sql::find_end_of_newest, Params(range.before, range.from, worth_a_walk)));
    if (end.empty()) {
        page.fill(ListDriver::jobs, range);
        return;
    }
    page.fill(ListDriver::jobs, {range.before, end.front()});
    page.fill(ListDriver::queue, {end.front(), range.from});
}

}  // namespace

Job read_submitted(Row& row) {
    JobSpec spec;
    Standing first;
    rows::read_row(row, tables::job_table, std::tie(spec, first));
    Job job = as_submitted(std::move(spec), first.head.hash);
    job.damage = row.damage();
    return job;
}

Job as_submitted(SharedSpec spec, const Digest& first) {
    Job job;
    job.now.run_after = spec->run_after;
    job.now.head = {1, first};
    job.spec = std::move(spec);
    return job;
}

std::vector<std::optional<Job>> find_jobs(Connection& connection, std::span<const JobId> ids) {
    std::vector<std::optional<Job>> jobs;
    if (ids.empty()) return jobs;

    const auto [least, greatest] = std::minmax_element(ids.begin(), ids.end());
    const std::vector<JobId> wanted(ids.begin(), ids.end());
    const Result rows = connection.ask(sql::find_jobs, Params(wanted, *least, *greatest));
    jobs.reserve(ids.size());
    for (int i = 0; i < rows.rows(); ++i) {
        Row row(rows, i);
        jobs.push_back(row.next_is_null() ? std::nullopt : std::optional(read_job(row)));
    }
    return jobs;
}

Connection::Ticket post_find_specs(Connection& connection, std::span<const JobId> ids) {
    return connection.post(sql::find_specs, Params(std::vector<JobId>(ids.begin(), ids.end())));
}

SubmittedJobs take_specs(Connection& connection, Connection::Ticket ticket) {
    const Result rows = connection.take(ticket);
    SubmittedJobs jobs;
    for (int i = 0; i < rows.rows(); ++i) {
        Row row(rows, i);
        Job job = read_submitted(row);
        jobs.emplace(job.spec->id, std::move(job));
    }
    return jobs;
}

std::vector<Job> list_jobs(Connection& connection, const JobFilter& filter, JobId before,
                           ListLimit limit) {
    Page page(connection, filter, limit);
    if (page.is_full()) return {};
    const ListDriver driver = driver_of(filter);
    if (driver == ListDriver::queue) {
        fill_with_unfinished(connection, page, {before, filter.from});
    } else {
        page.fill(driver, {before, filter.from});
    }
    return std::move(page).jobs();
}

// The ids are asked for together, and then the jobs. Where the job itself shows that the filter
// does not accept it, the search for that filter goes on by itself.
std::vector<std::optional<Job>> find_newest(Connection& connection,
                                            std::span<const JobFilter> filters) {
    std::vector<Connection::Ticket> tickets;
    for (const JobFilter& filter : filters) {
        const ListQuery query = page_query(filter, 0, 1);
        tickets.push_back(connection.post({"", query.text}, query.params));
    }
    std::vector<JobId> ids;
    std::vector<std::size_t> indexes;
    for (std::size_t i = 0; i < filters.size(); ++i) {
        for (const JobId id : ids_of(connection.take(tickets[i]))) {
            ids.push_back(id);
            indexes.push_back(i);
        }
    }
    std::vector<std::optional<Job>> newest_jobs(filters.size());
    std::vector<std::optional<Job>> read = find_jobs(connection, ids);
    for (std::size_t k = 0; k < read.size(); ++k) {
        const JobFilter& filter = filters[indexes[k]];
        std::optional<Job>& found = newest_jobs[indexes[k]];
        found = std::move(read[k]);
        if (found && filter.accepts(*found)) continue;
        std::vector<Job> listed = list_jobs(connection, filter, newest, ListLimit(1, 1));
        found = listed.empty() ? std::nullopt : std::optional(std::move(listed.front()));
    }
    return newest_jobs;
}

std::vector<Job> page_of_jobs(Connection& connection, const JobFilter& filter, std::int64_t offset,
                              int limit) {
    if (!is_exact_in_sql(filter)) {
        return page_by_walking(
            [&](JobId before, ListLimit step) {
                return list_jobs(connection, filter, before, step);
            },
            offset, limit);
    }
    const ListQuery query = page_query(filter, offset, limit);
    const std::vector<JobId> ids = ids_of(connection.ask({"", query.text}, query.params));
    std::vector<Job> jobs;
    for (std::optional<Job>& job : find_jobs(connection, ids)) {
        if (job) jobs.push_back(std::move(*job));
    }
    return jobs;
}

std::int64_t count_jobs(Connection& connection, const JobFilter& filter) {
    if (!is_exact_in_sql(filter)) {
        return count_by_walking([&](JobId before, ListLimit step) {
            return list_jobs(connection, filter, before, step);
        });
    }
    const ListQuery query = count_query(filter);
    const Result counted = connection.ask({"", query.text}, query.params);
    return Row(counted, 0).integer();
}

std::vector<Event> list_events(Connection& connection, JobId job, std::int64_t after, int limit) {
    const JobReader::EventsAfter wanted{job, after};
    return std::move(list_events(connection, {&wanted, 1}, limit).front());
}

std::vector<std::vector<Event>> list_events(Connection& connection,
                                            std::span<const JobReader::EventsAfter> wanted,
                                            int limit) {
    std::vector<Connection::Ticket> tickets;
    for (const JobReader::EventsAfter& each : wanted) {
        tickets.push_back(
            connection.post(sql::list_events, Params(each.job, each.after, row_count(limit))));
    }
    std::vector<std::vector<Event>> lists;
    for (const Connection::Ticket ticket : tickets) {
        const Result rows = connection.take(ticket);
        std::vector<Event>& events = lists.emplace_back();
        for (int i = 0; i < rows.rows(); ++i) {
            Row row(rows, i);
            events.push_back(read_event(row));
        }
    }
    return lists;
}

std::vector<LogLine> list_lines(Connection& connection, JobId job, std::int64_t after, int limit) {
    const Result rows = connection.ask(sql::list_lines, Params(job, after, row_count(limit)));
    std::vector<LogLine> lines;
    for (int i = 0; i < rows.rows(); ++i) {
        Row row(rows, i);
        lines.push_back(read_line(row));
    }
    return lines;
}

Depths count_depths(Connection& connection) {
    const Result counted = connection.ask(sql::count_depths);
    Depths depths;
    for (int i = 0; i < counted.rows(); ++i) {
        Row row(counted, i);
        tables::LaneRow read;
        rows::read_row(row, tables::lane_table, std::tie(read));
        depths.push_back({std::move(read.lane), row.integer()});
    }
    std::sort(depths.begin(), depths.end(),
              [](const Depth& a, const Depth& b) { return a.lane < b.lane; });
    return depths;
}

std::vector<JobId> list_ids_after(Connection& connection, JobId after, int limit) {
    return ids_of(connection.ask(sql::list_ids_after, Params(after, row_count(limit))));
}

}  // namespace sluice::postgres
