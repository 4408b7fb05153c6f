#pragma once

#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "application/batch.hpp"
#include "application/ports/store.hpp"

namespace sluice {

using PendingClaim = Pending<ClaimJobs, Claimed>;

// Claims that found nothing and wait for something. Waiting costs no thread and no query: a claim
// is looked at again only when a job that it accepts has become claimable, the one that waits
// longest first.
class WaitingRoom {
  public:
    // Lets the claim wait until its wait_until. It goes behind all others, or, when it was woken
    // for nothing, back to where it was.
    void park(PendingClaim claim);

    // Takes out claims that accept what became ready, one for each job that they can take.
    std::vector<PendingClaim> wake(std::span<const Readied> ready);

    // Whether a claim that waits accepts any of these.
    bool waits_for(std::span<const Readied> ready) const;

    // Takes out the claims whose time is over.
    std::vector<PendingClaim> timed_out(Timestamp now);

    // Takes out the claim with this ticket.
    std::optional<PendingClaim> forget(std::uint64_t ticket);

    // Takes out all.
    std::vector<PendingClaim> clear();

    // When the next claim's time is over, or `never`.
    Timestamp next_timeout() const { return by_time_.empty() ? never : by_time_.begin()->first; }

    std::size_t size() const { return places_.size(); }

  private:
    // Claims with equal filters stand in one line, in the order of their tickets.
    using Line = std::map<std::uint64_t, PendingClaim>;
    using Lines = std::map<ClaimFilter, Line>;

    PendingClaim take(Lines::iterator line, std::uint64_t ticket);

    Lines lines_;
    std::unordered_map<std::uint64_t, Lines::iterator> places_;
    std::set<std::pair<Timestamp, std::uint64_t>> by_time_;
};

}  // namespace sluice
