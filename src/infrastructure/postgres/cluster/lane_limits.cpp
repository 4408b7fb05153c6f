#include "infrastructure/postgres/cluster/lane_limits.hpp"

#include <algorithm>

#include "application/limits/stored_rules.hpp"
#include "application/ports/store.hpp"

namespace sluice::postgres {
namespace {

// More meters than these are found again by the claims that need them.
constexpr std::size_t passed_over_max = 256;
// Lanes and meters come from clients; those that are used are soon known again.
constexpr std::size_t known_max = 100'000;

}  // namespace

// ── rules ──

std::shared_ptr<const LimitRules> LaneLimits::rules() const {
    const std::lock_guard lock(mutex_);
    return rules_;
}

// A change that is made meanwhile makes the rules old again.
std::shared_ptr<const LimitRules> LaneLimits::current(EntityReader& entities, Timestamp now) {
    const std::int64_t changes = changes_;
    if (read_ < changes) {
        set(load_rules(entities, rules()), now);
        std::int64_t read = read_;
        while (read < changes && !read_.compare_exchange_weak(read, changes)) {
        }
    }
    return rules();
}

void LaneLimits::set(std::shared_ptr<const LimitRules> rules, Timestamp now) {
    const std::lock_guard lock(mutex_);
    if (rules->version() <= rules_->version()) return;
    closed_.follow(*rules_, *rules, now, opened_);
    rules_ = std::move(rules);
    meters_.clear();
}

Permits LaneLimits::find_permits(LaneId id, const LaneOf& lane_of,
                                 const std::shared_ptr<const LimitRules>& rules) {
    if (rules->empty()) return nullptr;
    if (permits_version_ != rules->version() || permits_.size() > known_max) {
        permits_.clear();
        permits_version_ = rules->version();
    }
    if (const auto found = permits_.find(id); found != permits_.end()) return found->second;
    std::vector<Permit> permits = rules->permits_of(lane_of(id));
    // The list keeps the rules alive to which it points.
    Permits kept;
    if (!permits.empty()) {
        struct Owner {
            std::shared_ptr<const LimitRules> rules;
            std::vector<Permit> permits;
        };
        auto owner = std::make_shared<const Owner>(Owner{rules, std::move(permits)});
        kept = Permits(owner, &owner->permits);
    }
    permits_.emplace(id, kept);
    return kept;
}

Permits LaneLimits::permits_of(LaneId id, const Lane& lane,
                               const std::shared_ptr<const LimitRules>& rules) {
    const std::lock_guard lock(mutex_);
    return find_permits(
        id, [&](LaneId) { return lane; }, rules);
}

bool LaneLimits::knows(MeterId meter) const {
    const std::lock_guard lock(mutex_);
    return meters_.contains(meter);
}

void LaneLimits::know(const std::vector<MeterId>& meters) {
    if (meters.empty()) return;
    const std::lock_guard lock(mutex_);
    if (meters_.size() > known_max) meters_.clear();
    meters_.insert(meters.begin(), meters.end());
}

// ── meters without room ──

// What is listed by older rules, after they were followed, would stay closed: nobody would open it.
void LaneLimits::refuse_older(const LimitRules& rules) const {
    if (rules.version() >= rules_->version()) return;
    throw StoreConflict("the rules about what may run have changed meanwhile");
}

void LaneLimits::close(const Permit& by, const std::shared_ptr<const LimitRules>& rules,
                       Timestamp look_again) {
    const std::lock_guard lock(mutex_);
    refuse_older(*rules);
    closed_.close(by, rules, look_again);
}

void LaneLimits::look_by(MeterId meter, Timestamp time) {
    const std::lock_guard lock(mutex_);
    closed_.look_by(meter, time);
}

void LaneLimits::open(MeterId meter) {
    const std::lock_guard lock(mutex_);
    closed_.open(meter, woken_at_once, {}, opened_);
}

bool LaneLimits::holds_back(LaneId id, const Lane& lane, Timestamp now) {
    const std::lock_guard lock(mutex_);
    if (rules_->empty()) return false;
    const Permits permits = find_permits(
        id, [&](LaneId) { return lane; }, rules_);
    return closed_.hold_back(id, permits, rules_, now);
}

void LaneLimits::leave_open(std::vector<LaneId>& lanes,
                            const std::shared_ptr<const LimitRules>& rules, Timestamp now,
                            const LaneOf& lane_of) {
    if (rules->empty()) return;
    const std::lock_guard lock(mutex_);
    refuse_older(*rules);
    std::erase_if(lanes, [&](LaneId lane) {
        return closed_.hold_back(lane, find_permits(lane, lane_of, rules), rules, now);
    });
}

LaneLimits::Told LaneLimits::returned(const std::map<MeterId, int>& meters, Timestamp now) {
    Told told;
    const std::lock_guard lock(mutex_);
    if (closed_.empty()) return told;
    for (const auto& [meter, count] : meters) closed_.open(meter, count, now, told);
    return told;
}

std::vector<ClosedMeters::Opened> LaneLimits::open_due(Timestamp now, Told& told) {
    const std::lock_guard lock(mutex_);
    return closed_.open_due(now, told);
}

// By rules that were replaced meanwhile nothing is closed: those lanes are told once more.
void LaneLimits::close_again(std::vector<ClosedMeters::Opened> opened) {
    const std::lock_guard lock(mutex_);
    std::erase_if(opened, [&](const ClosedMeters::Opened& meter) {
        const bool is_old = meter.rules->version() < rules_->version();
        for (const LaneId lane : meter.lanes) {
            if (is_old) opened_[lane] = woken_at_once;
        }
        return is_old;
    });
    closed_.close_again(opened);
}

Timestamp LaneLimits::next_due() const {
    const std::lock_guard lock(mutex_);
    return closed_.next_due();
}

std::vector<ClosedMeters::Waiting> LaneLimits::waiting_for_permits() const {
    const std::lock_guard lock(mutex_);
    return closed_.waiting_for_permits();
}

LaneLimits::Told LaneLimits::take_opened() {
    const std::lock_guard lock(mutex_);
    return std::exchange(opened_, {});
}

// ── meters that other sessions had locked ──

void LaneLimits::waited_in_vain(const std::vector<MeterId>& meters, Timestamp until) {
    const std::lock_guard lock(mutex_);
    for (const MeterId meter : meters) stuck_[meter] = until;
}

bool LaneLimits::is_stuck(MeterId meter, Timestamp now) {
    const std::lock_guard lock(mutex_);
    const auto found = stuck_.find(meter);
    if (found == stuck_.end()) return false;
    if (found->second > now) return true;
    stuck_.erase(found);
    return false;
}

void LaneLimits::pass_over(PassedOver meter) {
    const std::lock_guard lock(mutex_);
    if (passed_over_.size() < passed_over_max) passed_over_.insert_or_assign(meter.id, meter);
}

std::vector<LaneLimits::PassedOver> LaneLimits::take_passed_over() {
    std::vector<PassedOver> meters;
    const std::lock_guard lock(mutex_);
    for (auto& [id, meter] : std::exchange(passed_over_, {})) meters.push_back(std::move(meter));
    return meters;
}

// ── for other nodes ──

void LaneLimits::tell_returned(const std::map<MeterId, int>& meters) {
    const std::lock_guard lock(mutex_);
    for (const auto& [meter, count] : meters) news_.returned[meter] += count;
}

void LaneLimits::tell_refused(const std::set<LaneId>& lanes) {
    if (lanes.empty()) return;
    const std::lock_guard lock(mutex_);
    for (const LaneId lane : lanes) news_.refused[lane] = 1;
}

LaneLimits::News LaneLimits::take_news() {
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, {});
}

}  // namespace sluice::postgres
