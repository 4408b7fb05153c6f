#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "application/ports/commands.hpp"
#include "application/toolkit/transaction.hpp"

// What the rules permit now, for people: every answer comes from the decision that claims use
// (domain/limits/limit_rules.hpp).
namespace sluice {

// Claimable jobs of a lane are counted up to this number. Stores are asked for one more, which
// tells that there are more.
inline constexpr std::int64_t waiting_counted_max = 1000;

// The claimable jobs of a lane, as they were counted.
struct CountedWaiting {
    explicit CountedWaiting(const LaneNow& lane)
        : count(std::min(lane.ready, waiting_counted_max)),
          is_more(lane.ready > waiting_counted_max) {}

    std::int64_t count = 0;
    bool is_more = false;  // there are more
};

// Every permit that a job of this lane does not get now.
std::vector<ClosedPermit> permits_missing(LimitReader& limits, const Lane& lane, Timestamp now);

LimitsNow limits_now(Transaction& tx, const AskLimits& ask);
StartNow start_now(LimitReader& limits, const AskStart& ask, Timestamp now);
SourcesNow sources_now(Transaction& tx, const AskSources& ask);

// What changes for claimable jobs when these rules replace those. Meters that only the new rules
// have count what runs now. `only_tenant`: for a caller that is told of its own jobs only, and not
// of what others use; empty: of all.
LimitEffect effect_of(const LimitRules& before, const LimitRules& after,
                      std::span<const LaneNow> lanes, LimitReader& meters, Timestamp now,
                      const std::string& only_tenant);

}  // namespace sluice
