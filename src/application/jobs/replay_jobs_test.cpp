#include "application/jobs/replay_jobs.hpp"

#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace replay_jobs_test {

using namespace std::chrono_literals;

TEST(ReplayJob, SubmitsANewJobLikeTheOldOneToRunAtOnce) {
    TestEngine engine;
    JobSpec wanted = unusual_spec(1, JobId{});
    wanted.tenant = "default";
    wanted.run_after = at(0);
    wanted.depends_on.clear();
    wanted.replay_of.reset();
    wanted.timeout = 1h;
    wanted.max_attempts = 1;
    const Job old = engine.start(wanted);
    engine.report(old, Outcome::failed);
    engine.advance(9s);

    const auto job = engine.replay(old.spec->id);

    ASSERT_TRUE(job);
    JobSpec expected = old.spec;
    expected.id = job->spec->id;
    expected.replay_of = old.spec->id;
    expected.created_at = at(9);
    expected.run_after = at(9);
    EXPECT_NE(job->spec->id, old.spec->id);
    EXPECT_EQ(job->spec, expected);
    EXPECT_EQ(job->now.state, JobState::queued);
    EXPECT_EQ(job->now.attempt, 0);
    EXPECT_EQ(engine.find(job->spec->id), *job);
    EXPECT_EQ(engine.claim({.labels = wanted.labels}).size(), 1u);
}

TEST(ReplayJob, RecordsWhoAndWhy) {
    TestEngine engine;
    const Job old = engine.submit(spec());
    engine.cancel(old.spec->id);

    const auto job = engine.replay(old.spec->id);

    const auto events = engine.events(job->spec->id);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].step, Step::submitted);
    EXPECT_EQ(events[0].actor, "client");
    EXPECT_EQ(events[0].detail, R"({"reason":"once more"})");
}

TEST(ReplayJob, DoesNotTouchTheOldJob) {
    TestEngine engine;
    const Job running = engine.start(spec());
    engine.report(running, Outcome::succeeded);
    const Job before = engine.find(running.spec->id);
    const auto events = engine.events(running.spec->id);

    engine.replay(running.spec->id);
    engine.report(engine.claim_one(), Outcome::failed);

    EXPECT_EQ(engine.find(running.spec->id), before);
    EXPECT_EQ(engine.events(running.spec->id), events);
}

TEST(ReplayJob, RunsWithoutTheOldJobsDependencies) {
    TestEngine engine;
    const Job first = engine.start(spec());
    JobSpec after = spec();
    after.depends_on = {first.spec->id};
    const Job dependent = engine.submit(after);
    engine.report(first, Outcome::failed);
    EXPECT_EQ(engine.find(dependent.spec->id).now.state, JobState::canceled);

    const auto job = engine.replay(dependent.spec->id);

    EXPECT_TRUE(job->spec->depends_on.empty());
    EXPECT_EQ(engine.claim_one().spec->id, job->spec->id);
}

TEST(ReplayJob, OfAReplayNamesTheReplay) {
    TestEngine engine;
    const Job old = engine.submit(spec());
    engine.cancel(old.spec->id);
    const auto second = engine.replay(old.spec->id);
    engine.cancel(second->spec->id);

    const auto third = engine.replay(second->spec->id);

    EXPECT_EQ(third->spec->replay_of, second->spec->id);
}

TEST(ReplayJob, RefusesAJobThatHasNotEnded) {
    TestEngine engine;
    const Job queued = engine.submit(spec());
    EXPECT_EQ(refusal(engine.replay(queued.spec->id)), ErrorCode::conflict);

    engine.claim_one();
    EXPECT_EQ(refusal(engine.replay(queued.spec->id)), ErrorCode::conflict);

    EXPECT_EQ(engine.count_jobs(), 1u);
}

TEST(ReplayJob, FindsNothingInAnotherTenant) {
    TestEngine engine;
    const Job old = engine.submit(spec());
    engine.cancel(old.spec->id);

    const auto stranger = engine.ask(ReplayJob{.job = old.spec->id, .tenant = "other"});
    const auto unknown = engine.ask(ReplayJob{.job = JobId{5}});

    EXPECT_EQ(refusal(stranger), ErrorCode::not_found);
    EXPECT_EQ(refusal(unknown), ErrorCode::not_found);
    EXPECT_EQ(engine.count_jobs(), 1u);
}

TEST(ReplayJob, WaitsForTheKeysThatTheOldJobsWorkerStillHolds) {
    TestEngine engine;
    JobSpec keyed = spec();
    keyed.exclusive_keys = {"k"};
    const Job running = engine.start(keyed);
    engine.cancel(running.spec->id);

    engine.replay(running.spec->id);
    EXPECT_TRUE(engine.claim().empty());

    engine.report(running, Outcome::canceled);
    EXPECT_EQ(engine.claim().size(), 1u);
}

}  // namespace replay_jobs_test
}  // namespace sluice
