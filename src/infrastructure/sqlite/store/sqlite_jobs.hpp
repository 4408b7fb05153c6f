#pragma once

#include "application/ports/store.hpp"
#include "infrastructure/sqlite/database/insert.hpp"
#include "infrastructure/sqlite/database/marks.hpp"
#include "infrastructure/sqlite/reading/job_queries.hpp"
#include "infrastructure/sqlite/store/queue_index.hpp"

namespace sluice::sqlite {

// The jobs of the writing session: tables and index change together.
class SqliteJobs final : public JobStore {
  public:
    SqliteJobs(sqlite3* connection, JobQueries& queries, QueueIndex& index, Marks& marks);

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) override;
    void put(std::span<const Arrival> arrivals) override;
    void requeue(std::span<const Job> jobs) override;
    void finish(std::span<const Job> jobs) override;
    std::vector<JobId> dependents(std::span<const JobId> ended) override;
    void unblock(std::span<const Job> jobs) override;

  private:
    void write(std::span<const Arrival> arrivals);
    void forget_unfinished(const JobSpec& spec);
    void close_lease(JobId id);
    void keep_lease(const Job& job);
    void leave_queue(const Job& job);

    JobQueries& queries_;
    QueueIndex& index_;
    Marks& marks_;
    Insert insert_job_;
    Insert insert_dependency_;
    Insert insert_requeued_;
    Statement delete_requeued_;
    Insert insert_done_;
    Statement insert_unfinished_;
    Statement delete_unfinished_;
    Statement delete_unfinished_by_id_;
    Statement update_lease_;
    Statement delete_lease_;
};

}  // namespace sluice::sqlite
