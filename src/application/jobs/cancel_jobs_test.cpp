#include "application/jobs/cancel_jobs.hpp"

#include <gtest/gtest.h>

#include "application/toolkit/names.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace cancel_jobs_test {

using namespace std::chrono_literals;

JobSpec keyed() {
    JobSpec made = spec();
    made.exclusive_keys = {"k"};
    made.max_attempts = 3;
    return made;
}

TEST(CancelJob, EndsAQueuedJobAtOnce) {
    TestEngine engine;
    const Job queued = engine.submit(spec());
    engine.advance(3s);

    const auto job = engine.cancel(queued.spec->id, "not needed");

    ASSERT_TRUE(job);
    EXPECT_EQ(job->now.state, JobState::canceled);
    EXPECT_EQ(job->now.completed_at, at(3));
    EXPECT_EQ(job->now.error_message, "not needed");
    EXPECT_EQ(engine.find(queued.spec->id), *job);
    EXPECT_TRUE(engine.claim().empty());
}

TEST(CancelJob, RecordsWhoAndWhy) {
    TestEngine engine;
    const Job queued = engine.submit(spec());

    engine.cancel(queued.spec->id, "say \"why\"");

    const Event event = engine.events(queued.spec->id).back();
    EXPECT_EQ(event.step, Step::canceled);
    EXPECT_EQ(event.actor, "client");
    EXPECT_EQ(event.detail, R"({"reason":"say \"why\""})");
}

TEST(CancelJob, EndsJobsThatWaitForAnything) {
    TestEngine engine;
    JobSpec later = spec();
    later.run_after = at(1000);
    const Job timed = engine.submit(later);
    const Job holder = engine.start(keyed());
    const Job parked = engine.submit(keyed());
    JobSpec after = spec();
    after.depends_on = {holder.spec->id};
    const Job blocked = engine.submit(after);

    for (const Job& job : {timed, parked, blocked}) {
        EXPECT_EQ(engine.cancel(job.spec->id)->now.state, JobState::canceled);
    }

    engine.report(holder, Outcome::succeeded);
    engine.advance(2000s);
    EXPECT_TRUE(engine.claim({}, 10).empty());
}

TEST(CancelJob, EndsARunningJobAtOnceAndKeepsItsLease) {
    TestEngine engine;
    const Job running = engine.start(keyed());

    const auto job = engine.cancel(running.spec->id);

    EXPECT_EQ(job->now.state, JobState::canceled);
    EXPECT_EQ(job->now.completed_at, at(0));
    ASSERT_TRUE(job->lease);
    EXPECT_TRUE(job->lease->stop_requested);
    EXPECT_EQ(job->lease->token, running.lease->token);
}

TEST(CancelJob, KeepsTheKeysUntilTheWorkerHasStopped) {
    TestEngine engine;
    const Job running = engine.start(keyed());
    engine.submit(keyed());
    engine.cancel(running.spec->id);
    for (int i = 0; i < 10; ++i) {
        engine.advance(20s);
        ASSERT_TRUE(engine.heartbeat(running)->stop_requested);
        ASSERT_TRUE(engine.claim().empty());
    }

    EXPECT_TRUE(engine.report(running, Outcome::canceled));

    EXPECT_EQ(engine.claim().size(), 1u);
    EXPECT_EQ(engine.steps(running.spec->id).back(), Step::lease_closed);
}

TEST(CancelJob, KeepsTheKeysUntilTheLeaseOfASilentWorkerEnds) {
    TestEngine engine;
    const Job running = engine.start(keyed());
    engine.submit(keyed());
    engine.cancel(running.spec->id);

    engine.advance(TestEngine::term - 1us);
    EXPECT_TRUE(engine.claim().empty());

    engine.advance(1us);
    EXPECT_EQ(engine.claim().size(), 1u);
}

TEST(CancelJob, KeepsTheKeysUntilTheWorkerHandsBack) {
    TestEngine engine;
    const Job running = engine.start(keyed());
    engine.submit(keyed());
    engine.cancel(running.spec->id);

    EXPECT_EQ(engine.hand_back(running)->now.state, JobState::canceled);

    EXPECT_EQ(engine.claim().size(), 1u);
    EXPECT_EQ(engine.find(running.spec->id).now.attempt, 1);
}

TEST(CancelJob, RefusesALaterSuccessAndKeepsTheJobCanceled) {
    TestEngine engine;
    const Job running = engine.start(keyed());
    engine.cancel(running.spec->id);
    Report report = report_of(running, Outcome::succeeded);
    report.result = "{}";

    const auto answer = engine.ask(report);

    EXPECT_EQ(refusal(answer), ErrorCode::conflict);
    const Job job = engine.find(running.spec->id);
    EXPECT_EQ(job.now.state, JobState::canceled);
    EXPECT_EQ(job.now.result, "");
    EXPECT_EQ(job.lease, std::nullopt);
    EXPECT_EQ(engine.events(job.spec->id).back().detail, R"({"reported":"succeeded"})");
}

TEST(CancelJob, AnswersARepeatedWordOfTheWorkerLikeTheFirst) {
    for (const Outcome outcome : {Outcome::canceled, Outcome::succeeded, Outcome::failed}) {
        TestEngine engine;
        const Job running = engine.start(keyed());
        engine.cancel(running.spec->id);
        const auto first = engine.report(running, outcome);

        const auto second = engine.report(running, outcome);

        EXPECT_EQ(refusal(second), refusal(first)) << static_cast<int>(outcome);
        EXPECT_EQ(engine.events(running.spec->id).size(), 4u);
    }
}

