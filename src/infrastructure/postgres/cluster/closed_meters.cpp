#include "infrastructure/postgres/cluster/closed_meters.hpp"

#include <algorithm>
#include <functional>

namespace sluice::postgres {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t told_at_once = 256;  // lanes of one meter
constexpr Duration between_tells = 5ms;

// A rule that only pauses has no meter: its lanes wait under a number of its own.
MeterId name_of(const Permit& permit) {
    if (permit.meter != 0) return permit.meter;
    return static_cast<MeterId>(std::hash<std::string>()(permit.rule->id) | 1);
}

bool is_paused(const LimitRule& rule, Timestamp now) {
    return rule.paused && !rule.is_over(now);
}

// Whether the rule goes on holding back the same jobs.
bool is_same(const LimitRule& a, const LimitRule& b) {
    return a.kind == b.kind && a.scope == b.scope && a.per == b.per && a.profile == b.profile &&
           a.max_active == b.max_active && a.rate == b.rate && a.paused == b.paused &&
           a.until == b.until;
}

bool are_quotas_same(const LimitRules& before, const LimitRules& after) {
    const auto all_in = [](const LimitRules& from, const LimitRules& to) {
        return std::all_of(from.all().begin(), from.all().end(), [&](const LimitRule& rule) {
            if (rule.kind != LimitKind::quota) return true;
            const LimitRule* const other = to.find(rule.id);
            return other && is_same(rule, *other);
        });
    };
    return before.profiles() == after.profiles() && all_in(before, after) && all_in(after, before);
}

}  // namespace

void ClosedMeters::schedule(Entry& meter, Timestamp due) {
    Closed& closed = meter.second;
    if (closed.due != never) by_time_.erase({closed.due, meter.first});
    closed.due = due;
    if (due != never) by_time_.emplace(due, meter.first);
}

void ClosedMeters::close(const Permit& by, std::shared_ptr<const LimitRules> rules,
                         Timestamp look_again) {
    Entry& meter = *closed_.try_emplace(name_of(by)).first;
    meter.second.by = by;
    meter.second.rules = std::move(rules);
    meter.second.is_open = false;
    schedule(meter, look_again);
}

void ClosedMeters::wait_with(Entry& meter, LaneId lane) {
    if (meter.second.lanes.insert(lane).second) ++lists_[lane];
}

bool ClosedMeters::hold_back(LaneId lane, const Permits& permits,
                             const std::shared_ptr<const LimitRules>& rules, Timestamp now) {
    if (!permits) return false;
    bool is_held = false;
    for (const Permit& permit : *permits) {
        auto found = closed_.find(name_of(permit));
        const bool is_listed = found != closed_.end() && !found->second.is_open;
        if (is_paused(*permit.rule, now)) {
            if (!is_listed) {
                close(permit, rules, permit.rule->over_at());
                found = closed_.find(name_of(permit));
            }
        } else if (!is_listed || found->second.due <= now) {
            continue;
        }
        wait_with(*found, lane);
        is_held = true;
    }
    return is_held;
}

void ClosedMeters::tell(MeterId meter, Timestamp now, Told& told) {
    Entry& entry = *closed_.find(meter);
    std::set<LaneId>& lanes = entry.second.lanes;
    for (std::size_t i = 0; i < told_at_once && !lanes.empty(); ++i) {
        const LaneId lane = lanes.extract(lanes.begin()).value();
        const auto lists = lists_.find(lane);
        if (--lists->second > 0) continue;
        lists_.erase(lists);
        told[lane] += entry.second.count;
    }
    schedule(entry, lanes.empty() ? never : now + between_tells);
    if (lanes.empty()) closed_.erase(meter);
}

void ClosedMeters::open(MeterId meter, int count, Timestamp now, Told& told) {
    const auto found = closed_.find(meter);
    if (found == closed_.end()) return;
    Closed& closed = found->second;
    closed.count = closed.is_open ? std::max(closed.count, count) : count;
    closed.is_open = true;
    tell(meter, now, told);
}

void ClosedMeters::look_by(MeterId meter, Timestamp time) {
    const auto found = closed_.find(meter);
    if (found == closed_.end() || found->second.is_open || found->second.due <= time) return;
    schedule(*found, time);
}

void ClosedMeters::open_all(Timestamp now, Told& told) {
    std::vector<MeterId> all;
    for (const auto& [meter, closed] : closed_) all.push_back(meter);
    for (const MeterId meter : all) open(meter, woken_at_once, now, told);
}

std::vector<ClosedMeters::Opened> ClosedMeters::open_due(Timestamp now, Told& told) {
    std::vector<Opened> opened;
    while (next_due() <= now) {
        const MeterId meter = by_time_.begin()->second;
        const Closed& closed = closed_.at(meter);
        Opened& former = opened.emplace_back(Opened{closed.by, closed.rules, closed.due});
        for (const LaneId lane : closed.lanes) {
            if (former.lanes.size() < told_at_once) former.lanes.push_back(lane);
        }
        open(meter, closed.is_open ? closed.count : woken_at_once, now, told);
    }
    return opened;
}

void ClosedMeters::close_again(const std::vector<Opened>& opened) {
    for (const Opened& former : opened) {
        close(former.by, former.rules, former.due);
        Entry& meter = *closed_.find(name_of(former.by));
        for (const LaneId lane : former.lanes) wait_with(meter, lane);
    }
}

void ClosedMeters::follow(const LimitRules& before, const LimitRules& after, Timestamp now,
                          Told& told) {
    // Of the quotas of one job type a tenant has one: each change may give a lane another one.
    const bool are_quotas_new = !are_quotas_same(before, after);
    std::vector<MeterId> changed;
    for (const auto& [meter, closed] : closed_) {
        const LimitRule& former = *closed.by.rule;
        const LimitRule* const rule = after.find(former.id);
        const bool is_kept =
            rule && is_same(*rule, former) && !(are_quotas_new && former.kind == LimitKind::quota);
        if (!is_kept) changed.push_back(meter);
    }
    for (const MeterId meter : changed) open(meter, woken_at_once, now, told);
}

std::vector<ClosedMeters::Waiting> ClosedMeters::waiting_for_permits() const {
    std::vector<Waiting> waiting;
    for (const auto& [meter, closed] : closed_) {
        const bool waits = !closed.is_open && closed.by.meter != 0 && closed.by.rule->max_active;
        if (waits) waiting.push_back({closed.by, closed.rules});
    }
    return waiting;
}

}  // namespace sluice::postgres
