#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "domain/limits/limit_rule.hpp"
#include "domain/limits/meter.hpp"

// What rules permit to all the jobs together that wait.
namespace sluice {

// A permit that jobs need, with its meter, which is spent as they start.
struct PermitNow {
    const LimitRule* rule = nullptr;
    MeterState* meter = nullptr;
};

// How many more jobs may start that need all of these permits.
std::int64_t room_of(std::span<const PermitNow> permits, Timestamp now);

// Starts as many of these jobs as the permits allow, and returns how many.
std::int64_t start_some(std::int64_t waiting, std::span<const PermitNow> permits, Timestamp now);

// Jobs of one lane that wait, with their permits by the rules before and after a change. The meters
// of both are apart.
struct WaitingJobs {
    std::int64_t count = 0;
    bool is_more = false;     // counting has ended early: more of them wait
    bool is_covered = false;  // a rule that was changed covers them
    std::vector<PermitNow> before{};
    std::vector<PermitNow> after{};
};

// How a change of rules changes what may start at once.
struct LimitEffect {
    std::int64_t held_back = 0;    // jobs that could start, and no longer can
    std::int64_t let_go = 0;       // jobs that could not, and now can
    bool is_more = false;          // these two may be larger
    std::int64_t covered = 0;      // jobs that wait and that the changed rules cover
    bool is_more_covered = false;  // that may be larger
};

// Jobs that may start by both rules start first, in the order of lanes, then those that may start
// by one of them only. So a further rule never lets go, and one that is lifted never holds back,
// also where jobs of several lanes compete for a permit. Spends the meters.
LimitEffect effect_on(std::span<const WaitingJobs> waiting, Timestamp now);

}  // namespace sluice
