#include "application/leases/hand_back_jobs.hpp"

#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace hand_back_jobs_test {

using namespace std::chrono_literals;

TEST(HandBack, QueuesTheJobAtOnceAndTheAttemptDoesNotCount) {
    TestEngine engine;
    const Job running = engine.start(spec());
    engine.advance(5s);

    const auto job = engine.hand_back(running);

    ASSERT_TRUE(job);
    EXPECT_EQ(job->now.state, JobState::queued);
    EXPECT_EQ(job->now.attempt, 0);
    EXPECT_EQ(job->now.run_after, at(5));
    EXPECT_EQ(job->lease, std::nullopt);
    EXPECT_EQ(job->now.started_at, std::nullopt);
    EXPECT_EQ(engine.find(running.spec->id), *job);
    EXPECT_EQ(engine.claim_one().now.attempt, 1);
}

TEST(HandBack, RecordsWhoAndWhy) {
    TestEngine engine;
    const Job running = engine.start(spec());

    engine.hand_back(running);

    const Event event = engine.events(running.spec->id).back();
    EXPECT_EQ(event.step, Step::handed_back);
    EXPECT_EQ(event.actor, "worker:worker");
    EXPECT_EQ(event.lease, running.lease->token);
    EXPECT_EQ(event.detail, R"({"reason":"shutting down"})");
}

TEST(HandBack, FreesTheKeys) {
    TestEngine engine;
    JobSpec keyed = spec();
    keyed.exclusive_keys = {"k"};
    const Job running = engine.start(keyed);
    keyed.priority = 1;
    const Job urgent = engine.submit(keyed);

    engine.hand_back(running);

    EXPECT_EQ(engine.claim_one().spec->id, urgent.spec->id);
}

TEST(HandBack, MayBeDoneAnyNumberOfTimes) {
    TestEngine engine;
    Job job = engine.start(spec());
    for (int i = 0; i < 20; ++i) {
        engine.hand_back(job);
        job = engine.claim_one();
    }

    EXPECT_EQ(engine.report(job, Outcome::failed)->now.attempt, 1);
}

TEST(HandBack, KeepsTheAttemptsThatCounted) {
    TestEngine engine;
    JobSpec thrice = spec();
    thrice.max_attempts = 3;
    engine.report(engine.start(thrice), Outcome::failed);

    engine.hand_back(engine.claim_one());

    EXPECT_EQ(engine.claim_one().now.attempt, 2);
}

TEST(HandBack, UnderAStaleLeaseIsRefusedAndChangesNothing) {
    TestEngine engine;
    const Job old = engine.start(spec());
    engine.hand_back(old);
    const Job current = engine.claim_one();

    const auto again = engine.hand_back(old);

    EXPECT_EQ(refusal(again), ErrorCode::lease_lost);
    EXPECT_EQ(engine.find(old.spec->id), current);
}

TEST(HandBack, OfAnUnknownJobIsNotFound) {
    TestEngine engine;

    EXPECT_EQ(refusal(engine.ask(HandBack{.lease = {JobId{1}, LeaseToken{2}}})),
              ErrorCode::not_found);
}

TEST(HandBack, OfAJobThatTimedOutOnlyClosesTheLease) {
    TestEngine engine;
    JobSpec limited = spec();
    limited.timeout = 10s;
    const Job running = engine.start(limited);
    engine.advance(10s);

    const auto job = engine.hand_back(running);

    EXPECT_EQ(job->now.state, JobState::timed_out);
    EXPECT_EQ(job->lease, std::nullopt);
    EXPECT_EQ(engine.steps(running.spec->id).back(), Step::lease_closed);
}

}  // namespace hand_back_jobs_test
}  // namespace sluice
