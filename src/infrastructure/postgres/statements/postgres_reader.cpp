#include "infrastructure/postgres/statements/postgres_reader.hpp"

#include "infrastructure/postgres/statements/entity_queries.hpp"
#include "infrastructure/postgres/statements/job_queries.hpp"

namespace sluice::postgres {

// ── jobs ──

std::vector<std::optional<Job>> PostgresReader::find(std::span<const JobId> ids) {
    return connection_.ask([&](Connection& connection) { return find_jobs(connection, ids); });
}

std::vector<Job> PostgresReader::list(const JobFilter& filter, JobId before, ListLimit limit) {
    return connection_.ask_in_snapshot(
        [&](Connection& connection) { return list_jobs(connection, filter, before, limit); });
}

std::vector<Job> PostgresReader::page(const JobFilter& filter, std::int64_t offset, int limit) {
    return connection_.ask_in_snapshot(
        [&](Connection& connection) { return page_of_jobs(connection, filter, offset, limit); });
}

std::int64_t PostgresReader::count(const JobFilter& filter) {
    return connection_.ask_in_snapshot(
        [&](Connection& connection) { return count_jobs(connection, filter); });
}

std::vector<Event> PostgresReader::events(JobId job, std::int64_t after, int limit) {
    return connection_.ask(
        [&](Connection& connection) { return list_events(connection, job, after, limit); });
}

std::vector<LogLine> PostgresReader::logs(JobId job, std::int64_t after, int limit) {
    return connection_.ask(
        [&](Connection& connection) { return list_lines(connection, job, after, limit); });
}

std::vector<JobId> PostgresReader::ids_after(JobId after, int limit) {
    return connection_.ask(
        [&](Connection& connection) { return list_ids_after(connection, after, limit); });
}

std::optional<Depths> PostgresReader::depths() {
    return connection_.ask([&](Connection& connection) { return count_depths(connection); });
}

// ── entities ──

std::vector<std::optional<Entity>> PostgresEntityReader::find(std::span<const EntityKey> keys) {
    return connection_.ask(
        [&](Connection& connection) { return EntityQueries(connection).find(keys); });
}

std::vector<Entity> PostgresEntityReader::list(const EntityFilter& filter, std::int64_t before,
                                               std::int64_t offset, int limit) {
    return connection_.ask([&](Connection& connection) {
        return EntityQueries(connection).list(filter, before, offset, limit);
    });
}

std::int64_t PostgresEntityReader::count(const EntityFilter& filter) {
    return connection_.ask(
        [&](Connection& connection) { return EntityQueries(connection).count(filter); });
}

std::vector<EntityEvent> PostgresEntityReader::events(const EntityKey& key, std::int64_t after,
                                                      int limit) {
    return connection_.ask([&](Connection& connection) {
        return EntityQueries(connection).events(key, after, limit);
    });
}

}  // namespace sluice::postgres
