// How the end of a job affects the jobs that depend on it; see finish_jobs.hpp and submit_jobs.hpp.
#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace dependencies_test {

using namespace std::chrono_literals;

JobSpec after(std::vector<JobId> dependencies,
              OnDependencyFailure policy = OnDependencyFailure::cancel) {
    JobSpec made = spec("dependent");
    made.depends_on = std::move(dependencies);
    made.on_dependency_failure = policy;
    return made;
}

const ClaimFilter dependents{.types = {"dependent"}};

TEST(Dependency, KeepsAJobWaitingUntilItHasSucceeded) {
    TestEngine engine;
    const Job first = engine.start(spec());
    engine.submit(after({first.spec->id}));
    EXPECT_TRUE(engine.claim(dependents).empty());

    engine.report(first, Outcome::succeeded);

    EXPECT_EQ(engine.claim(dependents).size(), 1u);
}

TEST(Dependency, KeepsAJobWaitingThroughRetries) {
    TestEngine engine;
    JobSpec twice = spec();
    twice.max_attempts = 2;
    const Job first = engine.start(twice);
    engine.submit(after({first.spec->id}));

    engine.report(first, Outcome::failed);
    EXPECT_TRUE(engine.claim(dependents).empty());

    engine.report(engine.claim_one(), Outcome::succeeded);
    EXPECT_EQ(engine.claim(dependents).size(), 1u);
}

TEST(Dependency, OfManyWaitsForAll) {
    TestEngine engine;
    const Job a = engine.start(spec());
    const Job b = engine.start(spec());
    engine.submit(after({a.spec->id, b.spec->id}));

    engine.report(b, Outcome::succeeded);
    EXPECT_TRUE(engine.claim(dependents).empty());

    engine.report(a, Outcome::succeeded);
    EXPECT_EQ(engine.claim(dependents).size(), 1u);
}

TEST(Dependency, DoesNotBringTheTimeForward) {
    TestEngine engine;
    const Job first = engine.start(spec());
    JobSpec later = after({first.spec->id});
    later.run_after = at(20);
    engine.submit(later);

    engine.report(first, Outcome::succeeded);
    EXPECT_TRUE(engine.claim(dependents).empty());

    engine.advance(20s);
    EXPECT_EQ(engine.claim(dependents).size(), 1u);
}

TEST(Dependency, StillHasToWaitForItsKeys) {
    TestEngine engine;
    JobSpec keyed = spec();
    keyed.exclusive_keys = {"k"};
    const Job holder = engine.start(keyed);
    const Job first = engine.start(spec());
    JobSpec both = after({first.spec->id});
    both.exclusive_keys = {"k"};
    engine.submit(both);

    engine.report(first, Outcome::succeeded);
    EXPECT_TRUE(engine.claim(dependents).empty());

    engine.report(holder, Outcome::succeeded);
    EXPECT_EQ(engine.claim(dependents).size(), 1u);
}

// The ends other than success.
class FailedDependency : public testing::TestWithParam<Outcome> {};

TEST_P(FailedDependency, CancelsTheJob) {
    TestEngine engine;
    const Job first = engine.start(spec());
    const Job second = engine.submit(after({first.spec->id}));
    engine.advance(1s);

    const auto ended = engine.report(first, GetParam());

    const Job job = engine.find(second.spec->id);
    EXPECT_EQ(job.now.state, JobState::canceled);
    EXPECT_EQ(job.now.error_code, "DEPENDENCY_FAILED");
    EXPECT_EQ(job.now.error_message, "the job depends on " + to_text(first.spec->id) +
                                         ", which ended as " +
                                         std::string(to_text(ended->now.state)));
    EXPECT_EQ(job.now.completed_at, at(1));
    EXPECT_EQ(engine.events(job.spec->id).back().actor, "engine");
    EXPECT_TRUE(engine.claim(dependents).empty());
}

TEST_P(FailedDependency, LetsTheJobRunWhenItSaysSo) {
    TestEngine engine;
    const Job first = engine.start(spec());
    engine.submit(after({first.spec->id}, OnDependencyFailure::run));

    engine.report(first, GetParam());

    EXPECT_EQ(engine.claim(dependents).size(), 1u);
}

TEST_P(FailedDependency, BeforeTheJobCameCancelsItAtOnce) {
    TestEngine engine;
    const Job first = engine.start(spec());
    engine.report(first, GetParam());

    const Job answer = engine.submit(after({first.spec->id}));

    EXPECT_EQ(answer.now.state, JobState::queued);  // as it was accepted
    EXPECT_EQ(engine.find(answer.spec->id).now.state, JobState::canceled);
    EXPECT_EQ(engine.find(answer.spec->id).now.error_code, "DEPENDENCY_FAILED");
    EXPECT_EQ(engine.steps(answer.spec->id), (std::vector{Step::submitted, Step::canceled}));
    EXPECT_TRUE(engine.claim(dependents).empty());
}

