// How attempts and backoff play together, from the first failure to the last.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/test_engine.hpp"

namespace sluice {
namespace retry_policy_test {

using namespace std::chrono_literals;

JobSpec with(int attempts, Backoff backoff) {
    JobSpec made = spec();
    made.max_attempts = attempts;
    made.backoff = std::move(backoff);
    return made;
}

TEST(RetryPolicy, MakesExactlyAsManyAttemptsAsAllowed) {
    TestEngine engine;
    const Job job = engine.submit(with(3, Backoff::none()));

    for (int attempt = 1; attempt <= 3; ++attempt) {
        const Job running = engine.claim_one();
        EXPECT_EQ(running.now.attempt, attempt);
        engine.report(running, Outcome::failed);
    }

    EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::failed);
    EXPECT_EQ(engine.find(job.spec->id).now.attempt, 3);
    EXPECT_TRUE(engine.claim().empty());
}

TEST(RetryPolicy, WithoutBackoffRunsAgainAtOnce) {
    TestEngine engine;
    const Job running = engine.start(with(2, Backoff::none()));

    engine.report(running, Outcome::failed);

    EXPECT_EQ(engine.claim().size(), 1u);
}

TEST(RetryPolicy, WithAListWaitsForEachDelayInTurn) {
    TestEngine engine;
    engine.submit(with(4, Backoff::list({1min, 5min})));

    for (const Duration delay : {Duration(1min), Duration(5min), Duration(5min)}) {
        engine.report(engine.claim_one(), Outcome::failed);

        engine.advance(delay - 1us);
        EXPECT_TRUE(engine.claim().empty());
        engine.advance(1us);
    }

    EXPECT_EQ(engine.claim_one().now.attempt, 4);
}

TEST(RetryPolicy, WithJitterWaitsNoLongerThanTheCeilingAndDiffersBetweenJobs) {
    TestEngine engine;
    std::vector<Timestamp> times;
    for (int i = 0; i < 50; ++i) {
        const Job running = engine.start(with(2, Backoff::exponential(60s, 1h)));
        times.push_back(engine.report(running, Outcome::failed)->now.run_after);
    }

    for (const Timestamp time : times) {
        EXPECT_GE(time, at(0));
        EXPECT_LE(time, at(60));
    }
    std::sort(times.begin(), times.end());
    EXPECT_LT(times.front(), at(15));
    EXPECT_GT(times.back(), at(45));
    EXPECT_EQ(std::unique(times.begin(), times.end()), times.end());
}

TEST(RetryPolicy, KeepsTheJobsKeysFreeWhileTheRetryWaits) {
    TestEngine engine;
    JobSpec keyed = with(2, Backoff::list({1min}));
    keyed.exclusive_keys = {"k"};
    const Job first = engine.start(keyed);
    const Job second = engine.submit(keyed);

    engine.report(first, Outcome::failed);

    EXPECT_EQ(engine.claim_one().spec->id, second.spec->id);
}

TEST(RetryPolicy, KeepsTheRetrysPlaceByAgeAmongEquals) {
    TestEngine engine;
    const Job first = engine.start(with(2, Backoff::none()));
    engine.submit(spec());

    engine.report(first, Outcome::failed);

    EXPECT_EQ(engine.claim_one().spec->id, first.spec->id);
}

TEST(RetryPolicy, CountsLostLeasesAndFailuresAlike) {
    TestEngine engine;
    engine.submit(with(3, Backoff::none()));

    engine.report(engine.claim_one(), Outcome::failed);
    engine.claim_one();
    engine.advance(TestEngine::term);
    const auto last = engine.report(engine.claim_one(), Outcome::failed);

    EXPECT_EQ(last->now.state, JobState::failed);
    EXPECT_EQ(last->now.attempt, 3);
}

TEST(RetryPolicy, TellsWhenTheNextAttemptMayStart) {
    TestEngine engine;
    const Job running = engine.start(with(2, Backoff::list({1min})));

    engine.report(running, Outcome::failed, "E");

    const Event event = engine.events(running.spec->id).back();
    EXPECT_EQ(event.step, Step::retried);
    EXPECT_EQ(event.detail,
              R"({"run_after":"2026-01-01T00:01:00.000Z","outcome":"failed","error_code":"E"})");
}

TEST(RetryPolicy, TellsWhenTheNextAttemptMayStartAfterAFailureWithoutACode) {
    TestEngine engine;
    const Job running = engine.start(with(2, Backoff::list({1min})));

    engine.report(running, Outcome::failed);

    EXPECT_EQ(engine.events(running.spec->id).back().detail,
              R"({"run_after":"2026-01-01T00:01:00.000Z","outcome":"failed"})");
}

}  // namespace retry_policy_test
}  // namespace sluice