TEST(CancelJob, RefusesAnotherWordOfTheWorkerThanTheFirst) {
    TestEngine engine;
    const Job running = engine.start(keyed());
    engine.cancel(running.spec->id);
    engine.report(running, Outcome::succeeded);

    const auto other = engine.report(running, Outcome::canceled);

    EXPECT_EQ(refusal(other), ErrorCode::conflict);
}

TEST(CancelJob, AnswersTheSameWhenItIsRepeated) {
    TestEngine engine;
    const Job queued = engine.submit(spec());
    const auto first = engine.cancel(queued.spec->id, "first");
    engine.advance(5s);

    const auto second = engine.cancel(queued.spec->id, "second");

    ASSERT_TRUE(second);
    EXPECT_EQ(*second, *first);
    EXPECT_EQ(engine.events(queued.spec->id).size(), 2u);
}

TEST(CancelJob, RefusesAJobThatHasEndedOtherwise) {
    for (const Outcome outcome : {Outcome::succeeded, Outcome::failed, Outcome::timed_out}) {
        TestEngine engine;
        const Job running = engine.start(spec());
        const auto ended = engine.report(running, outcome);

        const auto answer = engine.cancel(running.spec->id);

        EXPECT_EQ(refusal(answer), ErrorCode::conflict);
        EXPECT_EQ(engine.find(running.spec->id), *ended);
    }
}

TEST(CancelJob, FindsNothingInAnotherTenant) {
    TestEngine engine;
    const Job queued = engine.submit(spec());

    const auto stranger = engine.ask(CancelJob{.job = queued.spec->id, .tenant = "other"});
    const auto unknown = engine.ask(CancelJob{.job = JobId{5}});
    const auto owner = engine.ask(CancelJob{.job = queued.spec->id, .tenant = "default"});

    EXPECT_EQ(refusal(stranger), ErrorCode::not_found);
    EXPECT_EQ(refusal(unknown), ErrorCode::not_found);
    EXPECT_EQ(unknown.error().message, "there is no job " + to_text(JobId{5}) +
                                           ": the id is wrong, or retention has removed the job");
    EXPECT_EQ(stranger.error().message, no_such_job(queued.spec->id).message);
    EXPECT_TRUE(owner);
}

TEST(CancelJob, IsForAdminsWhereTheTypeSaysSo) {
    TestEngine engine;
    const Job queued = engine.submit(spec("health_check"));

    const auto refused = engine.ask(CancelJob{.job = queued.spec->id, .is_admin = false});
    const auto allowed = engine.ask(CancelJob{.job = queued.spec->id, .is_admin = true});
    const auto repeated = engine.ask(CancelJob{.job = queued.spec->id, .is_admin = true});

    EXPECT_EQ(refusal(refused), ErrorCode::forbidden);
    EXPECT_EQ(allowed->now.state, JobState::canceled);
    EXPECT_EQ(*repeated, *allowed);
}

TEST(CancelJob, SaysThatAnEndedJobOfSuchATypeIsNotCancellable) {
    TestEngine engine;
    const Job running = engine.start(spec("health_check"));
    engine.report(running, Outcome::succeeded);

    const auto answer = engine.ask(CancelJob{.job = running.spec->id, .is_admin = true});

    EXPECT_EQ(refusal(answer), ErrorCode::job_not_cancellable);
}

TEST(CancelJob, OfARetryThatWaitsEndsItForGood) {
    TestEngine engine;
    JobSpec patient = keyed();
    patient.backoff = Backoff::list({1min});
    const Job running = engine.start(patient);
    engine.report(running, Outcome::failed, "E");

    const auto job = engine.cancel(running.spec->id);

    EXPECT_EQ(job->now.state, JobState::canceled);
    EXPECT_EQ(job->lease, std::nullopt);
    engine.advance(1h);
    EXPECT_TRUE(engine.claim().empty());
}

// Each cancel is decided as if it had come in a batch of its own.
TEST(CancelJob, OfSeveralInOneBatchAreDecidedInTheirOrder) {
    TestEngine engine;
    const auto submit_pair = [&] {
        JobSpec second = spec();
        second.depends_on = {engine.submit(spec()).spec->id};
        return engine.submit(second);
    };
    const Job after_its_dependency = submit_pair();
    const Job before_its_dependency = submit_pair();
    const Job twice = engine.submit(spec());
    const Job other = engine.submit(spec());
    Batch batch;
    const auto cancel = [&](JobId id) {
        return put(batch, CancelJob{.job = id, .reason = "by a client"});
    };
    cancel(after_its_dependency.spec->depends_on.front());
    const auto came_second = cancel(after_its_dependency.spec->id);
    const auto came_first = cancel(before_its_dependency.spec->id);
    cancel(before_its_dependency.spec->depends_on.front());
    cancel(twice.spec->id);
    const auto repeated = cancel(twice.spec->id);
    const auto last = cancel(other.spec->id);
    engine.run(batch);

    EXPECT_EQ(came_second->value()->now.error_code, dependency_failed_code);
    EXPECT_EQ(came_first->value()->now.error_message, "by a client");
    EXPECT_EQ(*repeated->value(), engine.find(twice.spec->id));
    EXPECT_EQ(*last->value(), engine.find(other.spec->id));
    EXPECT_EQ(engine.events(twice.spec->id).size(), 2u);
    EXPECT_TRUE(engine.claim({}, 9).empty());
}

}  // namespace cancel_jobs_test
}  // namespace sluice
