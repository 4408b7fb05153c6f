#include "application/jobs/workers.hpp"

#include <algorithm>
#include <vector>

namespace sluice {

void Workers::claimed(const std::string& worker_id, const ClaimFilter& filter, Timestamp now) {
    if (seen_.size() >= workers_max && !seen_.contains({filter.tenant, worker_id})) drop_oldest();
    Entry& entry = seen_[{filter.tenant, worker_id}];
    if (entry.filter != filter) entry.filter = filter;
    entry.at = now;
}

// A client may use any number of worker names: of the workers that do not wait, those that were
// seen longest ago are dropped, several at once, so that not every claim has to look for them.
void Workers::drop_oldest() {
    std::vector<std::pair<Timestamp, Name>> idle;
    for (const auto& [name, entry] : seen_) {
        if (entry.waiting == 0) idle.emplace_back(entry.at, name);
    }
    const std::size_t dropped = std::min(idle.size(), dropped_at_once);
    std::partial_sort(idle.begin(), idle.begin() + static_cast<std::ptrdiff_t>(dropped),
                      idle.end());
    for (std::size_t i = 0; i < dropped; ++i) seen_.erase(idle[i].second);
}

void Workers::waits(const std::string& worker_id, const ClaimFilter& filter, bool waiting) {
    seen_[{filter.tenant, worker_id}].waiting += waiting ? 1 : -1;
}

WorkersSeen Workers::matching(const Lane& lane, Timestamp now) const {
    WorkersSeen found = of(lane.tenant, now);
    std::erase_if(found, [&](const WorkerSeen& worker) { return !worker.filter.accepts(lane); });
    return found;
}

WorkersSeen Workers::of(const std::string& tenant, Timestamp now) const {
    WorkersSeen found;
    for (const auto& [name, entry] : seen_) {
        const bool serves = tenant.empty() || entry.filter.any_tenant || name.first == tenant;
        if (!entry.is_alive(now) || !serves) continue;
        found.push_back({name.second, entry.filter, entry.at, entry.waiting > 0});
    }
    return found;
}

void Workers::forget_old(Timestamp now) {
    std::erase_if(seen_, [&](const auto& item) { return !item.second.is_alive(now); });
}

}  // namespace sluice
