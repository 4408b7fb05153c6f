#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "application/ports/entity_store.hpp"
#include "infrastructure/postgres/cluster/closed_meters.hpp"

namespace sluice::postgres {

// What this node knows of the rules about which jobs may run, and of meters that have no room. The
// rules may be older than those in the database: then the commit fails, and they are read again.
// Thread-safe.
class LaneLimits {
  public:
    using Told = ClosedMeters::Told;

    // ── rules ──

    std::shared_ptr<const LimitRules> rules() const;

    // The rules, read again when they may be old.
    std::shared_ptr<const LimitRules> current(EntityReader& entities, Timestamp now);

    // The rules of a later version replace those here.
    void set(std::shared_ptr<const LimitRules> rules, Timestamp now);

    void may_be_old() { ++changes_; }
    bool are_old() const { return read_ < changes_; }

    // The permits that a job of the lane needs by these rules; nothing: it needs none.
    Permits permits_of(LaneId id, const Lane& lane, const std::shared_ptr<const LimitRules>& rules);

    // Whether the row of this meter exists in the database, as far as this node knows.
    bool knows(MeterId meter) const;
    void know(const std::vector<MeterId>& meters);

    // ── meters without room ──

    // The meter of this permit has no room until `look_again`, or until a permit comes back.
    // Sessions that go by older rules than this node knows are refused, here and below.
    void close(const Permit& by, const std::shared_ptr<const LimitRules>& rules,
               Timestamp look_again);
    // It may have room by then, if it is still listed.
    void look_by(MeterId meter, Timestamp time);
    // A permit has come back to it, or a session that closed it has ended without a commit.
    void open(MeterId meter);

    // Whether rules hold the lane back, as far as this node knows; then it waits.
    bool holds_back(LaneId id, const Lane& lane, Timestamp now);
    // Removes lanes from the list that these rules hold back; they wait.
    using LaneOf = std::function<Lane(LaneId)>;
    void leave_open(std::vector<LaneId>& lanes, const std::shared_ptr<const LimitRules>& rules,
                    Timestamp now, const LaneOf& lane_of);

    // So many permits of these meters have come back. Returns lanes that may start jobs.
    Told returned(const std::map<MeterId, int>& meters, Timestamp now);
    // Lanes whose time has come, and when the next one's comes.
    std::vector<ClosedMeters::Opened> open_due(Timestamp now, Told& told);
    Timestamp next_due() const;
    // The session that was to tell of them has ended without a commit.
    void close_again(std::vector<ClosedMeters::Opened> opened);
    std::vector<ClosedMeters::Waiting> waiting_for_permits() const;

    // Lanes that changes of the rules and open() have opened since the last call.
    Told take_opened();

    // ── meters that other sessions had locked ──

    // Another session, which may stand still, has kept these locked for too long: for a while no
    // session waits for them, so that jobs of other lanes go on.
    void waited_in_vain(const std::vector<MeterId>& meters, Timestamp until);
    bool is_stuck(MeterId meter, Timestamp now);

    // A session that may not wait has passed over these. The next one that may wait locks them
    // before it does anything else.
    struct PassedOver {
        MeterId id = 0;
        std::string rule{};
        std::string name{};
    };
    void pass_over(PassedOver meter);
    std::vector<PassedOver> take_passed_over();

    // ── for other nodes ──

    struct News {
        std::map<MeterId, int> returned{};  // permits that came back
        Told refused{};  // lanes of which a claim had jobs locked that it may not take
    };
    void tell_returned(const std::map<MeterId, int>& meters);
    void tell_refused(const std::set<LaneId>& lanes);
    News take_news();

  private:
    void refuse_older(const LimitRules& rules) const;
    Permits find_permits(LaneId id, const LaneOf& lane_of,
                         const std::shared_ptr<const LimitRules>& rules);

    mutable std::mutex mutex_;
    std::shared_ptr<const LimitRules> rules_ = LimitRules::none();
    std::atomic<std::int64_t> changes_ = 1;  // that this node has heard of; the first read is one
    std::atomic<std::int64_t> read_ = 0;     // those that were made before the rules were read
    std::int64_t permits_version_ = 0;
    std::unordered_map<LaneId, Permits> permits_;
    std::unordered_set<MeterId> meters_;
    ClosedMeters closed_;
    Told opened_;
    std::map<MeterId, PassedOver> passed_over_;
    std::map<MeterId, Timestamp> stuck_;
    News news_;
};

}  // namespace sluice::postgres
