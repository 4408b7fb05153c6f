#pragma once

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "domain/jobs/ids.hpp"
#include "domain/values/time.hpp"

namespace sluice {

// When leases run out and deadlines come, in memory, for a store that alone owns its data.
class LeaseClock {
  public:
    // Sets or moves both moments of a leased job; a deadline of `never` is not watched.
    void set(JobId id, Timestamp until, Timestamp deadline);
    // Sets when the lease of a leased job runs out, and keeps its deadline.
    void move(JobId id, Timestamp until);
    void erase(JobId id);
    bool contains(JobId id) const { return leases_.contains(id); }

    // The earliest first, `limit` at the most, at or before `now`.
    std::vector<JobId> expired(Timestamp now, int limit) const;
    std::vector<JobId> overdue(Timestamp now, int limit) const;

    // The earliest moment of either kind, or `never`.
    Timestamp next_due() const;

    void clear();

  private:
    struct Moments {
        Timestamp until;
        Timestamp deadline;
    };
    std::unordered_map<JobId, Moments> leases_;
    std::set<std::pair<Timestamp, JobId>> by_until_;
    std::set<std::pair<Timestamp, JobId>> by_deadline_;
};

}  // namespace sluice
