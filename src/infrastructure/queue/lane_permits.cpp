#include "infrastructure/queue/lane_permits.hpp"

#include <algorithm>

#include "domain/values/check.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t told_at_once = 256;
constexpr Duration between_looks = 5ms;

bool has_room(const LaneMeter& meter, Timestamp now) {
    return meter.rule == nullptr || room_of(*meter.rule, meter.state, now).count > 0;
}

}  // namespace

// ── rules and meters ──

void LanePermits::set_rules(std::shared_ptr<const LimitRules> rules, Timestamp now) {
    looks_.clear();
    news_.clear();
    looked_at_again_.has_news = false;
    looked_at_again_.look_at = never;
    for (auto& [id, meter] : meters_) {
        touch(meter);
        follow_rate(meter.rule_id, *rules_, *rules, meter.state, now);
        forget_lanes(meter);
    }
    for (auto& [rule, meter] : pauses_) forget_lanes(meter);
    pauses_.clear();
    rules_ = std::move(rules);
    ++generation_;
    forget_meters(now);
    if (!looked_at_again_.waiting.empty()) announce(looked_at_again_);
}

// Its rule is found again by the first lane that needs it. Lanes that waited with it are told.
void LanePermits::forget_lanes(LaneMeter& meter) {
    for (LaneGate* lane : meter.waiting) lane->held_by = &looked_at_again_;
    looked_at_again_.waiting.splice(looked_at_again_.waiting.end(), meter.waiting);
    meter.rule = nullptr;
    meter.users = 0;
    meter.state.active = 0;
    meter.untold = 0;
    meter.has_news = false;
    meter.look_at = never;
}

// Values by which rules count apart come from clients; meters that nobody needs must not stay.
// Those that news_, looks_ or changed_ name do.
void LanePermits::forget_meters(Timestamp now) {
    std::erase_if(meters_, [&](const auto& entry) {
        const LaneMeter& meter = entry.second;
        const bool is_named = meter.has_news || meter.look_at != never || meter.before;
        const bool goes =
            meter.users == 0 && !is_named && meter.state.active == 0 && is_rested(meter.state, now);
        if (goes && meter.state != MeterState{}) forgotten_.push_back(entry.first);
        return goes;
    });
    forget_above_ = 2 * meters_.size() + 1024;
}

LaneMeter& LanePermits::meter_of(const Permit& permit, const Lane& lane, Timestamp now) {
    if (!permit.rule->has_meter()) {
        LaneMeter& pause = pauses_[permit.rule];
        pause.rule = permit.rule;
        return pause;
    }
    LaneMeter& meter = meters_[permit.meter];
    if (meter.rule == nullptr) {
        meter.id = permit.meter;
        meter.rule = permit.rule;
        meter.rule_id = permit.rule->id;
        meter.name = meter_name(*permit.rule, lane);
        settle(*permit.rule, meter.state, now);
    }
    return meter;
}

void LanePermits::bind(LaneGate& lane, Timestamp now) {
    if (lane.bound == generation_) return;
    if (meters_.size() > forget_above_) forget_meters(now);
    lane.bound = generation_;
    lane.permits = rules_->permits_of(*lane.name);
    lane.meters.clear();
    lane.states.clear();
    for (const Permit& permit : lane.permits) {
        LaneMeter& meter = meter_of(permit, *lane.name, now);
        ++meter.users;
        lane.meters.push_back(&meter);
        lane.states.push_back(&meter.state);
    }
}

void LanePermits::drop(LaneGate& lane) {
    release(lane);
    if (lane.bound != generation_) return;
    for (LaneMeter* meter : lane.meters) {
        if (--meter->users == 0) unschedule(*meter);
    }
    lane.bound = 0;
}

void LanePermits::restore(const KeptBucket& bucket) {
    LaneMeter& meter = meters_[bucket.meter];
    meter.id = bucket.meter;
    meter.rule_id = bucket.rule_id;
    meter.name = bucket.name;
    meter.state.full_at_ns = bucket.state.full_at_ns;
    meter.state.owed_until_ns = bucket.state.owed_until_ns;
    meter.state.starts = bucket.state.starts;
}

std::vector<MeterState> LanePermits::meters_of(std::span<const MeterId> ids) const {
    std::vector<MeterState> states;
    states.reserve(ids.size());
    for (const MeterId id : ids) {
        const auto found = meters_.find(id);
        states.push_back(found == meters_.end() ? MeterState{} : found->second.state);
    }
    return states;
}

