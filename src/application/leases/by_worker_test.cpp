// Workers that know only their own name: which attempt their messages are about, and the answers.
#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace by_worker_test {

using namespace std::chrono_literals;

class ByName : public testing::Test {
  protected:
    Job start(const std::string& worker) {
        JobSpec wanted = spec();
        wanted.max_attempts = 3;
        wanted.backoff = Backoff::none();
        engine.submit(wanted);
        return claim(worker);
    }
    Job claim(const std::string& worker) {
        const auto claimed = engine.ask(engine.claim_command({}, 1, worker));
        return claimed->front();
    }
    Told<Extended> beat(const Job& job, const ByWorker& worker, Heartbeat said = {}) {
        said.lease.job = job.spec->id;
        said.by_worker = worker;
        return engine.ask(std::move(said));
    }
    Told<Job> report(const Job& job, const ByWorker& worker, Outcome outcome) {
        Report said{.lease = {job.spec->id, {}}, .outcome = outcome, .retryable = false};
        said.by_worker = worker;
        return engine.ask(std::move(said));
    }

    TestEngine engine;
};

TEST_F(ByName, AHeartbeatExtendsTheLeaseOfTheLastClaimAndShowsTheJob) {
    const Job job = start("r");
    engine.advance(20s);

    const auto extended = beat(job, {"r"}, {.term = 60s, .message = "npm ci", .phase = "BUILD"});

    ASSERT_TRUE(extended);
    EXPECT_EQ(extended->until, at(80));
    EXPECT_EQ(*extended->job, engine.find(job.spec->id));
    EXPECT_EQ(extended->job->now.message, "BUILD: npm ci");
    EXPECT_EQ(beat(job, {"r"}, {.message = "npm test"})->job->now.message, "BUILD: npm test");
    EXPECT_EQ(beat(job, {"r"}, {.phase = "BUILD"})->job->now.message, "BUILD: npm test");
    EXPECT_EQ(beat(job, {"r"}, {.phase = "PUSH"})->job->now.message, "PUSH");
}

TEST_F(ByName, AHeartbeatOfAnotherWorkerIsRefused) {
    const Job job = start("r");

    EXPECT_EQ(refusal(beat(job, {"stranger"})), ErrorCode::lease_lost);

    EXPECT_EQ(engine.find(job.spec->id), job);
}

TEST_F(ByName, AHeartbeatForAJobThatDoesNotRunShowsItAndSaysStop) {
    const Job canceled = start("r");
    engine.cancel(canceled.spec->id);
    engine.advance(20s);
    const auto told = beat(canceled, {"r"}, {.phase = "PUSH"});
    ASSERT_TRUE(told);
    EXPECT_TRUE(told->stop_requested);
    EXPECT_EQ(told->job->now.state, JobState::canceled);
    EXPECT_EQ(told->job->now.message, "");
    EXPECT_EQ(engine.find(canceled.spec->id).lease->until, at(50)) << "it has not stopped yet";

    const Job queued = engine.submit(spec());
    EXPECT_EQ(beat(queued, {"r"})->job->now.state, JobState::queued);
    EXPECT_FALSE(engine.find(queued.spec->id).lease);
}

TEST_F(ByName, AReportCountsForTheLastClaimAndMayBeRepeated) {
    const Job job = start("r");

    EXPECT_EQ(refusal(report(job, {"stranger"}, Outcome::succeeded)), ErrorCode::lease_lost);
    const auto first = report(job, {"r"}, Outcome::succeeded);

    ASSERT_TRUE(first);
    EXPECT_EQ(first->now.state, JobState::succeeded);
    EXPECT_EQ(*report(job, {"r"}, Outcome::succeeded), *first);
    EXPECT_EQ(refusal(report(job, {"r"}, Outcome::failed)), ErrorCode::conflict);
    EXPECT_EQ(refusal(report(job, {"stranger"}, Outcome::succeeded)), ErrorCode::lease_lost);
}

TEST_F(ByName, WhoLostTheJobToAnotherWorkerIsRefused) {
    const Job job = start("r");
    engine.advance(31s);
    EXPECT_EQ(refusal(report(job, {"r"}, Outcome::succeeded)), ErrorCode::lease_lost);
    claim("next");

    EXPECT_EQ(refusal(beat(job, {"r"})), ErrorCode::lease_lost);
    EXPECT_EQ(refusal(report(job, {"r"}, Outcome::failed)), ErrorCode::lease_lost);
    EXPECT_TRUE(report(job, {"next"}, Outcome::succeeded));
    EXPECT_EQ(refusal(report(job, {"r"}, Outcome::succeeded)), ErrorCode::lease_lost);
}

