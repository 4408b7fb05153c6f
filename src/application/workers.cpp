#include "application/workers.hpp"

namespace sluice {

void Workers::claimed(const std::string& worker_id, const ClaimFilter& filter, Timestamp now) {
    Entry& entry = seen_[{filter.tenant, worker_id}];
    if (entry.filter != filter) entry.filter = filter;
    entry.at = now;
}

void Workers::waits(const std::string& worker_id, const ClaimFilter& filter, bool waiting) {
    seen_[{filter.tenant, worker_id}].waiting += waiting ? 1 : -1;
}

std::vector<WorkerSeen> Workers::matching(const Lane& lane, Timestamp now) const {
    std::vector<WorkerSeen> found;
    for (const auto& [name, entry] : seen_) {
        const bool alive = entry.waiting > 0 || entry.at + memory > now;
        if (alive && entry.filter.accepts(lane)) {
            found.push_back({name.second, entry.filter, entry.at, entry.waiting > 0});
        }
    }
    return found;
}

void Workers::forget_old(Timestamp now) {
    std::erase_if(seen_, [&](const auto& item) {
        return item.second.waiting == 0 && item.second.at + memory <= now;
    });
}

}  // namespace sluice
