#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "application/ports/limit_store.hpp"

namespace sluice {

// The permits that each of these lanes needs.
std::vector<std::vector<Permit>> permits_of(const LimitRules& rules,
                                            std::span<const LaneNow> lanes);

// Meters as they are read once for many lanes.
class KnownMeters {
  public:
    explicit KnownMeters(LimitReader& limits) : limits_(limits) {}

    // Reads those of these permits that are not known yet, all at once.
    void read(std::span<const std::vector<Permit>> permits);

    // Of a rule that counts nothing: one that nobody changes. Others keep their address.
    MeterState& of(const Permit& permit) { return states_[permit.meter]; }

  private:
    LimitReader& limits_;
    std::unordered_map<MeterId, MeterState> states_;
};

}  // namespace sluice
