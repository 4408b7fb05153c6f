#include "checker/closings.hpp"

#include <algorithm>

namespace sluice::checker {
namespace {

using Starts = std::vector<const Start*>;

// A number that changes at a time, by so much.
using Change = std::pair<Time, int>;

Intervals within(const Interval& whole, Intervals some) {
    for (Interval& interval : some) {
        interval.from = std::max(interval.from, whole.from);
        interval.until = std::min(interval.until, whole.until);
    }
    std::erase_if(some, [](const Interval& interval) { return interval.from >= interval.until; });
    return some;
}

// When there may have been as many leases as a limit permits.
Intervals times_when_full(std::int64_t max_active, const Starts& starts) {
    std::vector<Change> changes;
    for (const Start* start : starts) {
        changes.emplace_back(start->commit.from, 1);
        changes.emplace_back(start->gone_by, -1);
    }
    std::sort(changes.begin(), changes.end());
    Intervals full;
    std::int64_t open = 0;
    for (const auto& [at, change] : changes) {
        const bool was_full = open >= max_active;
        open += change;
        const bool is_full = open >= max_active;
        if (is_full && !was_full) full.push_back({at, Time::max()});
        if (was_full && !is_full) full.back().until = at;
    }
    return full;
}

// When a bucket may have been empty that may have been empty at first. Each start takes its token
// as late as it may have: what comes back meanwhile is lost by that.
Intervals times_when_empty(const RateBound& rate, Time first, const Starts& starts, Span clocks) {
    const Span token = rate.period / rate.count + Span(1);
    std::vector<Change> changes;
    for (const Start* start : starts) {
        if (start->commit.until <= first) continue;
        changes.emplace_back(std::max(first, start->commit.from), 1);
        changes.emplace_back(start->commit.until, -1);
    }
    std::sort(changes.begin(), changes.end());
    Time full_at = first + token * rate.burst;
    std::int64_t taking = 0;  // starts that may be taking their tokens now
    Intervals empty;
    Time since = first;
    const auto go_on_until = [&](Time next) {
        const std::int64_t others = rate.burst - 1 - taking;
        const Time again = others < 0 ? Time::max() : full_at - token * others + 2 * clocks;
        if (again > since) empty.push_back({since, std::min(again, next)});
        since = next;
    };
    for (const auto& [at, change] : changes) {
        go_on_until(at);
        taking += change;
        if (change < 0) full_at = std::max(full_at, at) + token;
    }
    go_on_until(Time::max());
    return empty;
}

}  // namespace

Closings::Closings(const Evidence& evidence, const Limits& limits)
    : clocks_(limits.judges),
      versions_(limit_versions(evidence, limits)),
      starts_(all_starts(evidence, limits)) {}

const Intervals& Closings::of(const Job& job) {
    const auto [found, is_new] = known_.try_emplace(&job);
    if (!is_new) return found->second;
    for (const LimitVersion& version : versions_) {
        if (!version.may_cover(job)) continue;
        const Intervals some = by(version, job);
        found->second.insert(found->second.end(), some.begin(), some.end());
    }
    return found->second;
}

Intervals Closings::by(const LimitVersion& version, const Job& job) const {
    const LimitTerms& terms = version.terms;
    if (terms.paused) return {version.possible};
    const std::string meter = version.meter_of(job);
    Starts starts;
    for (const Start& start : starts_) {
        const bool counts = start.job != &job && version.may_cover(*start.job) &&
                            start.commit.from < version.possible.until;
        if (counts && version.meter_of(*start.job) == meter) starts.push_back(&start);
    }
    Intervals closed;
    if (terms.max_active) closed = times_when_full(*terms.max_active, starts);
    if (terms.rate) {
        const auto started = static_cast<std::int64_t>(starts.size());
        if (terms.rate->whole_hour && started >= terms.rate->count) return {version.possible};
        const Intervals empty =
            times_when_empty(*terms.rate, version.possible.from, starts, clocks_);
        closed.insert(closed.end(), empty.begin(), empty.end());
    }
    return within(version.possible, std::move(closed));
}

}  // namespace sluice::checker