std::vector<const LaneMeter*> LanePermits::meters() const {
    std::vector<const LaneMeter*> all;
    for (const auto& [id, meter] : meters_) {
        if (meter.state != MeterState{}) all.push_back(&meter);
    }
    return all;
}

// ── what was changed ──

void LanePermits::touch(LaneMeter& meter) {
    if (meter.before) return;
    meter.before = meter.state;
    changed_.push_back(&meter);
}

std::vector<const LaneMeter*> LanePermits::changed() const {
    return {changed_.begin(), changed_.end()};
}

void LanePermits::keep_changes() {
    for (LaneMeter* meter : changed_) meter->before.reset();
    changed_.clear();
}

std::vector<KeptBucket> LanePermits::kept_buckets() const {
    std::vector<KeptBucket> buckets;
    for (const auto& [id, meter] : meters_) {
        const MeterState& kept = meter.before ? *meter.before : meter.state;
        if (kept.full_at_ns != 0) buckets.push_back({id, meter.rule_id, meter.name, kept});
    }
    return buckets;
}

// ── starts and ends ──

void LanePermits::add_leases(LaneGate& lane, std::int64_t count, Timestamp now) {
    bind(lane, now);
    for (LaneMeter* meter : lane.meters) {
        if (!meter->rule->max_active) continue;
        touch(*meter);
        meter->state.active += count;
    }
}

bool LanePermits::is_open(LaneGate& lane, Timestamp now) {
    bind(lane, now);
    if (lane.held_by != nullptr && !has_room(*lane.held_by, now)) return false;
    const Admission admission = admission_of(lane.permits, lane.states, now);
    if (admission.count > 0) return true;
    hold_back(lane, *lane.meters[admission.closed_by]);
    watch(*lane.held_by, now);
    return false;
}

void LanePermits::start(LaneGate& lane, Timestamp now) {
    bind(lane, now);
    for (LaneMeter* meter : lane.meters) {
        if (!meter->rule->has_meter()) continue;
        touch(*meter);
        note_start(*meter->rule, meter->state, now);
        if (!meter->waiting.empty()) watch(*meter, now);
    }
}

void LanePermits::end(LaneGate& lane, Timestamp now) {
    bind(lane, now);
    for (LaneMeter* meter : lane.meters) {
        if (!meter->rule->max_active) continue;
        touch(*meter);
        note_end(*meter->rule, meter->state);
        if (!meter->waiting.empty()) announce(*meter);
    }
}

// ── waiting lanes ──

void LanePermits::hold_back(LaneGate& lane, LaneMeter& meter) {
    if (lane.held_by == &meter) return;
    release(lane);
    lane.held_by = &meter;
    lane.place = meter.waiting.insert(meter.waiting.end(), &lane);
}

void LanePermits::release(LaneGate& lane) {
    if (lane.held_by == nullptr) return;
    lane.held_by->waiting.erase(lane.place);
    lane.held_by = nullptr;
}

void LanePermits::look_again(LaneGate& lane) {
    hold_back(lane, looked_at_again_);
    announce(looked_at_again_);
}

void LanePermits::announce(LaneMeter& meter) {
    meter.untold = meter.waiting.size();
    if (!std::exchange(meter.has_news, true)) news_.push_back(&meter);
}

// Looks again when the meter may have room by time alone.
void LanePermits::watch(LaneMeter& meter, Timestamp now) {
    const Room room = room_of(*meter.rule, meter.state, now);
    if (room.count > 0 || room.look_again == never) return;
    schedule(meter, std::max(room.look_again, meter.looked_at + between_looks));
}

void LanePermits::schedule(LaneMeter& meter, Timestamp time) {
    if (meter.look_at <= time) return;
    unschedule(meter);
    meter.look_at = time;
    looks_.emplace(Look{time, meter.rule, meter.id}, &meter);
}

void LanePermits::unschedule(LaneMeter& meter) {
    if (meter.look_at == never) return;
    looks_.erase({meter.look_at, meter.rule, meter.id});
    meter.look_at = never;
}

