#include "interfaces/http/native/next_starts.hpp"

#include <algorithm>

#include "application/limits/limits_now.hpp"
#include "interfaces/http/native/job_json.hpp"

namespace sluice::http::native {

std::optional<Timestamp> NextStarts::of_lane(const Lane& lane) {
    const auto [known, is_new] = known_.try_emplace(lane);
    if (is_new) known->second = next_eligible_at(permits_missing(reader_.limits(), lane, now_));
    return known->second;
}

std::optional<Timestamp> NextStarts::of(const Job& job) {
    if (job.now.state != JobState::queued) return std::nullopt;
    std::optional<Timestamp> due = planned_start(job);
    if (due && *due <= now_) due.reset();
    const std::optional<Timestamp> permitted = of_lane(lane_of(job.spec));
    if (!due || !permitted) return due ? due : permitted;
    return std::max(*due, *permitted);
}

}  // namespace sluice::http::native
