#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "domain/jobs/job.hpp"

namespace sluice::postgres {

// A submitted job, and the hash of its first event.
struct SubmittedJob {
    SharedSpec spec;
    Digest first{};
};

// The jobs that were submitted to this node last and not claimed here since. Where jobs are claimed
// soon after they were submitted, a claim finds them here and need not read their wide rows; where
// a backlog grows, only their ids are kept. Bounded: in jobs and in bytes. Thread-safe.
class RecentSubmits {
  public:
    // To be called after the commit that has put the jobs.
    void keep(std::span<const SubmittedJob> jobs);

    // Hands over the jobs with these ids that are here, in this order. `fresh` are the jobs that
    // the claiming session itself puts.
    std::vector<std::optional<SubmittedJob>> take(std::span<const JobId> ids,
                                                  std::span<const SubmittedJob> fresh);

    // Whether nearly all jobs that were claimed lately had been submitted here shortly before.
    bool has_most() const { return percent_here_ >= 90; }

  private:
    void forget_oldest();

    std::mutex mutex_;
    std::unordered_map<JobId, std::optional<SubmittedJob>> jobs_;
    std::deque<JobId> arrivals_;  // also those that were handed over
    std::size_t payload_bytes_ = 0;
    std::atomic<int> percent_here_ = 100;  // a guess, until there were claims
};

}  // namespace sluice::postgres
