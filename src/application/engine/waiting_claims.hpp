#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "application/ports/batch.hpp"
#include "application/ports/store.hpp"

namespace sluice {

using PendingClaim = Pending<ClaimJobs, Claimed>;

inline const ClaimJobs& claim_of(const PendingClaim& pending) {
    return pending.items.front();
}

// Claims that found no job and wait for one. Waiting costs no thread and no query: a claim is run
// again only when a job that it accepts has become claimable; the claim that waits longest comes
// first.
class WaitingClaims {
  public:
    // Lets the claim wait until its wait_until. It goes behind all others, or, when it was woken in
    // vain, back to its position.
    void park(PendingClaim claim);

    // Takes out claims that accept the lanes that became ready, one for each job that they can
    // take.
    std::vector<PendingClaim> wake(std::span<const Readied> ready);

    // Whether a waiting claim accepts any of these.
    bool waits_for(std::span<const Readied> ready) const;

    // Takes out the claims that have waited until their wait_until.
    std::vector<PendingClaim> timed_out(Timestamp now);

    // Takes out the claim with this ticket.
    std::optional<PendingClaim> forget(std::uint64_t ticket);

    // Takes out all claims.
    std::vector<PendingClaim> clear();

    // The earliest wait_until of these claims, or `never`.
    Timestamp next_timeout() const { return by_time_.empty() ? never : by_time_.begin()->first; }

    std::size_t size() const { return line_of_.size(); }

  private:
    // Claims with equal filters stand in one line, in the order of their tickets.
    using Line = std::map<std::uint64_t, PendingClaim>;
    using Lines = std::map<ClaimFilter, Line>;

    PendingClaim take(Lines::iterator line, std::uint64_t ticket);

    Lines lines_;
    std::unordered_map<std::uint64_t, Lines::iterator> line_of_;
    std::set<std::pair<Timestamp, std::uint64_t>> by_time_;
};

}  // namespace sluice
