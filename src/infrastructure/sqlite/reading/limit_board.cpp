#include "infrastructure/sqlite/reading/limit_board.hpp"

namespace sluice::sqlite {

void LimitBoard::show(std::shared_ptr<const LimitRules> rules, const Meters& meters) {
    const std::lock_guard lock(mutex_);
    rules_ = std::move(rules);
    meters_.clear();
    put(meters);
}

void LimitBoard::update(const Meters& meters) {
    if (meters.empty()) return;
    const std::lock_guard lock(mutex_);
    put(meters);
}

void LimitBoard::forget(std::span<const MeterId> meters) {
    if (meters.empty()) return;
    const std::lock_guard lock(mutex_);
    for (const MeterId id : meters) meters_.erase(id);
}

void LimitBoard::put(const Meters& meters) {
    for (const auto& [id, state] : meters) {
        if (state == MeterState{}) {
            meters_.erase(id);
        } else {
            meters_[id] = state;
        }
    }
}

std::shared_ptr<const LimitRules> LimitBoard::rules() const {
    const std::lock_guard lock(mutex_);
    return rules_;
}

std::vector<MeterState> LimitBoard::meters(std::span<const MeterId> ids) const {
    const std::lock_guard lock(mutex_);
    std::vector<MeterState> states;
    states.reserve(ids.size());
    for (const MeterId id : ids) {
        const auto found = meters_.find(id);
        states.push_back(found == meters_.end() ? MeterState{} : found->second);
    }
    return states;
}

}  // namespace sluice::sqlite