TEST_P(FailedDependency, BeforeTheJobCameLetsItRunWhenItSaysSo) {
    TestEngine engine;
    const Job first = engine.start(spec());
    engine.report(first, GetParam());

    engine.submit(after({first.spec->id}, OnDependencyFailure::run));

    EXPECT_EQ(engine.claim(dependents).size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Outcomes, FailedDependency,
                         testing::Values(Outcome::failed, Outcome::canceled, Outcome::timed_out));

TEST(FailedDependencyOfMany, CancelsWithoutWaitingForTheOthers) {
    TestEngine engine;
    const Job a = engine.start(spec());
    const Job b = engine.start(spec());
    const Job second = engine.submit(after({a.spec->id, b.spec->id}));

    engine.report(b, Outcome::failed);

    EXPECT_EQ(engine.find(second.spec->id).now.state, JobState::canceled);
    engine.report(a, Outcome::succeeded);
    EXPECT_EQ(engine.find(second.spec->id).now.state, JobState::canceled);
}

TEST(FailedDependencyOfMany, WaitsForTheOthersBeforeItRuns) {
    TestEngine engine;
    const Job a = engine.start(spec());
    const Job b = engine.start(spec());
    engine.submit(after({a.spec->id, b.spec->id}, OnDependencyFailure::run));

    engine.report(b, Outcome::failed);
    EXPECT_TRUE(engine.claim(dependents).empty());

    engine.report(a, Outcome::failed);
    EXPECT_EQ(engine.claim(dependents).size(), 1u);
}

TEST(DependencyThatSucceededBefore, DoesNotKeepTheJobWaiting) {
    TestEngine engine;
    const Job first = engine.start(spec());
    engine.report(first, Outcome::succeeded);

    engine.submit(after({first.spec->id}));

    EXPECT_EQ(engine.claim(dependents).size(), 1u);
}

TEST(CanceledDependency, CancelsTheJobWhileTheWorkerStillRuns) {
    TestEngine engine;
    const Job first = engine.start(spec());
    const Job second = engine.submit(after({first.spec->id}));

    engine.cancel(first.spec->id);

    EXPECT_EQ(engine.find(second.spec->id).now.state, JobState::canceled);
}

// ── chains and diamonds ──

TEST(Chain, RunsInOrder) {
    TestEngine engine;
    const auto jobs = engine.submit_all({spec(), spec(), spec()}, {{1}, {2}, {}});

    for (const std::size_t i : {2u, 1u, 0u}) {
        const auto claimed = engine.claim({}, 10);
        ASSERT_EQ(ids_of(claimed), (std::vector{jobs[i].spec->id}));
        engine.report(claimed[0], Outcome::succeeded);
    }
}

TEST(Chain, IsCanceledDownTheLine) {
    TestEngine engine;
    const auto jobs = engine.submit_all({spec(), spec(), spec(), spec()}, {{}, {0}, {1}, {2}});

    engine.report(engine.claim_one(), Outcome::failed);

    for (const std::size_t i : {1u, 2u, 3u}) {
        const Job job = engine.find(jobs[i].spec->id);
        EXPECT_EQ(job.now.state, JobState::canceled);
        EXPECT_NE(job.now.error_message.find(to_text(jobs[i - 1].spec->id)), std::string::npos);
    }
}

TEST(Chain, GoesOnBehindAJobThatRunsAnyway) {
    TestEngine engine;
    const Job first = engine.start(spec());
    const Job second = engine.submit(after({first.spec->id}, OnDependencyFailure::run));
    const Job third = engine.submit(after({second.spec->id}));
    engine.report(first, Outcome::failed);

    engine.report(engine.claim_one(), Outcome::succeeded);

    EXPECT_EQ(engine.claim_one().spec->id, third.spec->id);
}

TEST(Chain, IsCanceledDownTheLineWhenItsHeadCameTooLate) {
    TestEngine engine;
    const Job failed = engine.start(spec());
    engine.report(failed, Outcome::failed);

    const auto jobs = engine.submit_all({after({failed.spec->id}), spec(), spec()}, {{}, {0}, {1}});

    for (const Job& job : jobs) {
        EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::canceled);
    }
    EXPECT_TRUE(engine.claim({}, 10).empty());
}

TEST(Diamond, RunsItsTipOnceAfterBothSides) {
    TestEngine engine;
    const auto jobs = engine.submit_all({spec(), spec(), spec(), spec()}, {{}, {0}, {0}, {1, 2}});
    engine.report(engine.claim_one(), Outcome::succeeded);
    const auto sides = engine.claim({}, 10);
    ASSERT_EQ(sides.size(), 2u);

    engine.report(sides[0], Outcome::succeeded);
    EXPECT_TRUE(engine.claim().empty());
    engine.report(sides[1], Outcome::succeeded);

    EXPECT_EQ(ids_of(engine.claim({}, 10)), (std::vector{jobs[3].spec->id}));
}

TEST(Diamond, RunsItsTipWhenBothSidesEndInOneBatch) {
    TestEngine engine;
    engine.submit_all({spec(), spec(), after({})}, {{}, {}, {0, 1}});
    const auto sides = engine.claim({}, 10);
    Batch batch;
    put(batch, report_of(sides.at(0), Outcome::succeeded));
    put(batch, report_of(sides.at(1), Outcome::succeeded));
    const auto claim = put(batch, engine.claim_command(dependents));

    engine.run(batch);

    EXPECT_EQ((***claim).size(), 1u);
}

TEST(Diamond, CancelsItsTipOnceWhenBothSidesFailInOneBatch) {
    TestEngine engine;
    const auto jobs = engine.submit_all({spec(), spec(), spec(), spec()}, {{}, {0}, {0}, {1, 2}});

    engine.report(engine.claim_one(), Outcome::failed);

    EXPECT_EQ(engine.steps(jobs[3].spec->id), (std::vector{Step::submitted, Step::canceled}));
}

}  // namespace dependencies_test
}  // namespace sluice
