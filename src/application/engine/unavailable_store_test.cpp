// The promises of the engine when its store gives no answer: see engine.hpp.
#include <gtest/gtest.h>

#include "application/audit/verify_history.hpp"
#include "application/limits/change_limits.hpp"
#include "support/faulty_store.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace unavailable_store_test {

using namespace std::chrono_literals;
using Moment = FaultyStore::Moment;

struct Shaky {
    MemoryStore memory;
    FaultyStore store{memory};
    TestEngine engine{store};
};

JobSpec thrice() {
    JobSpec made = spec();
    made.max_attempts = 3;
    made.backoff = Backoff::list({10s});
    return made;
}

// A job and its history, as a whole.
std::pair<Job, std::vector<Event>> all_of(TestEngine& engine, JobId id) {
    return {engine.find(id), engine.events(id)};
}

SubmitJobs keyed_submission() {
    SubmitJobs command = submission({spec(), spec()});
    command.idempotency_key = "k";
    command.body_digest = digest(1);
    return command;
}

// Moments at which the store keeps no write.
class FailureBefore : public testing::TestWithParam<Moment> {};

TEST_P(FailureBefore, AnswersUnavailableAndChangesNothing) {
    Shaky shaky;
    const Job running = shaky.engine.start(thrice());
    const auto before = all_of(shaky.engine, running.spec->id);
    Batch batch;
    const auto submit = put(batch, submission({spec()}));
    const auto lines =
        put(batch, AppendLogs{.lease = lease_of(running), .entries = {{.message = "a"}}});
    const auto report = put(batch, report_of(running, Outcome::succeeded));
    const auto claim = put(batch, shaky.engine.claim_command());
    shaky.store.fail_next(GetParam(), 6);

    const Engine::Ran ran = shaky.engine.run(batch);

    EXPECT_TRUE(ran.counts.has_failed());
    EXPECT_EQ(refusal(**submit), ErrorCode::unavailable);
    EXPECT_EQ(refusal(**lines), ErrorCode::unavailable);
    EXPECT_EQ(refusal(**report), ErrorCode::unavailable);
    EXPECT_EQ(refusal(**claim), ErrorCode::unavailable);
    EXPECT_EQ(all_of(shaky.engine, running.spec->id), before);
    EXPECT_TRUE(shaky.engine.logs(running.spec->id).empty());
    EXPECT_EQ(shaky.engine.count_jobs(), 1u);
}

TEST_P(FailureBefore, LetsTheSameBeSentAgain) {
    Shaky shaky;
    const Job running = shaky.engine.start(thrice());
    shaky.store.fail_next(GetParam(), 1);
    EXPECT_EQ(refusal(shaky.engine.report(running, Outcome::succeeded)), ErrorCode::unavailable);

    const auto again = shaky.engine.report(running, Outcome::succeeded);

    ASSERT_TRUE(again);
    EXPECT_EQ(again->now.state, JobState::succeeded);
    EXPECT_FALSE(verify_history(*shaky.store.reader()).first_break());
}

TEST_P(FailureBefore, LeavesWaitingClaimsToTheNextJob) {
    Shaky shaky;
    const auto claim = shaky.engine.wait(1h);
    shaky.store.fail_next(GetParam(), 0);
    EXPECT_EQ(refusal(shaky.engine.ask(submission({spec()}))), ErrorCode::unavailable);

    shaky.engine.ask(submission({spec()}));

    ASSERT_TRUE(*claim);
    if (GetParam() == Moment::before_commit) {
        EXPECT_EQ(refusal(**claim), ErrorCode::unavailable);  // it had been woken for the first one
    } else {
        EXPECT_EQ((***claim).size(), 1u);
    }
}

INSTANTIATE_TEST_SUITE_P(Moments, FailureBefore,
                         testing::Values(Moment::begin, Moment::use, Moment::before_commit));

// A client that is told "unavailable" sends its request again, and would make a second rule.
TEST(FailureAfterAChangeOfRules, LeavesTheAnswersOfWhatWasCommitted) {
    Shaky shaky;
    const auto change = [&](bool fails_next) {
        return ChangeLimits{.decide = [&shaky, fails_next](EntityChanges& changes) {
            LimitRule rule;
            rule.max_active = 1;
            if (fails_next) shaky.store.fail_next(Moment::begin);
            return put_rule(changes, rule, {.actor = "ops", .reason = "a test"});
        }};
    };
    Batch batch;
    const auto submit = put(batch, submission({spec()}));
    const auto first = put(batch, change(false));
    const auto second = put(batch, change(true));
    const auto third = put(batch, change(false));

    shaky.engine.run(batch);

    EXPECT_TRUE(**first);
    EXPECT_TRUE(**second);
    EXPECT_EQ(refusal(**third), ErrorCode::unavailable);
    EXPECT_EQ(refusal(**submit), ErrorCode::unavailable);
}

