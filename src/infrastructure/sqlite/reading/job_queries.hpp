#pragma once

#include <memory>
#include <span>
#include <vector>

#include "application/ports/job_reader.hpp"
#include "infrastructure/sqlite/database/reading.hpp"
#include "infrastructure/sqlite/reading/entity_queries.hpp"

namespace sluice::sqlite {

// Reads on one connection: in parallel to the writer, or in its session.
class JobQueries : public JobReader {
  public:
    // `limits`: knows the rules and meters; without it they are read from the tables.
    JobQueries(sqlite3* connection, Moments moments, std::unique_ptr<LimitReader> limits = {});

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) override;
    std::vector<Job> list(const JobFilter& filter, JobId before, ListLimit limit) override;
    std::vector<Job> page(const JobFilter& filter, std::int64_t offset, int limit) override;
    std::int64_t count(const JobFilter& filter) override;
    std::vector<Event> events(JobId job, std::int64_t after, int limit) override;
    std::vector<LogLine> logs(JobId job, std::int64_t after, int limit) override;
    std::vector<JobId> ids_after(JobId after, int limit) override;
    EntityReader& entities() override { return entities_; }
    LimitReader& limits() override { return *limits_; }

    std::optional<Job> read(JobId id);

    // The same for jobs that are known to be queued or leased, in half the time; they abort when
    // there is no such job.
    std::optional<Job> find_queued(JobId id);
    std::vector<Job> find_queued(std::span<const JobId> sorted);  // those that exist
    Job find_leased(JobId id);

  private:
    Job find_listed(JobId id);
    std::vector<Job> walk(const JobFilter& filter, JobId before, ListLimit limit);
    Job read_submitted(Row& row);
    Job read_queued(Row& row);
    void read_dependencies(JobSpec& spec, int count);

    sqlite3* connection_;
    Moments moments_;
    EntityQueries entities_;
    std::unique_ptr<LimitReader> limits_;
    Statement find_;
    Statement find_queued_;
    Statement walk_queued_;
    Statement find_leased_;
    Statement list_dependencies_;
    Statement list_events_;
    Statement list_lines_;
    Statement ids_after_;
};

}  // namespace sluice::sqlite
