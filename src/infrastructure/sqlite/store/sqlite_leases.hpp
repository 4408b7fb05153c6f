#pragma once

#include "application/ports/store.hpp"
#include "infrastructure/sqlite/database/insert.hpp"
#include "infrastructure/sqlite/database/marks.hpp"
#include "infrastructure/sqlite/reading/job_queries.hpp"
#include "infrastructure/sqlite/store/queue_index.hpp"

namespace sluice::sqlite {

// The leases of the writing session. Due work comes from the index, leases are read from the
// tables.
class SqliteLeases final : public LeaseStore {
  public:
    SqliteLeases(sqlite3* connection, JobQueries& queries, QueueIndex& index, Marks& marks);

    std::vector<std::vector<Job>> take(std::span<const Wanted> wanted, Timestamp now) override;
    void open(std::span<const Job> jobs) override;
    void save(std::span<const Job> jobs) override;
    void close(std::span<const Job> jobs) override;
    void give_back(Duration lost, Timestamp now) override;
    std::vector<JobId> expired(Timestamp now, int limit) override;
    std::vector<JobId> overdue(Timestamp now, int limit) override;
    Timestamp next_due() override;
    std::vector<Readied> newly_ready(Timestamp now) override;
    std::vector<std::optional<JobId>> holders(const std::string& tenant,
                                              std::span<const std::string> keys) override;
    std::vector<Depth> depths() override;

  private:
    JobQueries& queries_;
    QueueIndex& index_;
    Marks& marks_;
    Insert insert_lease_;
    Statement update_lease_;
    Statement delete_lease_;
    Statement update_done_;
    Statement delete_requeued_;
    Statement extend_leases_;
    Statement list_ends_;
};

}  // namespace sluice::sqlite