TEST(FailureAtEveryUse, LeavesNothingHalfDone) {
    for (int uses = 0; uses < 40; ++uses) {
        Shaky shaky;
        const Job first = shaky.engine.start(thrice());
        const Job second = shaky.engine.start(thrice());
        JobSpec after = spec();
        after.depends_on = {second.spec->id};
        const Job third = shaky.engine.submit(after);
        const auto before =
            std::tuple(all_of(shaky.engine, first.spec->id), all_of(shaky.engine, second.spec->id),
                       all_of(shaky.engine, third.spec->id));
        Batch batch;
        put(batch, report_of(first, Outcome::failed, "E"));
        put(batch, CancelJob{.job = second.spec->id});
        put(batch, keyed_submission());
        const auto claim = put(batch, shaky.engine.claim_command({}, 5));
        shaky.store.fail_next(Moment::use, uses);

        const Engine::Ran ran = shaky.engine.run(batch);

        ASSERT_TRUE(ran.counts.has_failed()) << uses;
        EXPECT_EQ(refusal(**claim), ErrorCode::unavailable);
        const auto now =
            std::tuple(all_of(shaky.engine, first.spec->id), all_of(shaky.engine, second.spec->id),
                       all_of(shaky.engine, third.spec->id));
        EXPECT_EQ(now, before) << uses;
        EXPECT_EQ(shaky.engine.count_jobs(), 3u) << uses;
    }
}

TEST(ConflictAtEveryUse, HasTheSameDecidedAgain) {
    for (int uses = 0; uses < 40; ++uses) {
        Shaky shaky;
        const Job first = shaky.engine.start(thrice());
        Batch batch;
        const auto lines =
            put(batch, AppendLogs{.lease = lease_of(first), .entries = {{.message = "a"}}});
        const auto report = put(batch, report_of(first, Outcome::failed, "E"));
        const auto submit = put(batch, keyed_submission());
        const auto claim = put(batch, shaky.engine.claim_command({}, 5));
        shaky.store.conflict_next(uses);

        ASSERT_FALSE(shaky.engine.run(batch).counts.has_failed()) << uses;

        ASSERT_TRUE(**lines && **report && **submit && **claim) << uses;
        EXPECT_EQ((**report)->now.error_code, "E") << uses;
        EXPECT_EQ((**submit)->jobs.size(), 2u) << uses;
        EXPECT_EQ((**claim)->size(), 2u) << uses;
        EXPECT_EQ(shaky.engine.logs(first.spec->id).size(), 1u) << uses;
        EXPECT_EQ(shaky.engine.count_jobs(), 3u) << uses;
        EXPECT_FALSE(verify_history(*shaky.store.reader()).first_break()) << uses;
    }
}

TEST(FailureAfterCommit, AnswersUnavailableThoughAllOfItWasDone) {
    Shaky shaky;
    const Job running = shaky.engine.start(thrice());
    shaky.store.fail_next(Moment::after_commit);

    const auto answer = shaky.engine.report(running, Outcome::succeeded);

    EXPECT_EQ(refusal(answer), ErrorCode::unavailable);
    EXPECT_EQ(shaky.engine.find(running.spec->id).now.state, JobState::succeeded);
}

TEST(FailureAfterCommit, AnswersARepeatedReportAsIfItWereTheFirst) {
    for (const Outcome outcome : {Outcome::succeeded, Outcome::failed}) {
        Shaky shaky;
        const Job running = shaky.engine.start(thrice());
        shaky.store.fail_next(Moment::after_commit);
        shaky.engine.report(running, outcome, "E");
        const auto done = all_of(shaky.engine, running.spec->id);

        const auto again = shaky.engine.report(running, outcome, "E");

        ASSERT_TRUE(again);
        EXPECT_EQ(*again, done.first);
        EXPECT_EQ(all_of(shaky.engine, running.spec->id), done);
    }
}

TEST(FailureAfterCommit, AnswersARepeatedSubmissionWithTheFirstJobs) {
    Shaky shaky;
    shaky.store.fail_next(Moment::after_commit);
    EXPECT_EQ(refusal(shaky.engine.ask(keyed_submission())), ErrorCode::unavailable);

    const auto again = shaky.engine.ask(keyed_submission());

    ASSERT_TRUE(again);
    EXPECT_TRUE(again->repeated);
    EXPECT_EQ(again->jobs.size(), 2u);
    EXPECT_EQ(shaky.engine.count_jobs(), 2u);
}

