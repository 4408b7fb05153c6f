// The promises of an Idempotency-Key, from submission to forgetting.
#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace idempotency_test {

using namespace std::chrono_literals;

SubmitJobs keyed(std::string key, int body, std::string tenant = "default") {
    JobSpec one = spec();
    one.tenant = std::move(tenant);
    SubmitJobs command = submission({one, one});
    command.idempotency_key = std::move(key);
    command.body_digest = digest(body);
    return command;
}

std::vector<JobId> ids(const Result<Submitted>& answer) {
    return ids_of(answer->jobs);
}

TEST(IdempotencyKey, MakesARepeatAnswerAsTheFirstDid) {
    TestEngine engine;
    const auto first = engine.ask(keyed("k", 1));

    const auto second = engine.ask(keyed("k", 1));

    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_FALSE(first->repeated);
    EXPECT_TRUE(second->repeated);
    EXPECT_EQ(ids(second), ids(first));
    EXPECT_EQ(engine.count_jobs(), 2u);
}

TEST(IdempotencyKey, AnswersWithTheJobsAsTheyWereAccepted) {
    TestEngine engine;
    const auto first = engine.ask(keyed("k", 1));
    engine.report(engine.claim_one(), Outcome::succeeded);
    engine.advance(1h);

    const auto second = engine.ask(keyed("k", 1));

    ASSERT_EQ(second->jobs.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(second->jobs[i].spec, first->jobs[i].spec);
        EXPECT_EQ(second->jobs[i].now.state, JobState::queued);
        EXPECT_EQ(second->jobs[i].now.attempt, 0);
        EXPECT_EQ(second->jobs[i].now.run_after, first->jobs[i].now.run_after);
        EXPECT_EQ(second->jobs[i].now.head.seq, first->jobs[i].now.head.seq);
    }
}

TEST(IdempotencyKey, WorksWithinOneBatch) {
    TestEngine engine;
    Batch batch;
    const auto first = put(batch, keyed("k", 1));
    const auto between = put(batch, submission({spec("between")}));
    const auto second = put(batch, keyed("k", 1));
    const auto other = put(batch, keyed("k", 2));

    engine.run(batch);

    EXPECT_FALSE((**first)->repeated);
    EXPECT_TRUE((**second)->repeated);
    EXPECT_EQ(ids(**second), ids(**first));
    EXPECT_EQ((**between)->jobs.at(0).spec->type, "between");
    EXPECT_EQ(refusal(**other), ErrorCode::idempotency_mismatch);
    EXPECT_EQ(engine.count_jobs(), 3u);
}

TEST(IdempotencyKey, RefusesAnotherBody) {
    TestEngine engine;
    (void)engine.ask(keyed("k", 1));

    const auto other = engine.ask(keyed("k", 2));

    EXPECT_EQ(refusal(other), ErrorCode::idempotency_mismatch);
    EXPECT_EQ(engine.count_jobs(), 2u);
}

TEST(IdempotencyKey, BelongsToItsTenant) {
    TestEngine engine;
    const auto mine = engine.ask(keyed("k", 1));

    const auto theirs = engine.ask(keyed("k", 2, "other"));

    ASSERT_TRUE(theirs);
    EXPECT_FALSE(theirs->repeated);
    EXPECT_NE(ids(theirs), ids(mine));
}

TEST(IdempotencyKey, IsRememberedForADayAndNoLonger) {
    TestEngine engine;
    const auto first = engine.ask(keyed("k", 1));

    engine.advance(24h - 1us);
    EXPECT_EQ(ids(engine.ask(keyed("k", 1))), ids(first));
    EXPECT_EQ(refusal(engine.ask(keyed("k", 2))), ErrorCode::idempotency_mismatch);

    engine.advance(1us);
    const auto later = engine.ask(keyed("k", 2));
    ASSERT_TRUE(later);
    EXPECT_FALSE(later->repeated);
    EXPECT_EQ(engine.count_jobs(), 4u);
}

TEST(IdempotencyKey, IsNewAgainFromItsSecondUse) {
    TestEngine engine;
    (void)engine.ask(keyed("k", 1));
    engine.advance(24h);
    const auto second = engine.ask(keyed("k", 2));

    engine.advance(23h);

    EXPECT_EQ(ids(engine.ask(keyed("k", 2))), ids(second));
    EXPECT_EQ(refusal(engine.ask(keyed("k", 1))), ErrorCode::idempotency_mismatch);
}

TEST(IdempotencyKey, IsNotUsedUpByARefusedCommand) {
    TestEngine engine;
    SubmitJobs bad = keyed("k", 1);
    bad.jobs[0].depends_on = {JobId{12345}};
    EXPECT_EQ(refusal(engine.ask(bad)), ErrorCode::invalid);

    const auto good = engine.ask(keyed("k", 2));

    ASSERT_TRUE(good);
    EXPECT_FALSE(good->repeated);
}

TEST(IdempotencyKey, MayBeMissing) {
    TestEngine engine;

    const auto first = engine.ask(keyed("", 1));
    const auto second = engine.ask(keyed("", 1));

    EXPECT_NE(ids(first), ids(second));
    EXPECT_EQ(engine.count_jobs(), 4u);
}

TEST(IdempotencyKey, DoesNotRunItsJobsAgain) {
    TestEngine engine;
    (void)engine.ask(keyed("k", 1));
    EXPECT_EQ(engine.claim({}, 10).size(), 2u);

    (void)engine.ask(keyed("k", 1));

    EXPECT_TRUE(engine.claim({}, 10).empty());
}

}  // namespace idempotency_test
}  // namespace sluice
