#pragma once

#include <optional>
#include <span>

#include "application/transaction.hpp"
#include "domain/retention.hpp"

namespace sluice {

// Whether the job ended longer ago than jobs of its outcome are kept, and nobody works on it any
// more. A job whose stored row is damaged stays, since what the row says cannot be trusted.
bool is_over(const Job& job, const Retention& retention, Timestamp now);

// Walks through the ended jobs, oldest first, and removes those that are over, unless
//   an open job depends on them,
//   an idempotency key still stands for them,
//   or a gate counts their success, now or when somebody asks for it (counted_successes.hpp).
// A job goes whole: its events and log lines with it.
class RemoveOldJobs {
  public:
    explicit RemoveOldJobs(Retention retention) : retention_(retention) {}

    // Removes `limit` jobs at the most, and fewer when they have many rows or long texts, or when
    // much is to be asked about them: a bounded step.
    int run(Transaction& tx, int limit);

    // The last step has seen the newest job that could be over: the next one starts anew.
    bool has_seen_all() const { return has_seen_all_; }

    // How long the next walk is put off by what the last one looked at in vain: it would decide the
    // same about all that is kept.
    Duration rest_after_walk() const;

  private:
    // The jobs that a step looks at. A job with very many rows has a step of its own, or several.
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
    int vain_steps_ = 0;  // of this walk: they have removed nothing
};

}  // namespace sluice
