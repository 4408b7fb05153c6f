#pragma once

#include <vector>

#include "application/engine/duties.hpp"
#include "application/engine/waiting_claims.hpp"
#include "application/jobs/workers.hpp"
#include "application/leases/heartbeat_delays.hpp"
#include "application/ports/batch.hpp"
#include "application/ports/published_rules.hpp"
#include "application/ports/store.hpp"
#include "application/ports/telemetry.hpp"
#include "application/ports/wakeups.hpp"
#include "application/toolkit/transaction.hpp"
#include "domain/values/chance.hpp"

namespace sluice {

struct Late;

// Decides everything. Each run is one transaction over everything that has arrived; time, ids and
// randomness come in from outside, so that the same calls always lead to the same history.
//
//   1. Messages of workers come first: a heartbeat or report that arrived in time counts, even
//      when the engine was held up meanwhile. The lease's token is the fence. Then leases that
//      ran out and deadlines that have come are dealt with.
//   2. Each kind of command is run once over all of its commands, claims last, so that they see
//      the jobs that the others made ready. Waiting claims that fit are run before them.
//   3. One commit. Only then are there answers: Batch::deliver() hands them out.
//   4. Changes of the rules about what may run are decided before all of this, each in a session of
//      its own.
//   5. A batch without commands is a turn for rules whose end has come, and for retention, each in
//      a transaction of its own. When that fails, it is tried again later.
//
// A store that several committers share may reject a session because another one was faster, or
// because its connection broke: then everything is decided again, in a new session.
//
// When the store gives no answer, every command of the batch is refused as unavailable and nothing
// has changed, or it has and the callers cannot know: they may send the same again. No lease runs
// out meanwhile: when the store takes writes again, all leases get back the time in which it took
// no heartbeat. When its disk is full, its reserve is given up and the batch decided again without
// the commands that add work (store_space.hpp).
class Engine {
  public:
    struct Options {
        int node = 0;  // in ids, unless the store has a seat for this engine
        // Of several committers the first one has the claims, the leases that ran out and the jobs
        // whose time has come.
        bool sweeps = true;
        std::uint64_t seed = 1;
        Duration idempotency_memory = std::chrono::hours(24);
        Retention retention{};                    // of ended jobs
        const Rules* rules = &Rules::built_in();  // outlives the engine
        // Where other committers take the heartbeats: they tell the one that sweeps how late these
        // were. Outlives the engines.
        HeartbeatDelays* delays = nullptr;
        // Asked again once a session has reserved its jobs and entities: until then it may have
        // waited, or the process stood still. None: the time of the run counts. Outlives the
        // engine.
        Clock* clock = nullptr;
        // Where the rules about what may run are shown to other threads. Outlives the engine.
        PublishedRules* published = nullptr;
    };

    Engine(Store& store, Options options);

    struct Ran {
        CommitRecord counts{};
        std::vector<JobId> touched{};  // jobs that got events or log lines
        Announcement news{};           // for other committers of the same store
    };

    // Runs the batch and fills in its answers. Claims that wait leave the batch, and claims that
    // waited and can be answered now join it.
    Ran run(Batch& batch, Timestamp now);

    // When run() has work even if no command comes, or `never`.
    Timestamp next_due() const;

    // Whether a batch without commands must come before the next one with commands.
    bool wants_a_turn(Timestamp now) const;

    // From now on no claim waits; waiting claims are answered with no jobs by the next run.
    void stop_waiting() { waiting_allowed_ = false; }

    std::size_t waiting_claims() const { return waiting_claims_.size(); }

  private:
    static constexpr int tries_max = 8;  // of what is decided in sessions that lose against others

    // Takes the claims that need no store out of the batch and the waiting claims, answered with no
    // jobs.
    std::vector<PendingClaim> answer_without_store(Batch& batch, Timestamp now);
    bool has_something_to_do(Batch& batch, Timestamp now) const;
    Timestamp next_work() const;
    void run_until_decided(Batch& batch, Timestamp now, Ran& ran);
    void run_in_transaction(Batch& batch, Timestamp now, const Late& late, Ran& ran);
    // Decides in a session of its own, without other commands.
    template <class Decide>
    auto decide_alone(Timestamp now, Ran& ran, Decide&& decide);
    void run_changes_of_limits(Batch& batch, Timestamp now, Ran& ran);
    void note_reopened(std::vector<Readied> lanes, Ran& ran);
    void note_rules(Transaction& tx);
    void lift_ended(Timestamp now, Ran& ran);
    void run_words_of_workers(Transaction& tx, Batch& batch);
    void run_words_of_clients(Transaction& tx, Batch& batch);
    void run_duties_apart(Timestamp now, Ran& ran);
    void store_failed(Batch& batch, Timestamp now, const StoreUnavailable& why, Ran& ran);
    void give_back_lease_time(Timestamp now);
    bool leases_wait() const;
    void refuse_claims(Batch& batch);
    void answer_questions(Transaction& tx, Batch& batch);
    void answer_depths(Transaction& tx, Batch& batch);
    std::vector<Readied> run_claims(Transaction& tx, Batch& batch);
    void serve_waiting_claims(Transaction& tx, Batch& batch, std::vector<Readied>& ready);
    void take_jobs(Transaction& tx, std::span<PendingClaim> pendings);
    void let_claims_wait(Batch& batch, Timestamp now);
    PendingClaim no_longer_waiting(PendingClaim claim);

    Store& store_;
    Options options_;
    IdSource ids_;
    Chance chance_;
    WaitingClaims waiting_claims_;
    Workers workers_;
    bool waiting_allowed_ = true;
    bool store_is_shaky_ = false;  // it has refused a write, and has taken none since
    // Since this time no heartbeat could be stored, and the leases have not got that time back yet.
    // A time before it in which no heartbeat came is not given back: it must not keep leases of
    // dead workers open.
    std::optional<Timestamp> leases_wait_since_{};
    std::shared_ptr<const LimitRules> rules_{};  // as the last session saw them
    Timestamp rules_end_ = never;  // when the first of them is to be lifted, where this one sweeps
    std::vector<Readied> reopened_{};  // lanes that the last commit has opened
    std::size_t log_bytes_ = 0;        // that were stored from the reserve
    Duties duties_;
    Timestamp retry_at_{};  // the next try without commands, when the store gives no answer
};

}  // namespace sluice
