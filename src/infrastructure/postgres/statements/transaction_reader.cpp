#include "infrastructure/postgres/statements/transaction_reader.hpp"

#include <algorithm>

#include "infrastructure/postgres/schema/query_text.hpp"
#include "infrastructure/postgres/statements/writes.hpp"

namespace sluice::postgres {
namespace {

// A longer history is read in parts.
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

Connection& TransactionReader::up_to_date() {
    if (gathered_ != nullptr) gathered_->flush();
    return connection_;
}

std::vector<std::optional<Job>> TransactionReader::find(std::span<const JobId> ids) {
    return find_jobs(up_to_date(), ids);
}

std::vector<Job> TransactionReader::list(const JobFilter& filter, JobId before, ListLimit limit) {
    return list_jobs(up_to_date(), filter, before, limit);
}

std::vector<std::optional<Job>> TransactionReader::newest_of(std::span<const JobFilter> filters) {
    return find_newest(up_to_date(), filters);
}

std::vector<Job> TransactionReader::page(const JobFilter& filter, std::int64_t offset, int limit) {
    return page_of_jobs(up_to_date(), filter, offset, limit);
}

std::int64_t TransactionReader::count(const JobFilter& filter) {
    return count_jobs(up_to_date(), filter);
}

std::vector<Event> TransactionReader::events(JobId job, std::int64_t after, int limit) {
    return list_events(up_to_date(), job, after, limit);
}

std::vector<std::vector<Event>> TransactionReader::events_of(std::span<const EventsAfter> wanted,
                                                             int limit) {
    return list_events(up_to_date(), wanted, limit);
}

std::vector<LogLine> TransactionReader::logs(JobId job, std::int64_t after, int limit) {
    return list_lines(up_to_date(), job, after, limit);
}

std::vector<JobId> TransactionReader::ids_after(JobId after, int limit) {
    return list_ids_after(up_to_date(), after, limit);
}

// ── walking a store ──

std::vector<std::optional<Job>> WalkingReader::find(std::span<const JobId> ids) {
    std::vector<std::optional<Job>> jobs = TransactionReader::find(ids);
    bring_along(jobs);
    return jobs;
}

void WalkingReader::bring_along(std::span<const std::optional<Job>> jobs) {
    Connection& connection = up_to_date();
    stories_.clear();
    std::vector<JobId> ids;
    for (const std::optional<Job>& job : jobs) {
        if (!job || job->now.head.seq + job->now.log_seq > story_max) continue;
        ids.push_back(job->spec->id);
        stories_[job->spec->id] = {};
    }
    const Connection::Ticket asked = connection.post(list_events_of_many, Params(ids));
    const Result lines = connection.ask(list_lines_of_many, Params(ids));
    const Result events = connection.take(asked);
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

std::vector<Event> WalkingReader::events(JobId job, std::int64_t after, int limit) {
    const auto story = stories_.find(job);
    return story == stories_.end() ? TransactionReader::events(job, after, limit)
                                   : some_after(story->second.events, after, limit);
}

std::vector<LogLine> WalkingReader::logs(JobId job, std::int64_t after, int limit) {
    const auto story = stories_.find(job);
    return story == stories_.end() ? TransactionReader::logs(job, after, limit)
                                   : some_after(story->second.lines, after, limit);
}

}  // namespace sluice::postgres
