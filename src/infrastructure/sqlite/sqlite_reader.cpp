#include "infrastructure/sqlite/sqlite_reader.hpp"

#include "infrastructure/sqlite/reading.hpp"

namespace sluice::sqlite {

SqliteReader::SqliteReader(const std::filesystem::path& path)
    : connection_(open_reader(path)), queries_(connection_.get()), entities_(connection_.get()) {}

std::vector<std::optional<Job>> SqliteReader::find(std::span<const JobId> ids) {
    if (ids.size() == 1) return queries_.find(ids);  // one statement sees one moment anyway
    const Snapshot snapshot(connection_.get());
    return queries_.find(ids);
}

std::vector<Job> SqliteReader::list(const JobFilter& filter, JobId before, ListLimit limit) {
    const Snapshot snapshot(connection_.get());
    return queries_.list(filter, before, limit);
}

std::vector<Job> SqliteReader::page(const JobFilter& filter, std::int64_t offset, int limit) {
    const Snapshot snapshot(connection_.get());
    return queries_.page(filter, offset, limit);
}

std::int64_t SqliteReader::count(const JobFilter& filter) {
    const Snapshot snapshot(connection_.get());
    return queries_.count(filter);
}

std::vector<Event> SqliteReader::events(JobId job, std::int64_t after, int limit) {
    return queries_.events(job, after, limit);
}

std::vector<LogLine> SqliteReader::logs(JobId job, std::int64_t after, int limit) {
    return queries_.logs(job, after, limit);
}

std::vector<JobId> SqliteReader::ids_after(JobId after, int limit) {
    return queries_.ids_after(after, limit);
}

}  // namespace sluice::sqlite
