#include "application/engine/waiting_claims.hpp"

#include <algorithm>

namespace sluice {
void WaitingClaims::park(PendingClaim claim) {
    const std::uint64_t ticket = claim_of(claim).ticket;
    by_time_.emplace(*claim_of(claim).wait_until, ticket);
    const auto line = lines_.try_emplace(claim_of(claim).filter).first;
    line_of_.emplace(ticket, line);
    line->second.emplace(ticket, std::move(claim));
}

PendingClaim WaitingClaims::take(Lines::iterator line, std::uint64_t ticket) {
    auto node = line->second.extract(ticket);
    PendingClaim claim = std::move(node.mapped());
    by_time_.erase({*claim_of(claim).wait_until, ticket});
    line_of_.erase(ticket);
    if (line->second.empty()) lines_.erase(line);
    return claim;
}

std::vector<PendingClaim> WaitingClaims::wake(std::span<const Readied> ready) {
    std::vector<PendingClaim> woken;
    for (const Readied& readied : ready) {
        for (int left = readied.count; left > 0;) {
            auto longest = lines_.end();
            for (auto line = lines_.begin(); line != lines_.end(); ++line) {
                if (!line->first.accepts(readied.lane)) continue;
                const bool waits_longer =
                    longest == lines_.end() ||
                    line->second.begin()->first < longest->second.begin()->first;
                if (waits_longer) longest = line;
            }
            if (longest == lines_.end()) break;
            woken.push_back(take(longest, longest->second.begin()->first));
            left -= claim_of(woken.back()).limit;
        }
    }
    return woken;
}

bool WaitingClaims::waits_for(std::span<const Readied> ready) const {
    const auto accepted = [&](const Readied& readied) {
        return std::any_of(lines_.begin(), lines_.end(),
                           [&](const auto& line) { return line.first.accepts(readied.lane); });
    };
    return std::any_of(ready.begin(), ready.end(), accepted);
}

std::vector<PendingClaim> WaitingClaims::timed_out(Timestamp now) {
    std::vector<PendingClaim> over;
    while (!by_time_.empty() && by_time_.begin()->first <= now) {
        const std::uint64_t ticket = by_time_.begin()->second;
        over.push_back(take(line_of_.at(ticket), ticket));
    }
    return over;
}

std::optional<PendingClaim> WaitingClaims::forget(std::uint64_t ticket) {
    const auto found = line_of_.find(ticket);
    if (found == line_of_.end()) return std::nullopt;
    return take(found->second, ticket);
}

std::vector<PendingClaim> WaitingClaims::clear() {
    return timed_out(never);
}

}  // namespace sluice
