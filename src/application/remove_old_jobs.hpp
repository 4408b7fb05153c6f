#pragma once

#include "application/transaction.hpp"
#include "domain/retention.hpp"

namespace sluice {

// Whether the job ended longer ago than jobs of its outcome are kept, and nobody works on it any
// more. A job whose stored row is damaged stays, since what the row says cannot be trusted.
bool is_over(const Job& job, const Retention& retention, Timestamp now);

// Walks through the ended jobs, oldest first, and removes those that are over, unless
//   an open job depends on them,
//   an idempotency key still stands for them,
//   or a gate counts their success for an entity as it is now (gates.hpp).
// A job goes whole: its events and log lines with it.
class RemoveOldJobs {
  public:
    explicit RemoveOldJobs(Retention retention) : retention_(retention) {}

    // Removes `limit` jobs at the most, and fewer when they have many rows: a bounded step.
    int run(Transaction& tx, int limit);

    // The last step has seen the newest job that could be over: the next one starts anew.
    bool has_seen_all() const { return after_ == JobId{}; }

  private:
    std::vector<JobId> next_candidates(Transaction& tx, int limit);

    Retention retention_;
    JobId after_{};  // up to here this walk has come
};

}  // namespace sluice
