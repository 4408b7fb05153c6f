// The effects of the deadline of an attempt; see expire_leases.hpp.
#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace deadline_test {

using namespace std::chrono_literals;

JobSpec with_timeout(Duration timeout, int attempts = 3) {
    JobSpec made = spec();
    made.timeout = timeout;
    made.max_attempts = attempts;
    made.exclusive_keys = {"k"};
    return made;
}

JobSpec repeated_on_timeout(int attempts = 3) {
    JobSpec made = with_timeout(20s, attempts);
    made.retry_on_timeout = true;
    made.backoff = Backoff::list({5s});
    return made;
}

TEST(Deadline, EndsTheJobAsTimedOutWithoutARetry) {
    TestEngine engine;
    const Job running = engine.start(with_timeout(20s));

    engine.advance(20s);

    const Job job = engine.find(running.spec->id);
    EXPECT_EQ(job.now.state, JobState::timed_out);
    EXPECT_EQ(job.now.error_code, "JOB_TIMEOUT");
    EXPECT_EQ(job.now.error_message, "the job did not end within 20000 ms");
    EXPECT_EQ(job.now.completed_at, at(20));
    EXPECT_EQ(engine.events(job.spec->id).back().actor, "engine");
}

TEST(Deadline, DoesNotComeAMicrosecondTooEarly) {
    TestEngine engine;
    const Job running = engine.start(with_timeout(20s));

    engine.advance(20s - 1us);

    EXPECT_EQ(engine.find(running.spec->id).now.state, JobState::running);
    EXPECT_EQ(engine.engine().next_due(), at(20));
}

TEST(Deadline, IsNotMovedByHeartbeats) {
    TestEngine engine;
    const Job running = engine.start(with_timeout(20s));
    engine.advance(19s);
    EXPECT_TRUE(engine.heartbeat(running));

    engine.advance(1s);

    EXPECT_EQ(engine.find(running.spec->id).now.state, JobState::timed_out);
}

TEST(Deadline, NeverComesWithoutATimeout) {
    TestEngine engine;
    const Job running = engine.start(with_timeout(0s));
    for (int i = 0; i < 1000; ++i) {
        engine.advance(25s);
        ASSERT_TRUE(engine.heartbeat(running));
    }

    EXPECT_EQ(engine.find(running.spec->id).now.state, JobState::running);
}

TEST(Deadline, TellsTheWorkerToStopAndKeepsTheKeysUntilItSaysSo) {
    TestEngine engine;
    const Job running = engine.start(with_timeout(20s));
    engine.submit(with_timeout(20s));
    engine.advance(20s);

    const auto heard = engine.heartbeat(running);
    EXPECT_TRUE(heard->stop_requested);
    EXPECT_EQ(heard->until, at(50));
    EXPECT_TRUE(engine.claim().empty());

    EXPECT_TRUE(engine.report(running, Outcome::timed_out));
    EXPECT_EQ(engine.claim().size(), 1u);
}

TEST(Deadline, KeepsTheKeysUntilTheLeaseOfASilentWorkerEnds) {
    TestEngine engine;
    const Job running = engine.start(with_timeout(20s));
    engine.submit(with_timeout(20s));

    engine.advance(30s - 1us);
    EXPECT_TRUE(engine.claim().empty());

    engine.advance(1us);
    EXPECT_EQ(engine.steps(running.spec->id).back(), Step::lease_closed);
    EXPECT_EQ(engine.claim().size(), 1u);
}

TEST(Deadline, RefusesALaterSuccessAndKeepsTheJobTimedOut) {
    TestEngine engine;
    const Job running = engine.start(with_timeout(20s));
    engine.advance(20s);

    const auto answer = engine.report(running, Outcome::succeeded);

    EXPECT_EQ(refusal(answer), ErrorCode::conflict);
    EXPECT_EQ(engine.find(running.spec->id).now.state, JobState::timed_out);
    EXPECT_EQ(engine.find(running.spec->id).lease, std::nullopt);
}

TEST(Deadline, AnswersARepeatedWordOfTheWorkerLikeTheFirst) {
    for (const Outcome outcome : {Outcome::timed_out, Outcome::canceled, Outcome::succeeded}) {
        TestEngine engine;
        const Job running = engine.start(with_timeout(20s));
        engine.advance(20s);
        const auto first = engine.report(running, outcome);

        const auto second = engine.report(running, outcome);

        EXPECT_EQ(refusal(second), refusal(first)) << static_cast<int>(outcome);
        EXPECT_EQ(engine.events(running.spec->id).size(), 4u);
    }
}

TEST(Deadline, CountsFromTheStartOfEachAttempt) {
    TestEngine engine;
    JobSpec twice = with_timeout(20s, 2);
    const Job first = engine.start(twice);
    engine.advance(15s);
    engine.report(first, Outcome::failed);
    const Job second = engine.claim_one();

    engine.advance(20s - 1us);
    EXPECT_EQ(engine.find(second.spec->id).now.state, JobState::running);

    engine.advance(1us);
    EXPECT_EQ(engine.find(second.spec->id).now.state, JobState::timed_out);
}

TEST(Deadline, AtTheSameMomentAsTheEndOfTheLeaseDecides) {
    TestEngine engine;
    const Job running = engine.start(with_timeout(30s));

    engine.advance(30s);

    EXPECT_EQ(engine.steps(running.spec->id),
              (std::vector{Step::submitted, Step::claimed, Step::timed_out, Step::lease_closed}));
}

