#pragma once

#include <filesystem>

#include "application/ports/job_reader.hpp"
#include "infrastructure/sqlite/connection.hpp"
#include "infrastructure/sqlite/job_queries.hpp"

namespace sluice::sqlite {

// Reads beside the writer, on a connection of its own. For one thread at a time.
class SqliteReader final : public JobReader {
  public:
    explicit SqliteReader(const std::filesystem::path& path);

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) override;
    std::vector<Job> list(const JobFilter& filter, JobId before, int limit) override;
    std::vector<Event> events(JobId job, std::int64_t after, int limit) override;
    std::vector<LogLine> logs(JobId job, std::int64_t after, int limit) override;
    std::vector<JobId> ids_after(JobId after, int limit) override;

  private:
    Connection connection_;
    JobQueries queries_;
};

}  // namespace sluice::sqlite
