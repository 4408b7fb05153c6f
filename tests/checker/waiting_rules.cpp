// Whether claims wait though there is a job that they could have: only of jobs that wait for
// nothing but permits from their submit on, and only in times without faults.
#include <fmt/format.h>

#include <algorithm>

#include "checker/closings.hpp"
#include "checker/rules.hpp"
#include "checker/waiting_jobs.hpp"

namespace sluice::checker {
namespace {

// Nodes look for themselves every other second when they were not told; and machines may be busy.
constexpr Span longest_wait = std::chrono::seconds(2) + std::chrono::seconds(1);
// For so long after a fault nothing is demanded.
constexpr Span recovery = std::chrono::seconds(1);

// The longest time within `whole` that none of the others touches.
Span longest_gap(const Interval& whole, Intervals others) {
    std::sort(others.begin(), others.end(),
              [](const Interval& a, const Interval& b) { return a.from < b.from; });
    Span longest{};
    Time since = whole.from;
    for (const Interval& other : others) {
        if (other.from > since)
            longest = std::max(longest, std::min(other.from, whole.until) - since);
        since = std::max(since, other.until);
        if (since >= whole.until) return longest;
    }
    return std::max(longest, whole.until - since);
}

// From the first fault until some time after the last one.
Intervals times_of_faults(const Evidence& evidence) {
    Intervals faults;
    for (const Operation& operation : evidence.operations) {
        if (operation.actor != "saboteur" && operation.actor != "chaos") continue;
        if (operation.op == "plan") continue;
        if (faults.empty()) faults.push_back({operation.t0, {}});
        faults.back().until = operation.t1 + recovery;
    }
    return faults;
}

Span wait_of(const Operation& claim) {
    return std::chrono::milliseconds(number(claim.args, "wait_ms"));
}

// A job that was held back, and the time over which it was for certain.
struct HeldBack {
    const Job* job;
    Interval time;
};

class Waits {
  public:
    Waits(const Evidence& evidence, const Limits& limits)
        : evidence_(evidence),
          closings_(evidence, limits),
          faults_(times_of_faults(evidence)),
          jobs_(waiting_jobs(evidence, limits)),
          held_back_(all_held_back()) {}

    // Looks for jobs that a claim could have had for too long: those that wait beside others that
    // are paused, or all others. A claim counts as a case if it would have waited for long enough
    // to show that it is not told of the job.
    void look_at_all(bool are_beside_paused, Row& row) {
        for (const Operation& claim : evidence_.operations) {
            if (!claim.is_ok("claim") || wait_of(claim) <= longest_wait) continue;
            for (const WaitingJob& waiting : jobs_) {
                const bool may_meet = waiting.job->tenant() == claim.tenant &&
                                      waiting.since < claim.t1 && claim.t0 < waiting.gone;
                if (may_meet) look_at(claim, waiting, are_beside_paused, row);
            }
        }
    }

  private:
    std::vector<HeldBack> all_held_back() const {
        std::vector<HeldBack> all;
        for (const LimitVersion& version : closings_.versions()) {
            if (!version.terms.paused) continue;
            for (const WaitingJob& waiting : jobs_) {
                const Interval time{std::max(version.certain.from, waiting.since),
                                    std::min(version.certain.until, waiting.gone)};
                if (time.from < time.until && version.covers(*waiting.job, time)) {
                    all.push_back({waiting.job, time});
                }
            }
        }
        return all;
    }

    bool is_beside_paused(const WaitingJob& waiting, Time at) const {
        return std::any_of(held_back_.begin(), held_back_.end(), [&](const HeldBack& other) {
            return other.job->tenant() == waiting.job->tenant() && other.time.from <= at &&
                   at < other.time.until;
        });
    }

    void look_at(const Operation& claim, const WaitingJob& waiting, bool are_beside_paused,
                 Row& row) {
        Intervals closed = closings_.of(*waiting.job);
        closed.insert(closed.end(), faults_.begin(), faults_.end());
        const Time begin = std::max(claim.t0, waiting.since);
        Time opened = begin;
        for (const Interval& other : closed) {
            if (other.from < waiting.gone) opened = std::max(opened, other.until);
        }
        if (is_beside_paused(waiting, std::min(opened, claim.t1)) != are_beside_paused) return;
        const Interval both{begin, std::min(claim.t1, waiting.until)};
        const Span gap = both.from < both.until ? longest_gap(both, std::move(closed)) : Span(0);
        const bool is_told = gap <= longest_wait;
        const bool would_show =
            opened <= claim.t1 && opened - claim.t0 < wait_of(claim) - longest_wait;
        if (is_told && !would_show) return;
        row.expect(is_told, waiting.job->id,
                   fmt::format("could have been given to {} for {} us", claim.actor, gap.count()));
    }

    const Evidence& evidence_;
    Closings closings_;
    Intervals faults_;
    std::vector<WaitingJob> jobs_;
    std::vector<HeldBack> held_back_;
};

}  // namespace

// When a limit is raised, a permit comes back or a pause ends, waiting claims are woken: none goes
// on waiting beside a job that every limit permits. Not judged once jobs were removed: when their
// permits were free is in no history then.
void permitted_jobs_start(const Evidence& evidence, const Limits& limits, Row& row) {
    if (!evidence.gone.empty()) return;
    Waits(evidence, limits).look_at_all(false, row);
}

// Jobs that every limit permits start as soon as if there were no others, while others of the same
// tenant are paused.
void closed_lanes_delay_no_others(const Evidence& evidence, const Limits& limits, Row& row) {
    if (!evidence.gone.empty()) return;
    Waits(evidence, limits).look_at_all(true, row);
}

}  // namespace sluice::checker
