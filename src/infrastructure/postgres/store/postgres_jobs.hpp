#pragma once

#include "infrastructure/postgres/store/work.hpp"

namespace sluice::postgres {

class PostgresJobs : public JobStore {
  public:
    explicit PostgresJobs(Work& work) : work_(work) {}

    // Reads and locks these jobs; see Session::reserve.
    void reserve(const Subjects& subjects);

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) override;
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
    void know_leases(std::span<const Job> jobs);
    void lock_waiting(const std::vector<JobId>& waiting);
    void leave_queue(const Job& job);

    Work& work_;
    std::unordered_set<JobId> reserved_;
    std::unordered_map<JobId, std::vector<JobId>> blocked_by_reserved_;
    std::unordered_set<JobId> locked_waiting_;
};

}  // namespace sluice::postgres
