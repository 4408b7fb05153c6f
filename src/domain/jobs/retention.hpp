#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "domain/jobs/job_state.hpp"
#include "domain/values/time.hpp"

namespace sluice {

// For how long ended jobs are kept, by their outcome.
class Retention {
  public:
    // Every job is kept for ever.
    Retention() = default;
    // Every outcome is kept for this long; zero: for ever.
    explicit Retention(Duration all) { kept_.fill(all); }

    void set(JobState outcome, Duration kept) { kept_[index_of(outcome)] = kept; }
    Duration of(JobState outcome) const { return kept_[index_of(outcome)]; }

    // A job that ended before this moment may be removed; nothing where the outcome is kept for
    // ever, and for a state that is no outcome.
    std::optional<Timestamp> cutoff(JobState state, Timestamp now) const;

    // The same for stores: by JobState, in microseconds. The least number where no job may be
    // removed.
    std::vector<std::int64_t> cutoffs(Timestamp now) const;

    // A job that was submitted after this moment has not ended long enough ago, whatever its
    // outcome; nothing when all jobs are kept for ever.
    std::optional<Timestamp> latest_cutoff(Timestamp now) const;

    bool operator==(const Retention&) const = default;

  private:
    static std::size_t index_of(JobState outcome);

    std::array<Duration, 4> kept_{};
};

inline constexpr std::array outcomes{JobState::succeeded, JobState::failed, JobState::canceled,
                                     JobState::timed_out};

}  // namespace sluice
