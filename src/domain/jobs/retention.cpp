#include "domain/jobs/retention.hpp"

#include <algorithm>
#include <limits>

#include "domain/values/check.hpp"

namespace sluice {

std::size_t Retention::index_of(JobState outcome) {
    const auto found = std::find(outcomes.begin(), outcomes.end(), outcome);
    check(found != outcomes.end(), "only an outcome is kept for some time");
    return static_cast<std::size_t>(found - outcomes.begin());
}

std::optional<Timestamp> Retention::cutoff(JobState state, Timestamp now) const {
    if (!is_final(state) || of(state) == Duration{}) return std::nullopt;
    return now - of(state);
}

std::vector<std::int64_t> Retention::cutoffs(Timestamp now) const {
    std::vector<std::int64_t> all;
    for (int state = 0; state <= static_cast<int>(JobState::timed_out); ++state) {
        const auto cut = cutoff(static_cast<JobState>(state), now);
        all.push_back(cut ? to_micros(*cut) : std::numeric_limits<std::int64_t>::min());
    }
    return all;
}

std::optional<Timestamp> Retention::latest_cutoff(Timestamp now) const {
    std::optional<Timestamp> latest;
    for (const JobState outcome : outcomes) {
        if (const auto cut = cutoff(outcome, now)) latest = std::max(latest.value_or(*cut), *cut);
    }
    return latest;
}

}  // namespace sluice
