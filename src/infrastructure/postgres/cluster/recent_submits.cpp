#include "infrastructure/postgres/cluster/recent_submits.hpp"

#include <utility>

namespace sluice::postgres {
namespace {

constexpr std::size_t remembered_max = 8192;
constexpr std::size_t remembered_bytes_max = 16 * 1024 * 1024;

}  // namespace

void RecentSubmits::keep(std::span<const SubmittedJob> jobs) {
    const std::lock_guard lock(mutex_);
    for (const SubmittedJob& job : jobs) {
        const auto [entry, is_new] = jobs_.try_emplace(job.spec->id);
        if (!is_new) continue;
        arrivals_.push_back(job.spec->id);
        if (!has_most()) continue;
        entry->second = job;
        payload_bytes_ += job.spec->payload.size();
    }
    while (arrivals_.size() > remembered_max || payload_bytes_ > remembered_bytes_max)
        forget_oldest();
}

// A job that leaves unclaimed is a sign that a backlog grows.
void RecentSubmits::forget_oldest() {
    const auto oldest = jobs_.find(arrivals_.front());
    arrivals_.pop_front();
    if (oldest == jobs_.end()) return;
    if (oldest->second) payload_bytes_ -= oldest->second->spec->payload.size();
    jobs_.erase(oldest);
    percent_here_ = 0;
}

// The share of jobs that were here is a mean in which the last few claims count most.
std::vector<std::optional<SubmittedJob>> RecentSubmits::take(std::span<const JobId> ids,
                                                             std::span<const SubmittedJob> fresh) {
    std::vector<std::optional<SubmittedJob>> taken(ids.size());
    if (ids.empty()) return taken;
    std::unordered_map<JobId, const SubmittedJob*> of_session;
    for (const SubmittedJob& job : fresh) of_session.emplace(job.spec->id, &job);
    const std::lock_guard lock(mutex_);
    int here = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (const auto own = of_session.find(ids[i]); own != of_session.end()) {
            taken[i] = *own->second;
            ++here;
        } else if (const auto job = jobs_.find(ids[i]); job != jobs_.end()) {
            if (job->second) payload_bytes_ -= job->second->spec->payload.size();
            taken[i] = std::move(job->second);
            jobs_.erase(job);
            ++here;
        }
    }
    percent_here_ = (percent_here_ + here * 100 / static_cast<int>(ids.size())) / 2;
    return taken;
}

}  // namespace sluice::postgres
