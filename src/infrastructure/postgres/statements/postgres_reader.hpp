#pragma once

#include "application/ports/job_reader.hpp"
#include "infrastructure/postgres/connection/reading_connection.hpp"
#include "infrastructure/postgres/statements/limit_reader.hpp"

namespace sluice::postgres {

// Reads entities on a reader's connection.
class PostgresEntityReader final : public EntityReader {
  public:
    explicit PostgresEntityReader(ReadingConnection& connection) : connection_(connection) {}

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override;
    std::vector<Entity> list(const EntityFilter& filter, std::int64_t before, std::int64_t offset,
                             int limit) override;
    std::int64_t count(const EntityFilter& filter) override;
    std::vector<EntityEvent> events(const EntityKey& key, std::int64_t after, int limit) override;

  private:
    ReadingConnection& connection_;
};

// Reads on a connection of its own, which it opens at the first call, and again after it was lost.
// For one thread at a time.
class PostgresReader final : public JobReader {
  public:
    // `cluster`: what this node knows of the rules; none: they are read each time.
    explicit PostgresReader(ConnectOptions options, std::shared_ptr<Cluster> cluster = nullptr)
        : connection_(std::move(options)), limits_(connection_, entities_, std::move(cluster)) {}

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) override;
    std::vector<Job> list(const JobFilter& filter, JobId before, ListLimit limit) override;
    std::vector<Job> page(const JobFilter& filter, std::int64_t offset, int limit) override;
    std::int64_t count(const JobFilter& filter) override;
    std::vector<Event> events(JobId job, std::int64_t after, int limit) override;
    std::vector<LogLine> logs(JobId job, std::int64_t after, int limit) override;
    std::vector<JobId> ids_after(JobId after, int limit) override;
    std::optional<Depths> depths() override;
    EntityReader& entities() override { return entities_; }
    LimitReader& limits() override { return limits_; }

  private:
    ReadingConnection connection_;
    PostgresEntityReader entities_{connection_};
    PostgresLimitReader limits_;
};

}  // namespace sluice::postgres
