#pragma once

#include <filesystem>

#include "application/ports/job_reader.hpp"
#include "infrastructure/sqlite/connection.hpp"
#include "infrastructure/sqlite/job_queries.hpp"
#include "infrastructure/sqlite/sqlite_entities.hpp"

namespace sluice::sqlite {

// Reads beside the writer, on a connection of its own. For one thread at a time.
class SqliteReader final : public JobReader {
  public:
    explicit SqliteReader(const std::filesystem::path& path);

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) override;
    std::vector<Job> list(const JobFilter& filter, JobId before, ListLimit limit) override;
    std::vector<Job> page(const JobFilter& filter, std::int64_t offset, int limit) override;
    std::int64_t count(const JobFilter& filter) override;
    std::vector<Event> events(JobId job, std::int64_t after, int limit) override;
    std::vector<LogLine> logs(JobId job, std::int64_t after, int limit) override;
    std::vector<JobId> ids_after(JobId after, int limit) override;
    EntityReader& entities() override { return entities_; }

  private:
    Connection connection_;
    JobQueries queries_;
    SqliteEntityReader entities_;
};

}  // namespace sluice::sqlite