TEST(Deadline, CancelsDependents) {
    TestEngine engine;
    const Job running = engine.start(with_timeout(20s));
    JobSpec after = spec();
    after.depends_on = {running.spec->id};
    const Job dependent = engine.submit(after);

    engine.advance(20s);

    EXPECT_EQ(engine.find(dependent.spec->id).now.state, JobState::canceled);
}

// ── types that repeat timed out attempts ──

TEST(RepeatedDeadline, AsksTheWorkerToStopAndLeavesTheJobRunning) {
    TestEngine engine;
    const Job running = engine.start(repeated_on_timeout());

    engine.advance(20s);

    const Job job = engine.find(running.spec->id);
    EXPECT_EQ(job.now.state, JobState::running);
    EXPECT_TRUE(job.lease->stop_requested);
    EXPECT_EQ(job.now.head, running.now.head);
}

TEST(RepeatedDeadline, DoesNotExtendTheLeaseAnyMore) {
    TestEngine engine;
    const Job running = engine.start(repeated_on_timeout());
    engine.advance(10s);
    engine.heartbeat(running);
    engine.advance(15s);

    const auto heard = engine.ask(Heartbeat{.lease = lease_of(running), .term = 1h, .progress = 9});

    ASSERT_TRUE(heard);
    EXPECT_TRUE(heard->stop_requested);
    EXPECT_EQ(heard->until, at(40));
    EXPECT_EQ(engine.find(running.spec->id).now.progress, 9);
}

// Of several committers only one looks for due work; a message of the worker may reach another one
// first.
TEST(RepeatedDeadline, SaysThatTheLeaseIsLostOnlyOnceItIs) {
    TestEngine engine;
    const Job running = engine.start(repeated_on_timeout());
    engine.advance(20s);
    Engine other(engine.store(), {.node = 1, .sweeps = false});
    const auto say = [&](auto message) {
        Batch batch;
        const auto answer = put(batch, std::move(message));
        other.run(batch, at(31));
        batch.deliver();
        return answer->value();
    };

    const auto heard = say(Heartbeat{.lease = lease_of(running)});
    const auto reported = say(report_of(running, Outcome::failed, "E_LATE"));

    ASSERT_TRUE(heard);
    EXPECT_TRUE(heard->stop_requested);
    EXPECT_EQ(heard->until, at(30));
    EXPECT_TRUE(reported);
}

TEST(RepeatedDeadline, RepeatsTheAttemptOnceTheLeaseHasEnded) {
    TestEngine engine;
    const Job running = engine.start(repeated_on_timeout());

    engine.advance(30s);

    const Job job = engine.find(running.spec->id);
    EXPECT_EQ(job.now.state, JobState::queued);
    EXPECT_EQ(job.now.error_code, "JOB_TIMEOUT");
    EXPECT_EQ(job.now.run_after, at(35));
    EXPECT_EQ(job.now.attempt, 1);
    EXPECT_EQ(engine.steps(job.spec->id).back(), Step::retried);
    EXPECT_EQ(engine.events(job.spec->id).back().actor, "engine");
}

TEST(RepeatedDeadline, HoldsTheKeysUntilTheLeaseHasEnded) {
    TestEngine engine;
    engine.start(repeated_on_timeout());
    const Job other = engine.submit(with_timeout(20s));

    engine.advance(30s - 1us);
    EXPECT_TRUE(engine.claim().empty());

    engine.advance(1us);
    EXPECT_EQ(engine.claim_one().spec->id, other.spec->id);
}

TEST(RepeatedDeadline, RepeatsTheAttemptWhenTheWorkerHasStopped) {
    for (const Outcome outcome : {Outcome::failed, Outcome::canceled, Outcome::timed_out}) {
        TestEngine engine;
        const Job running = engine.start(repeated_on_timeout());
        engine.advance(21s);

        const auto job = engine.report(running, outcome);

        ASSERT_TRUE(job);
        EXPECT_EQ(job->now.state, JobState::queued);
        EXPECT_EQ(job->now.run_after, at(26));
    }
}

TEST(RepeatedDeadline, TakesASuccessThatComesBeforeTheLeaseEnds) {
    TestEngine engine;
    const Job running = engine.start(repeated_on_timeout());
    engine.advance(21s);

    EXPECT_EQ(engine.report(running, Outcome::succeeded)->now.state, JobState::succeeded);
}

TEST(RepeatedDeadline, EndsTheJobInItsLastAttempt) {
    TestEngine engine;
    const Job first = engine.start(repeated_on_timeout(2));
    engine.advance(35s);
    const Job second = engine.claim_one();
    EXPECT_EQ(second.now.attempt, 2);

    engine.advance(20s);

    EXPECT_EQ(engine.find(first.spec->id).now.state, JobState::timed_out);
}

TEST(RepeatedDeadline, LosesToACancel) {
    TestEngine engine;
    const Job running = engine.start(repeated_on_timeout());
    engine.advance(21s);

    engine.cancel(running.spec->id);
    engine.advance(1h);

    EXPECT_EQ(engine.find(running.spec->id).now.state, JobState::canceled);
}

}  // namespace deadline_test
}  // namespace sluice
