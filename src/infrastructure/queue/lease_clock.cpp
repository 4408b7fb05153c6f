#include "infrastructure/queue/lease_clock.hpp"

#include <algorithm>

namespace sluice {
namespace {

std::vector<JobId> up_to(const std::set<std::pair<Timestamp, JobId>>& moments, Timestamp now,
                         int limit) {
    std::vector<JobId> ids;
    for (const auto& [moment, id] : moments) {
        if (moment > now || std::ssize(ids) >= limit) break;
        ids.push_back(id);
    }
    return ids;
}

Timestamp earliest(const std::set<std::pair<Timestamp, JobId>>& moments) {
    return moments.empty() ? never : moments.begin()->first;
}

}  // namespace

void LeaseClock::set(JobId id, Timestamp until, Timestamp deadline) {
    erase(id);
    leases_.emplace(id, Moments{until, deadline});
    by_until_.emplace(until, id);
    if (deadline != never) by_deadline_.emplace(deadline, id);
}

void LeaseClock::move(JobId id, Timestamp until) {
    const auto found = leases_.find(id);
    if (found != leases_.end()) set(id, until, Moments(found->second).deadline);
}

void LeaseClock::erase(JobId id) {
    const auto found = leases_.find(id);
    if (found == leases_.end()) return;
    by_until_.erase({found->second.until, id});
    by_deadline_.erase({found->second.deadline, id});
    leases_.erase(found);
}

std::vector<JobId> LeaseClock::expired(Timestamp now, int limit) const {
    return up_to(by_until_, now, limit);
}

std::vector<JobId> LeaseClock::overdue(Timestamp now, int limit) const {
    return up_to(by_deadline_, now, limit);
}

Timestamp LeaseClock::next_due() const {
    return std::min(earliest(by_until_), earliest(by_deadline_));
}

void LeaseClock::clear() {
    leases_.clear();
    by_until_.clear();
    by_deadline_.clear();
}

}  // namespace sluice
