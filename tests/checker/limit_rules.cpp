// What limits demand of leases. Only what is certain is judged: a lease whose claim was sent after
// a change of a limit had been answered, and was answered before the next change was sent.
#include "checker/limit_versions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "checker/rules.hpp"
#include "checker/waiting_jobs.hpp"

namespace sluice::checker {
namespace {

constexpr Span hour = std::chrono::hours(1);

using Starts = std::vector<const Start*>;

// The starts that a version of a limit covers, by meter, of those that are wanted.
std::map<std::string, Starts> by_meter(const LimitVersion& version,
                                       const std::vector<Start>& starts,
                                       const std::function<bool(const Start&)>& wanted) {
    std::map<std::string, Starts> meters;
    for (const Start& start : starts) {
        if (!wanted(start) || !version.covers(*start.job, start.commit)) continue;
        meters[version.meter_of(*start.job)].push_back(&start);
    }
    return meters;
}

// The limits that an answer says to be lifted.
std::vector<std::string> lifted_by(const Operation& operation) {
    std::vector<std::string> lifted;
    if (text(operation.args, "path").ends_with("/lift")) {
        lifted.push_back(text(operation.result, "id"));
    }
    for (const Json& limit : list(operation.result, "lifted")) lifted.push_back(text(limit, "id"));
    return lifted;
}

// ── active jobs ──

// At a moment at which more leases are open for certain than is permitted, the last of them was
// given too much: so the limit must have been in force when it was given, at the earliest.
void look_at_active(const LimitVersion& version, const std::string& meter, const Starts& starts,
                    Row& row) {
    std::multimap<Time, Time> open;  // by their ends: when their claims were sent
    for (const Start* start : starts) {
        const Time now = start->commit.until;
        open.erase(open.begin(), open.upper_bound(now));
        if (start->open_until <= now) continue;
        open.emplace(start->open_until, start->commit.from);
        const Time last =
            std::max_element(open.begin(), open.end(), [](const auto& a, const auto& b) {
                return a.second < b.second;
            })->second;
        if (!version.certain.has(last, now)) continue;
        row.expect(static_cast<std::int64_t>(open.size()) <= *version.terms.max_active,
                   start->lease->id,
                   fmt::format("made {} active of {} for {}", open.size(),
                               *version.terms.max_active, meter));
    }
}

// ── starts ──

// By which interval each start is judged: by the clients' clock, or by the engine's.
using Moment = std::function<Interval(const Start&)>;

// In no time may more have started than the bucket holds and what it gains meanwhile. `spare`: how
// far the clocks may be off by which nodes spend it.
void look_at_windows(const RateBound& rate, const std::string& meter, const Starts& starts,
                     const Moment& moment, Span spare, Row& row) {
    std::vector<Interval> moments;
    for (const Start* start : starts) moments.push_back(moment(*start));
    std::sort(moments.begin(), moments.end(),
              [](const Interval& a, const Interval& b) { return a.until < b.until; });
    for (const Interval& first : moments) {
        std::int64_t count = 0;
        bool is_kept = true;
        for (const Interval& last : moments) {
            if (last.from < first.from) continue;
            ++count;
            const Span time = last.until - first.from + spare;
            const double gained = static_cast<double>(time.count()) *
                                  static_cast<double>(rate.count) /
                                  static_cast<double>(rate.period.count());
            const bool fits = static_cast<double>(count) <=
                              static_cast<double>(rate.burst) + gained * 1.01 + 0.001;
            const bool fits_hour = !rate.whole_hour || time > hour || count <= rate.count;
            if (is_kept && (!fits || !fits_hour)) {
                is_kept = false;
                row.expect(false, meter, fmt::format("{} starts in {} us", count, time.count()));
            }
        }
        // Fewer starts than the bucket holds fit into any time.
        if (is_kept && count > rate.burst) row.expect(true, meter, "");
    }
}

void look_at_starts(const LimitVersion& version, const std::string& meter, const Starts& starts,
                    const Limits& limits, Row& row) {
    const auto by_clients = [](const Start& start) { return start.commit; };
    look_at_windows(*version.terms.rate, meter, starts, by_clients, 2 * limits.judges, row);
    if (limits.clock_steps) return;
    const auto by_engine = [](const Start& start) {
        return Interval{start.lease->claimed->at, start.lease->claimed->at};
    };
    // Two times that are cut off to milliseconds may be one more apart.
    const Span rounding = std::chrono::milliseconds(1);
    look_at_windows(*version.terms.rate, meter, starts, by_engine, rounding + 2 * limits.judges,
                    row);
}

// ── meters ──

bool covers_by_name(const Json& limit, const Job& job) {
    LimitVersion version;
    version.terms = read_terms(limit);
    return version.may_cover(job);
}

std::int64_t open_leases(const Evidence& evidence, const Json& limit) {
    return std::count_if(evidence.leases.begin(), evidence.leases.end(), [&](const auto& entry) {
        const Lease& lease = entry.second;
        const Job* job = evidence.job_of(lease);
        return job != nullptr && lease.claimed != nullptr && lease.closed == nullptr &&
               covers_by_name(limit, *job);
    });
}

// A change to what there is already is no change, and the answer says so.
bool changed_nothing(const Json& answer) {
    const boost::json::array& said = list(answer, "warnings");
    return std::any_of(said.begin(), said.end(), [](const Json& warning) {
        return std::string_view(warning.as_string()).starts_with("nothing differs");
    });
}

}  // namespace

// A change of a limit that was acknowledged is in the history of limits, by its reason. What an
// answer calls lifted has been lifted by then, maybe by another operator.
void no_lost_change(const Evidence& evidence, const Limits& limits, Row& row) {
    const std::vector<Interval> commits = commits_of_changes(evidence, limits);
    std::set<std::string> changes;
    std::map<std::string, Time> lifts;  // by limit: the earliest
    for (std::size_t i = 0; i < commits.size(); ++i) {
        const LimitChange& change = evidence.limit_changes[i];
        changes.insert(change.reason);
        if (change.after.is_null()) lifts.try_emplace(change.limit, commits[i].from);
    }
    for (const Operation& operation : evidence.operations) {
        if (!operation.is_ok("change_limit") || flag(operation.result, "dry_run")) continue;
        const std::vector<std::string> lifted = lifted_by(operation);
        for (const std::string& limit : lifted) {
            const auto lift = lifts.find(limit);
            row.expect(lift != lifts.end() && lift->second <= operation.t1, limit,
                       "was not lifted when an answer said so");
        }
        if (changed_nothing(operation.result)) continue;
        const std::string reason = text(operation.args, "reason");
        row.expect(!lifted.empty() || changes.contains(reason), reason,
                   "is not in the history of limits");
    }
}

// No lease is given that leaves more leases of a meter open than its limit permits. A limit that
// comes later than the leases stops none of them. By the clients' clock.
void active_jobs_are_bounded(const Evidence& evidence, const Limits& limits, Row& row) {
    const std::vector<Start> starts = all_starts(evidence, limits);
    for (const LimitVersion& version : limit_versions(evidence, limits)) {
        if (!version.terms.max_active) continue;
        const auto meters = by_meter(version, starts, [&](const Start& start) {
            return start.commit.until <= version.certain.until &&
                   start.open_until > version.certain.from;
        });
        for (const auto& [meter, those] : meters) look_at_active(version, meter, those, row);
    }
}

// In any time T at most burst + T * rate jobs of a meter start, and of a quota at most as many in
// any hour as it names, whatever happens to nodes meanwhile. Not where the clock of a single node
// is set: its buckets are as far off as that clock.
void starts_are_bounded(const Evidence& evidence, const Limits& limits, Row& row) {
    if (limits.clock_steps && limits.starts_renew_leases) return;
    const std::vector<Start> starts = all_starts(evidence, limits);
    for (const LimitVersion& version : limit_versions(evidence, limits)) {
        if (!version.terms.rate) continue;
        const auto meters = by_meter(
            version, starts, [&](const Start& start) { return version.certain.has(start.commit); });
        for (const auto& [meter, those] : meters) {
            // Whether a quota keeps its bucket while a tenant has another one is not looked at.
            std::map<std::ptrdiff_t, Starts> parts;
            for (const Start* start : those) {
                parts[version.exceptions_before(*start->job, start->commit.from)].push_back(start);
            }
            for (const auto& [number, part] : parts) {
                look_at_starts(version, meter, part, limits, row);
            }
        }
    }
}

// Whenever the engine compares meters with leases, they are equal; and at the end its limits have
// as many active jobs as the history has open leases.
void meters_equal_leases(const Evidence& evidence, const Limits& /*limits*/, Row& row) {
    for (const Operation& operation : evidence.operations) {
        if (!operation.is_ok("check_limits")) continue;
        const auto& differences = list(operation.result, "differences");
        row.expect(differences.empty(), operation.actor, "found " + serialize(differences));
    }
    for (const Json& limit : evidence.limits) {
        if (number(limit, "max_active") == 0) continue;
        const std::int64_t open = open_leases(evidence, limit);
        // Which one of several quotas holds for a tenant is not looked at.
        if (text(limit, "kind") == "quota" && open > 0) continue;
        row.expect(
            number(limit, "active") == open, text(limit, "id"),
            fmt::format("has {} active, and {} leases are open", number(limit, "active"), open));
    }
}

// From the commit of a pause on, be it a throttle, maintenance, or whatever, until it is lifted, no
// lease is given of a job that it covers. A claim that was served meanwhile counts as a case if
// such a job was waiting.
void pauses_hold(const Evidence& evidence, const Limits& limits, Row& row) {
    const std::vector<Start> starts = all_starts(evidence, limits);
    const std::vector<WaitingJob> jobs = waiting_jobs(evidence, limits);
    for (const LimitVersion& version : limit_versions(evidence, limits)) {
        if (!version.terms.paused) continue;
        for (const Start& start : starts) {
            if (!version.certain.has(start.commit)) continue;
            if (!version.covers(*start.job, start.commit)) continue;
            row.expect(false, start.lease->id,
                       "was given while there was a pause: " + version.limit);
        }
        for (const Operation& claim : evidence.operations) {
            const Interval time{claim.t0, claim.t1};
            if (!claim.is_ok("claim") || !version.certain.has(time)) continue;
            const bool might_give = std::any_of(jobs.begin(), jobs.end(), [&](const auto& job) {
                return job.job->tenant() == claim.tenant && job.since <= time.from &&
                       time.until <= job.gone && version.covers(*job.job, time);
            });
            if (might_give) row.expect(true, "", "");
        }
    }
}

}  // namespace sluice::checker
