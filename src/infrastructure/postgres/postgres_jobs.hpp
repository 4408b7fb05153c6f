#pragma once

#include "infrastructure/postgres/work.hpp"

namespace sluice::postgres {

class PostgresJobs : public JobStore {
  public:
    PostgresJobs(Work& work, EntityReader& entities) : work_(work), entities_(entities) {}

    // Has these at hand, locked; see Session::reserve.
    void reserve(const Subjects& subjects);

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) override;
    std::vector<Job> list(const JobFilter& filter, JobId before, ListLimit limit) override;
    std::vector<Job> page(const JobFilter& filter, std::int64_t offset, int limit) override;
    std::int64_t count(const JobFilter& filter) override;
    std::vector<Event> events(JobId job, std::int64_t after, int limit) override;
    std::vector<LogLine> logs(JobId job, std::int64_t after, int limit) override;
    std::vector<JobId> ids_after(JobId after, int limit) override;
    EntityReader& entities() override { return entities_; }

    void put(std::span<const Arrival> arrivals) override;
    void requeue(std::span<const Job> jobs) override;
    void finish(std::span<const Job> jobs) override;
    std::vector<JobId> dependents(std::span<const JobId> ended) override;
    void unblock(std::span<const Job> jobs) override;

  private:
    void refuse_leased(const std::vector<JobId>& ids);
    std::vector<JobId> lock_ready(const std::vector<SharedSpec>& queued);
    void hold_in_queue(const std::vector<SharedSpec>& queued);
    std::vector<JobId> blocked_by(std::span<const JobId> ended);
    void leave_queue(const Job& job);

    Work& work_;
    EntityReader& entities_;
    std::unordered_set<JobId> reserved_;
    std::unordered_map<JobId, std::vector<JobId>> blocked_by_reserved_;
};

}  // namespace sluice::postgres
