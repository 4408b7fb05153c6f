#include "application/jobs/workers.hpp"

namespace sluice {

void Workers::claimed(const std::string& worker_id, const ClaimFilter& filter, Timestamp now) {
    if (seen_.size() >= workers_max && !seen_.contains({filter.tenant, worker_id})) drop_oldest();
    Entry& entry = seen_[{filter.tenant, worker_id}];
    if (entry.filter != filter) entry.filter = filter;
    entry.at = now;
}

// A client may use any number of worker names: of the workers that do not wait, the one that was
// seen longest ago is dropped.
void Workers::drop_oldest() {
    auto oldest = seen_.end();
    for (auto entry = seen_.begin(); entry != seen_.end(); ++entry) {
        if (entry->second.waiting > 0) continue;
        if (oldest == seen_.end() || entry->second.at < oldest->second.at) oldest = entry;
    }
    if (oldest != seen_.end()) seen_.erase(oldest);
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
