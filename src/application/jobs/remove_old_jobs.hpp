#pragma once

#include <optional>
#include <span>

#include "application/toolkit/transaction.hpp"
#include "domain/jobs/retention.hpp"

namespace sluice {

// Whether the job ended longer ago than jobs of its outcome are kept, and no worker has it any
// more. A job whose stored row is damaged stays, since the row cannot be trusted.
bool is_over(const Job& job, const Retention& retention, Timestamp now);

// Walks through the ended jobs, oldest first, and removes those that are over, unless
//   an open job depends on them,
//   an idempotency key still refers to them,
//   or a gate counts their success, now or when a caller asks for it (counted_successes.hpp).
// A job is removed as a whole: its events and log lines with it.
class RemoveOldJobs {
  public:
    explicit RemoveOldJobs(Retention retention) : retention_(retention) {}

    // Removes `limit` jobs at the most, and fewer when they have many rows or long texts, or when
    // many questions have to be asked about them: a bounded step.
    int run(Transaction& tx, int limit);

    // Whether the last step has seen the newest job that could be over: the next one starts anew.
    bool has_seen_all() const { return has_seen_all_; }

    // How long the next walk waits, by the number of jobs that the last one passed over in vain: it
    // would decide the same about them.
    Duration rest_after_walk() const;

  private:
    // The jobs of a step. A job with very many rows has a step of its own, or several.
    struct Candidates {
        std::vector<JobId> jobs{};
        std::optional<EndedJob> large{};
    };
    Candidates next_candidates(Transaction& tx, int limit);
    std::vector<JobId> choose(Transaction& tx, std::span<const JobId> candidates);
    int remove(Transaction& tx, std::span<const JobId> candidates);
    int remove_part(Transaction& tx, const EndedJob& job);

    Retention retention_;
    JobId after_{};  // up to here this walk has come
    bool has_seen_all_ = true;
    int vain_steps_ = 0;  // of this walk: steps that removed nothing
};

}  // namespace sluice
