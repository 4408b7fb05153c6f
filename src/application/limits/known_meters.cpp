#include "application/limits/known_meters.hpp"

namespace sluice {

std::vector<std::vector<Permit>> permits_of(const LimitRules& rules,
                                            std::span<const LaneNow> lanes) {
    std::vector<std::vector<Permit>> permits;
    permits.reserve(lanes.size());
    for (const LaneNow& lane : lanes) permits.push_back(rules.permits_of(lane.lane));
    return permits;
}

void KnownMeters::read(std::span<const std::vector<Permit>> permits) {
    std::vector<MeterId> missing;
    for (const std::vector<Permit>& of_lane : permits) {
        for (const Permit& permit : of_lane) {
            if (permit.rule->has_meter() && states_.emplace(permit.meter, MeterState{}).second) {
                missing.push_back(permit.meter);
            }
        }
    }
    if (missing.empty()) return;
    std::vector<MeterState> read = limits_.meters(missing);
    for (std::size_t i = 0; i < missing.size(); ++i) states_[missing[i]] = std::move(read[i]);
}

}  // namespace sluice