// A meter comes by room with news, or at a time at which it is looked at: that is at most so much
// later as looks are apart.
std::vector<LaneGate*> LanePermits::aside_but_maybe_open(Timestamp now) const {
    std::vector<LaneGate*> lanes;
    const auto add = [&](const LaneMeter& meter) {
        if (!has_room(meter, now)) return;
        for (LaneGate* lane : meter.waiting) {
            if (lane->is_aside) lanes.push_back(lane);
        }
    };
    for (const LaneMeter* meter : news_) add(*meter);
    for (const auto& [look, meter] : looks_) {
        if (std::get<0>(look) > now + between_looks) break;
        if (!meter->has_news) add(*meter);
    }
    return lanes;
}

std::vector<LanePermits::Opened> LanePermits::opened(Timestamp now, ReadyOf ready_of) {
    while (!looks_.empty() && next_look() <= now) {
        LaneMeter& meter = *looks_.begin()->second;
        unschedule(meter);
        if (meter.untold == 0) {
            announce(meter);
        } else if (!std::exchange(meter.has_news, true)) {
            news_.push_back(&meter);
        }
    }
    std::vector<Opened> opened;
    for (LaneMeter* meter : std::exchange(news_, {})) tell(*meter, now, ready_of, opened);
    return opened;
}

void LanePermits::tell(LaneMeter& meter, Timestamp now, ReadyOf ready_of,
                       std::vector<Opened>& opened) {
    meter.has_news = false;
    meter.looked_at = now;
    if (!has_room(meter, now)) {
        meter.untold = 0;
        if (!meter.waiting.empty()) watch(meter, now);
        return;
    }
    for (std::size_t told = 0; told < told_at_once; ++told) {
        meter.untold = std::min(meter.untold, meter.waiting.size());  // some may have left
        if (meter.untold == 0) return;
        --meter.untold;
        meter.waiting.splice(meter.waiting.end(), meter.waiting, meter.waiting.begin());
        tell(*meter.waiting.back(), now, ready_of, opened);
    }
    meter.untold = std::min(meter.untold, meter.waiting.size());
    if (meter.untold > 0) schedule(meter, now + between_looks);
}

// A lane that can start some of its jobs only goes on waiting, with the meter that has the least
// room.
void LanePermits::tell(LaneGate& lane, Timestamp now, ReadyOf ready_of,
                       std::vector<Opened>& opened) {
    const auto ready = static_cast<std::int64_t>(ready_of(lane));
    if (ready == 0) {
        release(lane);
        return;
    }
    if (!is_open(lane, now)) return;
    std::int64_t count = ready;
    LaneMeter* least = nullptr;
    for (LaneMeter* meter : lane.meters) {
        const std::int64_t room = room_of(*meter->rule, meter->state, now).count;
        if (room < count) {
            count = room;
            least = meter;
        }
    }
    least != nullptr ? hold_back(lane, *least) : release(lane);
    opened.push_back({&lane, count});
}

// ── checks ──

std::vector<MeterDifference> LanePermits::check(const std::map<Lane, std::int64_t>& leases,
                                                bool repair, Timestamp now) {
    std::map<MeterId, std::int64_t> leased;
    for (const auto& [lane, count] : leases) {
        for (const Permit& permit : rules_->permits_of(lane)) {
            if (!permit.rule->max_active) continue;
            meter_of(permit, lane, now);
            leased[permit.meter] += count;
        }
    }
    std::vector<MeterDifference> differences;
    for (auto& [id, meter] : meters_) {
        const auto found = leased.find(id);
        const std::int64_t real = found == leased.end() ? 0 : found->second;
        if (meter.rule == nullptr || meter.state.active == real) continue;
        differences.push_back({meter.rule->id, meter.name, meter.state.active, real});
        if (!repair) continue;
        touch(meter);
        meter.state.active = real;
        if (!meter.waiting.empty()) announce(meter);
    }
    std::sort(differences.begin(), differences.end(), [](const auto& a, const auto& b) {
        return std::tie(a.rule, a.meter) < std::tie(b.rule, b.meter);
    });
    return differences;
}

void LanePermits::clear() {
    looks_.clear();
    news_.clear();
    changed_.clear();
    forgotten_.clear();
    meters_.clear();
    pauses_.clear();
    looked_at_again_ = LaneMeter{};
    rules_ = LimitRules::none();
    ++generation_;
    forget_above_ = 1024;
}

}  // namespace sluice
