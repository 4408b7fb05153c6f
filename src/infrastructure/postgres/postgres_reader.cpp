#include "infrastructure/postgres/postgres_reader.hpp"

#include "infrastructure/postgres/job_queries.hpp"

namespace sluice::postgres {

PostgresReader::PostgresReader(ConnectOptions options) : options_(std::move(options)) {}

void PostgresReader::connect() {
    outage_.refuse_between_tries();
    try {
        connection_ = std::make_unique<Connection>(options_);
        outage_.is_over();
    } catch (const std::runtime_error& error) {
        outage_.try_failed();
        throw StoreUnavailable(error.what());  // it worked once, and may do so again
    }
}

template <class Read>
auto PostgresReader::try_once(const Read& read) {
    try {
        return read(*connection_);
    } catch (const StoreUnavailable&) {
        connection_->roll_back();
        if (connection_->fell_silent()) outage_.try_failed();
        if (connection_->is_lost()) connection_.reset();
        throw;
    }
}

// That a connection was lost is often noticed only when it is used again, e.g. long after the
// server was restarted. To read again does no harm.
template <class Read>
auto PostgresReader::try_twice(const Read& read) {
    if (connection_) {
        try {
            return try_once(read);
        } catch (const StoreConflict&) {
        }
    }
    if (!connection_) connect();
    return try_once(read);
}

std::vector<std::optional<Job>> PostgresReader::find(std::span<const JobId> ids) {
    return try_twice([&](Connection& connection) {
        std::vector<std::optional<Job>> jobs = find_jobs(connection, ids);
        connection.sync();
        return jobs;
    });
}

std::vector<Job> PostgresReader::list(const JobFilter& filter, JobId before, int limit) {
    return try_twice([&](Connection& connection) {
        connection.begin_snapshot();
        std::vector<Job> jobs = list_jobs(connection, filter, before, limit);
        connection.commit();
        return jobs;
    });
}

std::vector<Event> PostgresReader::events(JobId job, std::int64_t after, int limit) {
    return try_twice([&](Connection& connection) {
        std::vector<Event> events = list_events(connection, job, after, limit);
        connection.sync();
        return events;
    });
}

std::vector<LogLine> PostgresReader::logs(JobId job, std::int64_t after, int limit) {
    return try_twice([&](Connection& connection) {
        std::vector<LogLine> lines = list_lines(connection, job, after, limit);
        connection.sync();
        return lines;
    });
}

std::vector<JobId> PostgresReader::ids_after(JobId after, int limit) {
    return try_twice([&](Connection& connection) {
        std::vector<JobId> ids = list_ids_after(connection, after, limit);
        connection.sync();
        return ids;
    });
}

std::optional<Depths> PostgresReader::depths() {
    return try_twice([&](Connection& connection) {
        Depths depths = count_depths(connection);
        connection.sync();
        return depths;
    });
}

}  // namespace sluice::postgres