TEST_F(ByName, AnAttemptFencesTheOldRunOfAWorkerThatCameBackUnderItsName) {
    const Job job = start("r");
    engine.advance(31s);
    claim("r");

    EXPECT_EQ(refusal(beat(job, {"r", 1})), ErrorCode::lease_lost);
    EXPECT_EQ(refusal(report(job, {"r", 1}, Outcome::failed)), ErrorCode::lease_lost);

    EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::running);
    EXPECT_TRUE(beat(job, {"r", 2}));
    EXPECT_TRUE(report(job, {"r", 2}, Outcome::succeeded));
    EXPECT_EQ(refusal(report(job, {"r", 1}, Outcome::succeeded)), ErrorCode::lease_lost);
    EXPECT_TRUE(report(job, {"r", 2}, Outcome::succeeded)) << "it may be repeated";
}

TEST_F(ByName, ACanceledJobMayBeReportedCanceledAtAnyTime) {
    const Job job = start("r");
    engine.cancel(job.spec->id);

    EXPECT_EQ(refusal(report(job, {"r"}, Outcome::succeeded)), ErrorCode::conflict);
    EXPECT_TRUE(report(job, {"r"}, Outcome::canceled));
    EXPECT_EQ(refusal(report(job, {"r"}, Outcome::failed)), ErrorCode::conflict);
    EXPECT_TRUE(report(job, {"r"}, Outcome::canceled));
    EXPECT_EQ(refusal(report(job, {"stranger"}, Outcome::canceled)), ErrorCode::lease_lost);
}

TEST_F(ByName, SomebodyElseMayEndAJobThatRunsWhoeverHasIt) {
    const Job job = start("r");
    Report end{.lease = {job.spec->id, {}}, .outcome = Outcome::failed, .retryable = false};
    end.error_message = "enough";
    end.actor = "user:ada";
    end.by_worker = ByWorker{};

    const auto ended = engine.ask(end);

    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->now.state, JobState::failed);
    EXPECT_EQ(engine.events(job.spec->id).back().actor, "user:ada");
    EXPECT_EQ(refusal(engine.ask(end)), ErrorCode::conflict) << "it does not run any more";
    const Job queued = engine.submit(spec());
    end.lease.job = queued.spec->id;
    EXPECT_EQ(refusal(engine.ask(end)), ErrorCode::conflict);
}

TEST_F(ByName, JobsOutOfBoundsDoNotExist) {
    const Job job = start("r");
    Heartbeat said;
    said.bounds.queue = "another";
    EXPECT_EQ(refusal(beat(job, {"r"}, said)), ErrorCode::not_found);
    EXPECT_EQ(refusal(engine.ask(CancelJob{.job = job.spec->id, .queue = "another"})),
              ErrorCode::not_found);
}

TEST_F(ByName, ACancelThatMayNotBeRepeatedIsRefusedTheSecondTime) {
    const Job job = engine.submit(spec());
    const CancelJob cancel{.job = job.spec->id, .only_once = true};

    EXPECT_TRUE(engine.ask(cancel));
    EXPECT_EQ(refusal(engine.ask(cancel)), ErrorCode::conflict);
    EXPECT_TRUE(engine.cancel(job.spec->id));
}

TEST_F(ByName, ManyWordsInOneBatchAreHeardInTurn) {
    const Job job = start("r");
    Batch batch;
    Heartbeat beat{.lease = {job.spec->id, {}}, .by_worker = ByWorker{"r"}};
    Report end{.lease = {job.spec->id, {}}, .retryable = false, .by_worker = ByWorker{"r"}};
    const auto first = put(batch, beat);
    const auto reported = put(batch, end);
    const auto repeated = put(batch, end);
    engine.run(batch);

    EXPECT_TRUE(**first);
    ASSERT_TRUE(**reported);
    ASSERT_TRUE(**repeated);
    EXPECT_EQ(***reported, ***repeated);
}

}  // namespace by_worker_test
}  // namespace sluice
