#include "infrastructure/postgres/transaction_reader.hpp"

#include <algorithm>

#include "infrastructure/job_rows.hpp"

namespace sluice::postgres {
namespace {

// A longer story is read in parts.
constexpr std::int64_t story_max = 100;

constexpr Query list_events_of_many{"", R"sql(
SELECT job_id, seq, step, from_state, to_state, attempt, lease, at, log_seq, actor, detail, hash
FROM event WHERE job_id = ANY($1::int8[]) ORDER BY job_id, seq)sql"};
constexpr Query list_lines_of_many{"", R"sql(
SELECT job_id, seq, attempt, level, at, event_seq, message, data
FROM log WHERE job_id = ANY($1::int8[]) ORDER BY job_id, seq)sql"};

template <class Item>
std::vector<Item> some_after(const std::vector<Item>& items, std::int64_t after, int limit) {
    const auto begin = std::find_if(items.begin(), items.end(),
                                    [&](const Item& item) { return item.seq > after; });
    const auto count = std::min<std::ptrdiff_t>(std::max(limit, 0), items.end() - begin);
    return {begin, begin + count};
}

}  // namespace

std::vector<std::optional<Job>> TransactionReader::find(std::span<const JobId> ids) {
    std::vector<std::optional<Job>> jobs = find_jobs(connection_, ids);
    bring_along(jobs);
    return jobs;
}

void TransactionReader::bring_along(std::span<const std::optional<Job>> jobs) {
    stories_.clear();
    std::vector<JobId> ids;
    for (const std::optional<Job>& job : jobs) {
        if (!job || job->now.head.seq + job->now.log_seq > story_max) continue;
        ids.push_back(job->spec->id);
        stories_[job->spec->id] = {};
    }
    const Connection::Ticket asked = connection_.post(list_events_of_many, Params(ids));
    const Result lines = connection_.ask(list_lines_of_many, Params(ids));
    const Result events = connection_.take(asked);
    for (int i = 0; i < events.rows(); ++i) {
        Row row(events, i);
        const JobId id{row.integer()};
        stories_.at(id).events.push_back(read_event(row, id));
    }
    for (int i = 0; i < lines.rows(); ++i) {
        Row row(lines, i);
        const JobId id{row.integer()};
        stories_.at(id).lines.push_back(read_line(row, id));
    }
}

std::vector<Job> TransactionReader::list(const JobFilter& filter, JobId before, ListLimit limit) {
    return list_jobs(connection_, filter, before, limit);
}

std::vector<Job> TransactionReader::page(const JobFilter& filter, std::int64_t offset, int limit) {
    return page_of_jobs(connection_, filter, offset, limit);
}

std::int64_t TransactionReader::count(const JobFilter& filter) {
    return count_jobs(connection_, filter);
}

std::vector<Event> TransactionReader::events(JobId job, std::int64_t after, int limit) {
    const auto story = stories_.find(job);
    return story == stories_.end() ? list_events(connection_, job, after, limit)
                                   : some_after(story->second.events, after, limit);
}

std::vector<LogLine> TransactionReader::logs(JobId job, std::int64_t after, int limit) {
    const auto story = stories_.find(job);
    return story == stories_.end() ? list_lines(connection_, job, after, limit)
                                   : some_after(story->second.lines, after, limit);
}

std::vector<JobId> TransactionReader::ids_after(JobId after, int limit) {
    return list_ids_after(connection_, after, limit);
}

}  // namespace sluice::postgres
