// The promises of the engine when the disk of its store is full: running jobs can end, no new job
// is taken, and no lease runs out while heartbeats cannot be stored.
#include <gtest/gtest.h>

#include "support/faulty_store.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace full_store_test {

using namespace std::chrono_literals;

constexpr int large_reserve = 1000;  // sessions

struct Filling {
    MemoryStore memory;
    FaultyStore store{memory};
    TestEngine engine{store};
};

JobSpec twice() {
    JobSpec made = spec();
    made.max_attempts = 2;
    return made;
}

Heartbeat beat_of(const Job& job) {
    Heartbeat beat;
    beat.lease = lease_of(job);
    return beat;
}

AppendLogs lines_of(const Job& job, std::size_t bytes) {
    return {.lease = lease_of(job), .entries = {{.message = std::string(bytes, 'x')}}};
}

TEST(FullStore, LetsWhatRunsEndAndTakesNothingNew) {
    Filling filling;
    TestEngine& engine = filling.engine;
    const Job reported = engine.start(spec());
    const Job beating = engine.start(spec());
    const Job canceled = engine.start(spec());
    const Job queued = engine.submit(spec());
    filling.store.set_full(true, large_reserve);

    // One batch, so that the report shares it with a command that does not fit.
    Batch batch;
    const auto submit = put(batch, submission({spec()}));
    const auto report = put(batch, report_of(reported, Outcome::succeeded));
    const auto heartbeat = put(batch, beat_of(beating));
    const auto cancel = put(batch, CancelJob{.job = canceled.spec->id});
    const auto claim = put(batch, engine.claim_command());
    const auto replay = put(batch, ReplayJob{.job = reported.spec->id});
    const Engine::Ran ran = engine.run(batch);

    EXPECT_FALSE(ran.counts.has_failed());
    EXPECT_EQ(ran.counts.space, StoreSpace::reserve);
    EXPECT_TRUE(**report);
    EXPECT_TRUE(**heartbeat);
    EXPECT_TRUE(**cancel);
    EXPECT_EQ(refusal(**submit), ErrorCode::store_full);
    EXPECT_EQ(refusal(**claim), ErrorCode::store_full);
    EXPECT_EQ(refusal(**replay), ErrorCode::store_full);
    EXPECT_EQ(engine.find(reported.spec->id).now.state, JobState::succeeded);
    EXPECT_EQ(engine.find(queued.spec->id).now.state, JobState::queued);
    EXPECT_EQ(engine.count_jobs(), 4u);

    filling.store.set_full(false);
    EXPECT_TRUE(engine.ask(submission({spec()})));
    EXPECT_EQ(engine.claim_one().spec->id, queued.spec->id);
}

TEST(FullStore, RefusesClaimsThatWaitSoThatTheyComeAgain) {
    Filling filling;
    const Job running = filling.engine.start(spec());
    const auto waiting = filling.engine.wait(60s);
    filling.store.set_full(true, large_reserve);

    filling.engine.heartbeat(running);

    ASSERT_TRUE(*waiting);
    EXPECT_EQ(refusal(**waiting), ErrorCode::store_full);
    EXPECT_EQ(filling.engine.engine().waiting_claims(), 0u);
}

TEST(FullStore, IsToldByReadinessAndExplain) {
    Filling filling;
    const Job running = filling.engine.start(spec());
    const Job queued = filling.engine.submit(spec());
    filling.store.set_full(true, large_reserve);
    filling.engine.heartbeat(running);

    EXPECT_EQ(refusal(filling.engine.ask(AskDepths{.count = false})), ErrorCode::store_full);
    EXPECT_TRUE(filling.engine.ask(AskDepths{})) << "what is queued can be counted";
    EXPECT_EQ(filling.engine.explain(queued.spec->id).reasons.at(0).code, "store_full");
    EXPECT_EQ(filling.engine.explain(running.spec->id).reasons.at(0).code, "store_full");

    filling.store.set_full(false);
    EXPECT_TRUE(filling.engine.ask(AskDepths{.count = false}));
    EXPECT_NE(filling.engine.explain(queued.spec->id).reasons.at(0).code, "store_full");
}

TEST(FullStore, StoresLogLinesUpToABound) {
    Filling filling;
    const Job running = filling.engine.start(spec());
    filling.store.set_full(true, large_reserve);

    EXPECT_TRUE(filling.engine.ask(lines_of(running, log_bytes_in_reserve / 2)));
    EXPECT_TRUE(filling.engine.ask(lines_of(running, log_bytes_in_reserve / 2)));
    EXPECT_EQ(refusal(filling.engine.ask(lines_of(running, 1))), ErrorCode::store_full);
    EXPECT_TRUE(filling.engine.heartbeat(running));

    filling.store.set_full(false);
    EXPECT_TRUE(filling.engine.ask(lines_of(running, 1)));
    filling.store.set_full(true, large_reserve);
    EXPECT_TRUE(filling.engine.ask(lines_of(running, 1))) << "the next time it counts anew";
}

// Without a reserve, or after it is used up.
TEST(FullStore, CostsNoAttemptWhileNothingCanBeStored) {
    Filling filling;
    TestEngine& engine = filling.engine;
    const Job job = engine.start(twice());
    filling.store.set_full(true);

    for (int i = 0; i < 9; ++i) {
        engine.advance(TestEngine::term / 3);
        EXPECT_EQ(refusal(engine.heartbeat(job)), ErrorCode::store_full);
        EXPECT_EQ(refusal(engine.report(job, Outcome::succeeded)), ErrorCode::store_full);
    }
    filling.store.set_full(false);
    engine.advance(2s);

    const auto answer = engine.report(job, Outcome::succeeded);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->now.attempt, 1);
    EXPECT_EQ(answer->now.state, JobState::succeeded);
}

TEST(StoreOutage, GivesLeasesBackTheTimeThatItTook) {
    Filling filling;
    TestEngine& engine = filling.engine;
    const Job job = engine.start(twice());
    const Timestamp until = job.lease->until;
    filling.store.set_full(true);
    engine.sleep(TestEngine::term / 2);
    EXPECT_FALSE(engine.heartbeat(job));
    engine.sleep(TestEngine::term);
    filling.store.set_full(false);

    engine.run();

    const Timestamp later = engine.find(job.spec->id).lease->until;
    EXPECT_EQ(later, until + TestEngine::term);
    engine.advance(later - engine.now());
    EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::queued) << "its worker stayed silent";
    EXPECT_EQ(engine.find(job.spec->id).now.error_code, lease_expired_code);
}

TEST(StoreOutage, OfAMomentGivesLeasesNoMoreThanThat) {
    Filling filling;
    TestEngine& engine = filling.engine;
    const Job job = engine.start(twice());
    engine.sleep(10s);  // no heartbeat came, so no time was lost
    filling.store.fail_next(FaultyStore::Moment::begin);
    EXPECT_FALSE(engine.heartbeat(job));

    engine.run();

    EXPECT_EQ(engine.find(job.spec->id).lease->until, job.lease->until);
}

}  // namespace full_store_test
}  // namespace sluice
