#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "domain/limits/limit_rules.hpp"
#include "infrastructure/postgres/schema/lanes.hpp"

namespace sluice::postgres {

using Permits = std::shared_ptr<const std::vector<Permit>>;

// As many claims are woken where it is not known how many jobs may start.
inline constexpr int woken_at_once = 1000;

// The meters that have no room, and the lanes whose jobs wait for one of them, as far as this node
// knows. It spares claims a look at jobs that may not start. A meter that is not listed may have no
// room, too: a claim that finds this out lists it. A listed one opens when a permit comes back to
// it, when its time has come, or when its rule was changed.
//
// When a meter opens, its lanes are told, some at a time; a lane that waits for another meter, too,
// is told when that one opens. Not thread-safe.
class ClosedMeters {
  public:
    using Told = std::map<LaneId, int>;  // lanes, and how many of their jobs may start, as a guess

    bool empty() const { return closed_.empty(); }

    // The meter of this permit has no room until `look_again`, unless a permit comes back before.
    void close(const Permit& by, std::shared_ptr<const LimitRules> rules, Timestamp look_again);

    // Whether one of its permits holds this lane back; then the lane waits.
    bool hold_back(LaneId lane, const Permits& permits,
                   const std::shared_ptr<const LimitRules>& rules, Timestamp now);

    // So many permits have come back to the meter, if it is listed.
    void open(MeterId meter, int count, Timestamp now, Told& told);
    void open_all(Timestamp now, Told& told);
    // It may have room by then, if it is still listed.
    void look_by(MeterId meter, Timestamp time);

    // The entry of a meter, and the lanes that were told, as they were before it opened.
    struct Opened {
        Permit by{};
        std::shared_ptr<const LimitRules> rules{};
        Timestamp due = never;
        std::vector<LaneId> lanes{};
    };
    // Meters whose time has come.
    std::vector<Opened> open_due(Timestamp now, Told& told);
    // The session that was to tell the lanes has failed: they wait as before.
    void close_again(const std::vector<Opened>& opened);
    Timestamp next_due() const { return by_time_.empty() ? never : by_time_.begin()->first; }

    // Opens the meters whose rules were changed, or hold back other jobs from now on.
    void follow(const LimitRules& before, const LimitRules& after, Timestamp now, Told& told);

    // Those that open when a permit comes back; the list keeps their rules alive.
    struct Waiting {
        Permit permit{};
        std::shared_ptr<const LimitRules> rules;
    };
    std::vector<Waiting> waiting_for_permits() const;

  private:
    struct Closed {
        Permit by{};
        std::shared_ptr<const LimitRules> rules{};
        bool is_open = false;  // and some of its lanes are still to be told
        int count = 0;         // of what they are told then
        Timestamp due = never;
        std::set<LaneId> lanes{};
    };
    using Entry = std::pair<const MeterId, Closed>;

    void wait_with(Entry& meter, LaneId lane);
    void tell(MeterId meter, Timestamp now, Told& told);
    void schedule(Entry& meter, Timestamp due);

    std::unordered_map<MeterId, Closed> closed_;
    std::unordered_map<LaneId, int> lists_;  // on how many lists a lane is
    std::set<std::pair<Timestamp, MeterId>> by_time_;
};

}  // namespace sluice::postgres
