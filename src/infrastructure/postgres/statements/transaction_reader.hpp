#pragma once

#include <unordered_map>

#include "infrastructure/postgres/statements/entity_queries.hpp"
#include "infrastructure/postgres/statements/job_queries.hpp"
#include "infrastructure/postgres/statements/limit_reader.hpp"

namespace sluice::postgres {

// Reads inside of an open transaction, and so also its own writes. Writes that were gathered are
// sent first.
class TransactionReader : public JobReader {
  public:
    explicit TransactionReader(Connection& connection, Writes* gathered = nullptr)
        : connection_(connection), gathered_(gathered), entities_(connection, gathered) {}

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) override;
    std::vector<Job> list(const JobFilter& filter, JobId before, ListLimit limit) override;
    std::vector<std::optional<Job>> newest_of(std::span<const JobFilter> filters) override;
    std::vector<Job> page(const JobFilter& filter, std::int64_t offset, int limit) override;
    std::int64_t count(const JobFilter& filter) override;
    std::vector<Event> events(JobId job, std::int64_t after, int limit) override;
    std::vector<std::vector<Event>> events_of(std::span<const EventsAfter> wanted,
                                              int limit) override;
    std::vector<LogLine> logs(JobId job, std::int64_t after, int limit) override;
    std::vector<JobId> ids_after(JobId after, int limit) override;
    EntityReader& entities() override { return entities_; }
    LimitReader& limits() override { return limits_; }

  protected:
    // The connection, once all gathered writes were sent.
    Connection& up_to_date();

  private:
    Connection& connection_;
    Writes* gathered_;
    EntityQueries entities_;
    LimitQueries limits_{connection_, entities_};
};

// The same for walking a whole store: a job is read with its events and log lines, so that a page
// of jobs costs three round trips and not three for each.
class WalkingReader final : public TransactionReader {
  public:
    using TransactionReader::TransactionReader;

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) override;
    std::vector<Event> events(JobId job, std::int64_t after, int limit) override;
    std::vector<LogLine> logs(JobId job, std::int64_t after, int limit) override;

  private:
    void bring_along(std::span<const std::optional<Job>> jobs);

    struct JobHistory {
        std::vector<Event> events;
        std::vector<LogLine> lines;
    };
    std::unordered_map<JobId, JobHistory> stories_;  // of the jobs found last, but for long ones
};

}  // namespace sluice::postgres
