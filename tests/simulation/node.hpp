#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "application/engine/engine.hpp"
#include "application/ports/command_queue.hpp"
#include "infrastructure/system/system_clock.hpp"
#include "simulation/coverage.hpp"
#include "simulation/database_clock.hpp"
#include "simulation/disk.hpp"
#include "simulation/timeline.hpp"
#include "simulation/weather.hpp"
#include "support/faulty_store.hpp"

namespace sluice::simulation {

class Node;

// Observes nodes. Called at the moment of each event.
class Onlooker {
  public:
    virtual ~Onlooker() = default;

    // A committer is about to decide this batch.
    virtual void before(Node& node, Batch& batch) = 0;
    // It has decided it, unless the store gave no answer.
    virtual void after(Node& node, Batch& batch, const Engine::Ran& ran) = 0;
    virtual void is_slow() = 0;  // the store, for the batch just decided
    virtual void died(Node& node) = 0;
    virtual void booted(Node& node) = 0;
};

// The surroundings that all nodes share.
struct Surroundings {
    Timeline& timeline;
    Dice& dice;
    Weather& weather;
    Disk& disk;
    Coverage& coverage;
    Onlooker& onlooker;
    // The machine's clock, or that of the database that nodes share.
    SystemClock::Reference clock;
    DatabaseClock database_clock{};
    Timestamp database_away_until{};  // for all reads of its clock
    bool disk_is_full = false;
    int reserve = 0;  // sessions that fit on a full disk, once the reserve was given up
    Retention retention{};
};

// A process of the engine: one committer or a few, each of which takes the commands that have
// arrived, has its engine decide them, and is busy until they are on disk; only then are the
// answers sent. It can die at any moment, and start again on the data of the disk.
class Node : public CommandQueue {
  public:
    Node(Surroundings& around, int number, int committers);

    bool is_up() const { return !committers_.empty(); }
    int number() const { return number_; }
    int life() const { return life_; }  // changes when it dies
    Timestamp now() { return clock_->now(); }

    // On a shared database it may have to wait for the time.
    void boot();
    void die();

    // The time that nodes of a shared database agree on.
    void look_at_clock();
    const postgres::ClusterTime& cluster_time() const { return *time_; }

    void forget(std::uint64_t ticket) override;
    // A message of another committer.
    void hint(const std::vector<Readied>& readied, Timestamp due);

    // Of the committer that has the claims.
    Timestamp next_due() const { return committers_.front()->engine.next_due(); }
    std::size_t waiting_claims() const { return committers_.front()->engine.waiting_claims(); }
    // The claims that should be waiting there.
    const std::map<std::uint64_t, ClaimFilter>& parked() const { return parked_; }
    int committers() const { return count_; }
    bool is_busy() const;

  protected:
    bool add(Route route, Load load, const std::function<void(Batch&)>& put) override;

  private:
    struct Committer {
        Committer(std::unique_ptr<Store> opened, Engine::Options options)
            : inner(std::move(opened)), store(*inner), engine(store, options) {}

        std::unique_ptr<Store> inner;
        FaultyStore store;
        Engine engine;
        Batch inbox{};
        bool has_work = false;
        bool busy = false;
        std::uint64_t alarm = 0;  // the last one that was set
    };

    bool know_time();
    void set_clock();
    void wake(std::size_t place);
    void run(std::size_t place);
    void finish(std::size_t place, const std::shared_ptr<Batch>& answers);
    void set_alarm(std::size_t place);
    const char* plan_fault(Committer& committer);
    void note_busy(const Committer& committer, int met_before);
    void note_parked(Batch& before, bool answered);
    Duration time_to_commit();

    Surroundings& around_;
    const int number_;
    const int count_;
    const Duration clock_off_;  // from its reference
    int life_ = 0;
    std::unique_ptr<postgres::ClusterTime> time_;  // on a shared database
    bool is_starting_ = false;                     // and waits for the time
    std::size_t seat_ = 0;
    std::unique_ptr<SystemClock> clock_;
    std::unique_ptr<HeartbeatDelays> delays_;             // of its committers
    std::vector<std::unique_ptr<Committer>> committers_;  // none: it is down
    std::map<std::uint64_t, ClaimFilter> parked_;
    std::size_t next_ = 0;  // for commands that are about no job yet
};

}  // namespace sluice::simulation
