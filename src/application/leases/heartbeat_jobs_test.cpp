#include "application/leases/heartbeat_jobs.hpp"

#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace heartbeat_jobs_test {

using namespace std::chrono_literals;

TEST(Heartbeat, ExtendsTheLeaseByItsTermFromNow) {
    TestEngine engine;
    const Job job = engine.start(spec());
    engine.advance(20s);

    const auto answer = engine.heartbeat(job);

    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->until, at(50));
    EXPECT_FALSE(answer->stop_requested);
    EXPECT_EQ(engine.find(job.spec->id).lease->until, at(50));
}

TEST(Heartbeat, MayChangeTheTerm) {
    TestEngine engine;
    const Job job = engine.start(spec());

    (void)engine.ask(Heartbeat{.lease = lease_of(job), .term = 5min});
    engine.advance(1s);
    const auto next = engine.heartbeat(job);

    EXPECT_EQ(next->until, at(301));
}

TEST(Heartbeat, NotesProgressAndMessage) {
    TestEngine engine;
    const Job job = engine.start(spec());

    (void)engine.ask(Heartbeat{.lease = lease_of(job), .progress = 40, .message = "cloning"});

    EXPECT_EQ(engine.find(job.spec->id).now.progress, 40);
    EXPECT_EQ(engine.find(job.spec->id).now.message, "cloning");
}

TEST(Heartbeat, LeavesProgressAndMessageAsTheyWereWhenItNamesNone) {
    TestEngine engine;
    const Job job = engine.start(spec());
    (void)engine.ask(Heartbeat{.lease = lease_of(job), .progress = 40, .message = "cloning"});

    (void)engine.heartbeat(job);

    EXPECT_EQ(engine.find(job.spec->id).now.progress, 40);
    EXPECT_EQ(engine.find(job.spec->id).now.message, "cloning");
}

TEST(Heartbeat, KeepsAJobRunningForAsLongAsItComes) {
    TestEngine engine;
    const Job job = engine.start(spec());

    for (int i = 0; i < 100; ++i) {
        engine.advance(29s);
        ASSERT_TRUE(engine.heartbeat(job));
    }

    EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::running);
}

TEST(Heartbeat, WritesNoEvent) {
    TestEngine engine;
    const Job job = engine.start(spec());

    (void)engine.heartbeat(job);

    EXPECT_EQ(engine.events(job.spec->id).size(), 2u);
    EXPECT_EQ(engine.find(job.spec->id).now.head, job.now.head);
}

TEST(Heartbeat, IsTooLateOnceTheLeaseWasTakenAway) {
    TestEngine engine;
    const Job job = engine.start(spec());
    engine.advance(TestEngine::term);

    const auto answer = engine.heartbeat(job);

    EXPECT_EQ(refusal(answer), ErrorCode::lease_lost);
    EXPECT_EQ(engine.find(job.spec->id).lease, std::nullopt);
}

TEST(Heartbeat, ComesInTimeJustBeforeTheLeaseEnds) {
    TestEngine engine;
    const Job job = engine.start(spec());
    engine.sleep(TestEngine::term - 1us);

    EXPECT_TRUE(engine.heartbeat(job));
}

TEST(Heartbeat, UnderAStaleLeaseIsRefusedAndChangesNothing) {
    TestEngine engine;
    JobSpec twice = spec();
    twice.max_attempts = 2;
    const Job old = engine.start(twice);
    engine.advance(TestEngine::term);
    const Job current = engine.claim_one();
    engine.advance(1s);

    const auto answer =
        engine.ask(Heartbeat{.lease = lease_of(old), .progress = 99, .message = "zombie"});

    EXPECT_EQ(refusal(answer), ErrorCode::lease_lost);
    EXPECT_EQ(engine.find(old.spec->id), current);
}

TEST(Heartbeat, AfterTheReportIsRefused) {
    TestEngine engine;
    const Job job = engine.start(spec());
    engine.report(job, Outcome::succeeded);

    EXPECT_EQ(refusal(engine.heartbeat(job)), ErrorCode::lease_lost);
}

TEST(Heartbeat, OfAnUnknownJobIsNotFound) {
    TestEngine engine;

    const auto answer = engine.ask(Heartbeat{.lease = {JobId{5}, LeaseToken{6}}});

    EXPECT_EQ(refusal(answer), ErrorCode::not_found);
}

TEST(Heartbeat, SaysThatTheJobWasCanceledAndStillExtendsTheLease) {
    TestEngine engine;
    const Job job = engine.start(spec());
    engine.cancel(job.spec->id);
    engine.advance(20s);

    const auto answer = engine.heartbeat(job);

    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->stop_requested);
    EXPECT_EQ(answer->until, at(50));
}

TEST(Heartbeat, TwiceInOneBatchAnswersBothAndKeepsTheLast) {
    TestEngine engine;
    const Job job = engine.start(spec());
    Batch batch;
    const auto first =
        put(batch, Heartbeat{.lease = lease_of(job), .term = 10s, .progress = 1, .message = "a"});
    const auto second = put(batch, Heartbeat{.lease = lease_of(job), .progress = 2});

    const Engine::Ran ran = engine.run(batch);

    EXPECT_TRUE(**first);
    EXPECT_EQ((**second)->until, at(10));
    EXPECT_EQ(engine.find(job.spec->id).now.progress, 2);
    EXPECT_EQ(engine.find(job.spec->id).now.message, "a");
    EXPECT_EQ(ran.counts.leases_extended, 2);
}

}  // namespace heartbeat_jobs_test
}  // namespace sluice
