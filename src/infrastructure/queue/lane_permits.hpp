#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "application/ports/limit_store.hpp"
#include "domain/limits/limit_rules.hpp"

namespace sluice {

struct LaneGate;

// One counter of a rule; of a rule that counts nothing, only the place where its lanes wait.
struct LaneMeter {
    MeterId id = 0;
    const LimitRule* rule = nullptr;  // of the present rules; null until a lane needs it
    std::string rule_id{};
    std::string name{};
    MeterState state{};
    std::optional<MeterState> before{};  // as it was kept; given: it was changed since
    std::size_t users = 0;               // lanes that it is a meter of

    std::list<LaneGate*> waiting{};  // lanes that it held back, next to be told first
    std::size_t untold = 0;          // how many of them are still to be told of its last change
    bool has_news = false;
    Timestamp look_at = never;
    Timestamp looked_at = Timestamp::min();
};

// The part of a meter that outlives a restart.
struct KeptBucket {
    MeterId meter = 0;
    std::string rule_id{};
    std::string name{};
    MeterState state{};

    bool operator==(const KeptBucket&) const = default;
};

// What LanePermits keeps with each lane of the queue.
struct LaneGate {
    const Lane* name = nullptr;
    std::int64_t active = 0;  // leases

    std::uint64_t bound = 0;  // by which rules the next three were made
    std::vector<Permit> permits{};
    std::vector<LaneMeter*> meters{};
    std::vector<const MeterState*> states{};

    LaneMeter* held_by = nullptr;  // with which it waits
    std::list<LaneGate*>::iterator place{};
    bool is_aside = false;  // claims find it with that meter only; never if there is none
};

// The rules about which jobs may run now, their meters, and which lanes wait for which meter. The
// leases that meters count are those of the lanes' `active`.
//
// A lane that was found closed waits with the first meter that holds it back. Whether it is closed
// is always asked anew of the meters; that it waits there only says whom to tell when that meter
// may have room: after a return, at a time, or when the rules have changed. It waits until all of
// its jobs were told, or another meter holds it back.
class LanePermits {
  public:
    LanePermits() = default;
    LanePermits(const LanePermits&) = delete;
    LanePermits& operator=(const LanePermits&) = delete;

    const std::shared_ptr<const LimitRules>& rules() const { return rules_; }
    // False: nothing below has an effect on any lane.
    bool are_there_rules() const { return !rules_->empty(); }

    // From now on these hold. All waiting lanes are told. Buckets follow changed rates; leases
    // are counted anew, by add_leases() for each lane that has some.
    void set_rules(std::shared_ptr<const LimitRules> rules, Timestamp now);
    void add_leases(LaneGate& lane, std::int64_t count, Timestamp now);

    // Sets the bucket of a meter, as it was stored.
    void restore(const KeptBucket& bucket);

    // Whether a job of the lane may start now. If not, the lane waits.
    bool is_open(LaneGate& lane, Timestamp now);

    // A job of the lane starts, and a lease of the lane is closed.
    void start(LaneGate& lane, Timestamp now);
    void end(LaneGate& lane, Timestamp now);

    // The lane is told of its jobs like one that waits.
    void look_again(LaneGate& lane);

    // The lane is about to be removed.
    void drop(LaneGate& lane);

    // Lanes that wait with a meter which may have room now, and are aside. All others that are
    // aside are closed.
    std::vector<LaneGate*> aside_but_maybe_open(Timestamp now) const;

    // Waiting lanes that may start jobs again since the last call, and how many of them at the
    // most: 256 for each meter, and the others 5 ms later. `ready_of`: how many jobs of the lane
    // are ready.
    struct Opened {
        LaneGate* lane = nullptr;
        std::int64_t count = 0;
    };
    using ReadyOf = std::size_t (*)(const LaneGate& lane);
    std::vector<Opened> opened(Timestamp now, ReadyOf ready_of);

    // When opened() may find a lane by time alone, or `never`.
    Timestamp next_look() const {
        return looks_.empty() ? never : std::get<0>(looks_.begin()->first);
    }

    // The meters of these ids, in this order.
    std::vector<MeterState> meters_of(std::span<const MeterId> ids) const;

    // All meters that are not at rest, and those that were changed since the last keep_changes().
    std::vector<const LaneMeter*> meters() const;
    std::vector<const LaneMeter*> changed() const;
    void keep_changes();
    // Meters at rest that were forgotten since the last call, for lack of lanes; some may be there
    // again.
    std::vector<MeterId> take_forgotten() { return std::exchange(forgotten_, {}); }
    // The buckets as they were then.
    std::vector<KeptBucket> kept_buckets() const;

    // Compares what is counted with these leases; `repair`: sets it right.
    std::vector<MeterDifference> check(const std::map<Lane, std::int64_t>& leases, bool repair,
                                       Timestamp now);

    // Forgets everything, the rules too. The lanes must be gone.
    void clear();

  private:
    using Look = std::tuple<Timestamp, const LimitRule*, MeterId>;

    void bind(LaneGate& lane, Timestamp now);
    LaneMeter& meter_of(const Permit& permit, const Lane& lane, Timestamp now);
    void forget_meters(Timestamp now);
    void forget_lanes(LaneMeter& meter);
    void touch(LaneMeter& meter);
    void hold_back(LaneGate& lane, LaneMeter& meter);
    void release(LaneGate& lane);
    void announce(LaneMeter& meter);
    void watch(LaneMeter& meter, Timestamp now);
    void schedule(LaneMeter& meter, Timestamp time);
    void unschedule(LaneMeter& meter);
    void tell(LaneMeter& meter, Timestamp now, ReadyOf ready_of, std::vector<Opened>& opened);
    void tell(LaneGate& lane, Timestamp now, ReadyOf ready_of, std::vector<Opened>& opened);

    std::shared_ptr<const LimitRules> rules_ = LimitRules::none();
    std::uint64_t generation_ = 1;  // counts the changes of the rules
    std::unordered_map<MeterId, LaneMeter> meters_;
    std::map<const LimitRule*, LaneMeter> pauses_;  // of rules that count nothing
    LaneMeter looked_at_again_;                     // where lanes wait that only have to be told
    std::size_t forget_above_ = 1024;               // meters
    std::vector<LaneMeter*> changed_;
    std::vector<MeterId> forgotten_;
    std::vector<LaneMeter*> news_;
    std::map<Look, LaneMeter*> looks_;
};

}  // namespace sluice
