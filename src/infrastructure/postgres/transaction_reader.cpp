#include "infrastructure/postgres/transaction_reader.hpp"

#include <algorithm>

#include "infrastructure/postgres/query_text.hpp"
#include "infrastructure/postgres/tables.hpp"

namespace sluice::postgres {
namespace {

// A longer story is read in parts.
constexpr std::int64_t story_max = 100;

constexpr auto list_events_of_many =
    sql::query("", "SELECT " + rows::read_columns<tables::event_table> +
                       " FROM event WHERE job_id = ANY($1::int8[]) ORDER BY job_id, seq");
constexpr auto list_lines_of_many =
    sql::query("", "SELECT " + rows::read_columns<tables::log_table> +
                       " FROM log WHERE job_id = ANY($1::int8[]) ORDER BY job_id, seq");

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
        Event event = read_event(row);
        stories_.at(event.job).events.push_back(std::move(event));
    }
    for (int i = 0; i < lines.rows(); ++i) {
        Row row(lines, i);
        LogLine line = read_line(row);
        stories_.at(line.job).lines.push_back(std::move(line));
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
