#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "infrastructure/postgres/cluster/cluster.hpp"
#include "infrastructure/postgres/schema/tables.hpp"
#include "infrastructure/postgres/statements/writes.hpp"

namespace sluice::postgres {

// The permits that a session takes and gives back.
//
// A claim locks the meters of the lanes whose jobs it takes, until its commit: so no two sessions
// take from one meter at once. It may wait for other sessions as long as it locks meters in the
// order of their ids and has touched no keys; else it passes over a meter that is locked, since two
// sessions that wait for each other's meters and keys would not go on. The next session locks that
// one first. Permits come back without a lock, in rows of this committer, unless it has locked the
// meter anyway.
//
// All of this goes by the rules that the session has read at its beginning. The commit fails when
// another session has changed them since.
class SessionPermits {
  public:
    SessionPermits(Connection& connection, Cluster& cluster, Writes& writes, int seat)
        : connection_(connection),
          cluster_(cluster),
          writes_(writes),
          seat_(seat),
          time_taken_at_(cluster.time.now()) {}
    // Without a commit: the meters that had no room here are looked at again, since the permits
    // that this session took are free.
    ~SessionPermits();
    SessionPermits(const SessionPermits&) = delete;
    SessionPermits& operator=(const SessionPermits&) = delete;

    const std::shared_ptr<const LimitRules>& rules();
    // This session has changed the rules.
    void go_by(std::shared_ptr<const LimitRules> rules) { rules_ = std::move(rules); }

    // The time by which a session decides is taken once it has reserved all subjects.
    void subjects_are_reserved() { time_taken_at_ = cluster_.time.now(); }
    // How much later it is by now.
    Duration since_time_was_taken() const { return cluster_.time.now() - time_taken_at_; }

    // Keys were locked: from now on no meter is waited for.
    void keys_were_touched() { may_wait_ = false; }

    // Locks meters that other sessions had locked when claims of this node wanted them. Called once
    // all jobs and entities are reserved, and before any key is.
    void lock_passed_over(Timestamp now);

    // Locks and reads the meters of these lanes, as far as this has not been done.
    struct NamedLane {
        LaneId id = 0;
        Lane lane;
    };
    void lock(std::span<const NamedLane> lanes, Timestamp now);

    // How many jobs of a lane may start; its meters are locked, unless another session has them:
    // then none may.
    Admission admission(LaneId lane, Timestamp now) const;
    void note_start(LaneId lane, Timestamp now);

    // The same, to find out how many of several jobs may start together.
    class Trial {
      public:
        explicit Trial(const SessionPermits& permits) : permits_(permits) {}
        bool start(LaneId lane, Timestamp now);

      private:
        const SessionPermits& permits_;
        std::map<MeterId, MeterState> states_;
    };

    // Finds out for which meters these lanes wait, so that no claim looks at them until one opens.
    // `refused`: the session has locked some of their jobs, which other nodes pass over until it
    // ends.
    void close(std::span<const LaneId> refused, Timestamp now);
    // Reads the meters of these lanes, without locks, that this session has not seen yet: those
    // without room are listed, too.
    void look_at(std::span<const LaneId> lanes, Timestamp now, const LaneLimits::LaneOf& lane_of);
    // Whether another session has a meter of this lane: it is looked at again after the commit.
    bool is_passed_over(LaneId lane) const { return passed_over_.contains(lane); }
    // Removes lanes that rules hold back, as far as this node knows.
    void leave_open(std::vector<LaneId>& lanes, Timestamp now, const LaneLimits::LaneOf& lane_of);

    // Lanes whose time has come. They are told of again unless this session is committed.
    LaneLimits::Told open_due(Timestamp now);

    // A lease of a job is closed.
    void give_back(const JobSpec& spec);

    // Sends what was written to meters, before the commit.
    void flush();
    // After the commit. Returns the lanes that it may have opened here.
    LaneLimits::Told committed(Timestamp now);

  private:
    struct Meter {
        const LimitRule* rule = nullptr;
        StoredMeter row{};
        tables::Taken taken{};
        MeterState stored{};  // and how it was read
        tables::Taken stored_taken{};
    };
    using Meters = std::map<MeterId, Meter>;

    const MeterState* state_of(const Permit& permit) const;
    Permits permits_of(LaneId lane) const;
    Timestamp meter_time(Timestamp now) const { return std::max(now, latest_); }
    void want(const Permit& permit, const Lane& lane, Meters& wanted) const;
    void lock_waiting(Meters& wanted, Timestamp now);
    bool is_stuck(MeterId meter) const;
    void net_return(Meter& meter, int count);
    void add(const Meters& wanted);
    void lock(const Query& query, Meters& wanted, Timestamp now);
    void read_locked(const Result& rows, Meters& wanted, Timestamp now);
    std::vector<MeterId> note_closed(LaneId lane, Timestamp now);
    void look_at_returns(const std::set<MeterId>& meters, Timestamp now);

    Connection& connection_;
    Cluster& cluster_;
    Writes& writes_;
    int seat_;
    Timestamp time_taken_at_;
    std::shared_ptr<const LimitRules> rules_;
    bool may_wait_ = true;                       // no key was touched
    std::unordered_map<LaneId, Permits> lanes_;  // whose meters were asked for
    Meters meters_;                              // locked
    std::vector<MeterId> added_;
    Timestamp latest_{};                  // cluster time that some node went by
    std::map<MeterId, int> returns_;      // of meters that are not locked here; not sent yet
    std::map<MeterId, int> all_returns_;  // of this session
    Permits given_permits_;               // of the last job that gave permits back
    std::optional<Lane> given_lane_;
    LaneLimits::Told passed_over_;  // lanes whose meters other sessions had
    std::set<LaneId> refused_;
    std::set<MeterId> looked_at_;
    std::set<MeterId> closed_;                  // meters, by this session
    std::vector<ClosedMeters::Opened> opened_;  // since their time has come
    bool is_committed_ = false;
};

}  // namespace sluice::postgres
