#pragma once

#include <span>
#include <vector>

#include "application/ports/job_reader.hpp"
#include "infrastructure/sqlite/statement.hpp"

namespace sluice::sqlite {

// The reading half of the store, on one connection: what readers and the writing session share.
// Each function sees one moment only when the caller has a transaction open, save where one job is
// asked for.
class JobQueries {
  public:
    explicit JobQueries(sqlite3* connection);

    std::optional<Job> find(JobId id);
    std::vector<std::optional<Job>> find(std::span<const JobId> ids);

    // The same for jobs that are known to be queued or leased, in half the time; they abort when
    // there is no such job.
    std::optional<Job> find_queued(JobId id);
    Job find_leased(JobId id);

    std::vector<Job> list(const JobFilter& filter, JobId before, ListLimit limit);
    std::vector<Job> page(const JobFilter& filter, std::int64_t offset, int limit);
    std::int64_t count(const JobFilter& filter);
    std::vector<Event> events(JobId job, std::int64_t after, int limit);
    std::vector<LogLine> logs(JobId job, std::int64_t after, int limit);
    std::vector<JobId> ids_after(JobId after, int limit);

  private:
    Job find_listed(JobId id);
    Job read_submitted(Row& row);
    void read_dependencies(JobSpec& spec, int count);

    sqlite3* connection_;
    Statement find_;
    Statement find_queued_;
    Statement find_leased_;
    Statement list_dependencies_;
    Statement list_events_;
    Statement list_lines_;
    Statement ids_after_;
};

}  // namespace sluice::sqlite
