// What a change of the rules does to the jobs that wait now.
#include <algorithm>
#include <set>

#include "application/limits/known_meters.hpp"
#include "application/limits/limits_now.hpp"

namespace sluice {
namespace {

using PermitsOfLanes = std::vector<std::vector<Permit>>;

std::vector<PermitNow> with_meters(const std::vector<Permit>& permits, KnownMeters& meters) {
    std::vector<PermitNow> all;
    for (const Permit& permit : permits) all.push_back({permit.rule, &meters.of(permit)});
    return all;
}

// One tenant is not told how much room others leave it: only whether there is some.
void forget_use_of_others(std::vector<PermitNow>& permits, Timestamp now) {
    std::erase_if(permits, [&](const PermitNow& permit) {
        return !counts_one_tenant(*permit.rule) &&
               room_of(*permit.rule, *permit.meter, now).count > 0;
    });
}

// Whether a rule has been changed, added or lifted, or a quota replaced, that these jobs need.
bool is_changed(const std::vector<Permit>& before, const std::vector<Permit>& after) {
    return !std::equal(before.begin(), before.end(), after.begin(), after.end(),
                       [](const Permit& a, const Permit& b) { return *a.rule == *b.rule; });
}

// As at the commit of the change: meters count what runs, and buckets follow their rates.
void follow_change(const LimitRules& before, const LimitRules& after,
                   std::span<const LaneNow> lanes, const PermitsOfLanes& permits,
                   KnownMeters& meters, Timestamp now) {
    std::set<const MeterState*> seen;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        for (const Permit& permit : permits[i]) {
            MeterState& meter = meters.of(permit);
            if (seen.insert(&meter).second) {
                meter.active = 0;
                follow_rate(permit.rule->id, before, after, meter, now);
            }
            meter.active += lanes[i].active;
        }
    }
}

}  // namespace

LimitEffect effect_of(const LimitRules& before, const LimitRules& after,
                      std::span<const LaneNow> lanes, LimitReader& limits, Timestamp now,
                      const std::string& only_tenant) {
    const PermitsOfLanes permits_before = permits_of(before, lanes);
    const PermitsOfLanes permits_after = permits_of(after, lanes);
    KnownMeters meters_before(limits);
    KnownMeters meters_after(limits);
    meters_before.read(permits_before);
    meters_after.read(permits_after);
    follow_change(before, after, lanes, permits_after, meters_after, now);
    std::vector<WaitingJobs> waiting;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const CountedWaiting counted(lanes[i]);
        if (counted.count == 0) continue;
        if (!only_tenant.empty() && lanes[i].lane.tenant != only_tenant) continue;
        WaitingJobs& jobs =
            waiting.emplace_back(WaitingJobs{.count = counted.count, .is_more = counted.is_more});
        jobs.is_covered = is_changed(permits_before[i], permits_after[i]);
        jobs.before = with_meters(permits_before[i], meters_before);
        jobs.after = with_meters(permits_after[i], meters_after);
        if (only_tenant.empty()) continue;
        forget_use_of_others(jobs.before, now);
        forget_use_of_others(jobs.after, now);
    }
    return effect_on(waiting, now);
}

}  // namespace sluice