TEST(FailureAfterCommit, StoresRepeatedLogLinesOnce) {
    Shaky shaky;
    const Job running = shaky.engine.start(thrice());
    const AppendLogs lines{.lease = lease_of(running),
                           .entries = {{.message = "a", .line = 1}, {.message = "b", .line = 2}}};
    shaky.store.fail_next(Moment::after_commit);
    shaky.engine.ask(lines);

    const auto again = shaky.engine.ask(lines);

    EXPECT_EQ(again->stored, 0);
    EXPECT_EQ(again->last_seq, 2);
    EXPECT_EQ(shaky.engine.logs(running.spec->id).size(), 2u);
}

TEST(FailureAfterCommit, CancelsOnce) {
    Shaky shaky;
    const Job running = shaky.engine.start(thrice());
    shaky.store.fail_next(Moment::after_commit);
    shaky.engine.cancel(running.spec->id);

    const auto again = shaky.engine.cancel(running.spec->id);

    EXPECT_EQ(again->now.state, JobState::canceled);
    EXPECT_EQ(shaky.engine.events(running.spec->id).size(), 3u);
}

TEST(FailureAfterCommit, OfAClaimGivesTheJobBackWhenTheLeaseEnds) {
    Shaky shaky;
    const Job queued = shaky.engine.submit(thrice());
    shaky.store.fail_next(Moment::after_commit);
    EXPECT_EQ(refusal(shaky.engine.ask(shaky.engine.claim_command())), ErrorCode::unavailable);

    shaky.engine.advance(TestEngine::term + 1s);  // it got back the second until the next try

    EXPECT_EQ(shaky.engine.find(queued.spec->id).now.state, JobState::queued);
    EXPECT_EQ(shaky.engine.claim_one().now.attempt, 2);
}

TEST(AFailedRun, IsTriedAgainSoonWithoutAnyCommand) {
    Shaky shaky;
    const Job running = shaky.engine.start(thrice());
    shaky.engine.sleep(TestEngine::term);
    shaky.store.fail_next(Moment::before_commit);
    EXPECT_TRUE(shaky.engine.run().counts.has_failed());

    shaky.engine.advance(1s);

    EXPECT_EQ(shaky.engine.find(running.spec->id).now.state, JobState::queued);
}

TEST(AFailedRun, LetsAWorkerBeHeardThatSpokeWhileTheStoreWasAway) {
    Shaky shaky;
    const Job running = shaky.engine.start(thrice());
    shaky.engine.sleep(TestEngine::term - 100ms);
    shaky.store.fail_next(Moment::before_commit);
    shaky.engine.ask(submission({spec()}));
    shaky.engine.sleep(200ms);

    const auto late = shaky.engine.heartbeat(running);

    ASSERT_TRUE(late) << "its lease ran out, but nobody has taken the job from it";
    EXPECT_EQ(late->until, shaky.engine.now() + TestEngine::term);
}

TEST(AFailedRun, IsNotReadyUntilTheStoreHasTakenAWrite) {
    Shaky shaky;
    shaky.store.fail_next(Moment::before_commit);
    shaky.engine.ask(submission({spec()}));
    shaky.store.fail_next(Moment::before_commit);

    EXPECT_EQ(refusal(shaky.engine.ask(AskDepths{})), ErrorCode::unavailable);
    EXPECT_TRUE(shaky.engine.ask(AskDepths{}));
}

TEST(AFailedRun, DoesNotLoseAWakeUpForAKeyThatIsFreedLater) {
    Shaky shaky;
    JobSpec keyed = spec();
    keyed.exclusive_keys = {"k"};
    const Job parked = shaky.engine.submit(keyed);
    keyed.priority = 1;
    shaky.engine.submit(keyed);
    const Job holder = shaky.engine.claim_one();
    ASSERT_NE(holder.spec->id, parked.spec->id);
    const auto claim = shaky.engine.wait(1h, {.types = {"work"}});
    shaky.store.fail_next(Moment::before_commit);
    shaky.engine.ask(submission({spec("other")}));

    shaky.engine.report(holder, Outcome::succeeded);

    ASSERT_TRUE(*claim);
    EXPECT_EQ(ids_of(***claim), (std::vector{parked.spec->id}));
}

}  // namespace unavailable_store_test
}  // namespace sluice
