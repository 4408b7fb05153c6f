#include "application/leases/heartbeat_delays.hpp"

#include <gtest/gtest.h>

#include "support/faulty_store.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace heartbeat_delays_test {

using namespace std::chrono_literals;

class SetClock : public Clock {
  public:
    Timestamp now() override { return time; }
    Timestamp time = at(0);
};

// Two committers of one node: one sweeps, the other takes the heartbeats.
class Delays : public testing::Test {
  protected:
    std::optional<Error> heartbeat(const Job& job) {
        Batch batch;
        const auto answer = put(batch, Heartbeat{.lease = lease_of(job), .term = 5s});
        other.run(batch, clock.time);
        batch.deliver();
        if (answer->value()) return std::nullopt;
        return answer->value().error();
    }

    void refuse_heartbeat(const Job& job) {
        faulty.fail_next(FaultyStore::Moment::begin);
        EXPECT_TRUE(heartbeat(job));
    }

    Job started() {
        Batch batch;
        put(batch, submission({spec()}));
        sweeper.run(batch, clock.time);
        batch.deliver();
        Batch claims;
        const auto claimed = put(claims, ClaimJobs{.worker_id = "w", .term = 5s});
        sweeper.run(claims, clock.time);
        claims.deliver();
        return claimed->value()->front();
    }

    JobState state_after_sweep(const Job& job) {
        Batch batch;
        batch.look_at = clock.time;
        sweeper.run(batch, clock.time);
        return store.reader()->find_one(job.spec->id)->now.state;
    }

    MemoryStore store;
    FaultyStore faulty{store};
    SetClock clock;
    HeartbeatDelays delays{clock};
    Engine sweeper{store, {.delays = &delays}};
    Engine other{faulty, {.node = 1, .sweeps = false, .delays = &delays}};
};

TEST_F(Delays, AreGivenBackWhenHeartbeatsWereRefusedElsewhere) {
    const Job job = started();
    for (const int second : {2, 4}) {
        clock.time = at(second);
        refuse_heartbeat(job);
    }
    clock.time = at(6);

    EXPECT_EQ(state_after_sweep(job), JobState::running) << "two seconds were lost";
    EXPECT_FALSE(heartbeat(job));
    clock.time = at(12);
    EXPECT_NE(state_after_sweep(job), JobState::running) << "they are given back once";
}

// A node that stood still decides again when it goes on; the time before that does not count.
TEST_F(Delays, OfASessionDoNotShortenTheLeasesThatItGives) {
    Engine late(store, {.node = 3, .clock = &clock});
    started();
    Batch batch;
    put(batch, submission({spec()}));
    const auto claimed = put(batch, ClaimJobs{.worker_id = "w", .term = 5s});
    clock.time = at(7);

    late.run(batch, at(0));
    batch.deliver();

    const Job job = claimed->value()->front();
    EXPECT_EQ(job.now.started_at, at(7));
    EXPECT_EQ(job.lease->until, at(12));
}

TEST_F(Delays, HoldLeasesWhileARunIsStuck) {
    const Job job = started();
    clock.time = at(2);
    delays.begin(other);
    clock.time = at(6);

    EXPECT_EQ(state_after_sweep(job), JobState::running);
    EXPECT_EQ(sweeper.next_due(), at(7)) << "it looks again soon";
    delays.end(other, false);
    EXPECT_EQ(state_after_sweep(job), JobState::running) << "its lease ends at 9 now";
    clock.time = at(9);
    EXPECT_NE(state_after_sweep(job), JobState::running);
}

TEST_F(Delays, OfAQuickRunAreNone) {
    const Job job = started();
    clock.time = at(1);
    EXPECT_FALSE(heartbeat(job));
    delays.begin(other);
    clock.time = at(3);
    delays.end(other, false);
    EXPECT_FALSE(delays.hold_leases());
    clock.time = at(6);

    EXPECT_NE(state_after_sweep(job), JobState::running);
}

TEST_F(Delays, OfACommitterThatNobodySpeaksToDoNotGrow) {
    const Job job = started();
    clock.time = at(1);
    refuse_heartbeat(job);
    clock.time = at(100);
    refuse_heartbeat(job);

    EXPECT_EQ(delays.owed(), Duration{});
}

TEST_F(Delays, ThatTwoCommittersSeeAtOnceCountOnce) {
    Engine third(store, {.node = 2, .sweeps = false, .delays = &delays});
    delays.begin(other);
    clock.time = at(2);
    delays.begin(third);
    clock.time = at(4);
    delays.end(other, true);
    clock.time = at(5);
    delays.end(third, true);

    EXPECT_EQ(delays.owed(), 5s);
}

TEST_F(Delays, ThatCannotBeGivenBackAreKept) {
    FaultyStore shaky(store);
    Engine first(shaky, {.node = 3, .delays = &delays});
    const Job job = started();
    clock.time = at(1);
    refuse_heartbeat(job);
    clock.time = at(4);
    refuse_heartbeat(job);
    clock.time = at(6);
    shaky.fail_next(FaultyStore::Moment::before_commit);
    Batch batch;
    batch.look_at = clock.time;
    first.run(batch, clock.time);

    EXPECT_TRUE(delays.hold_leases());
    EXPECT_EQ(state_after_sweep(job), JobState::running);
}

}  // namespace heartbeat_delays_test
}  // namespace sluice
