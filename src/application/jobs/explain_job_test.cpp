#include "application/jobs/explain_job.hpp"

#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace explain_job_test {

using namespace std::chrono_literals;

std::vector<std::string> codes(const Explanation& explanation) {
    std::vector<std::string> found;
    for (const Reason& reason : explanation.reasons) found.push_back(reason.code);
    return found;
}

using Codes = std::vector<std::string>;

JobSpec with_key() {
    JobSpec made = spec();
    made.exclusive_keys = {"k"};
    return made;
}

// Lets a worker wait for jobs of a type that these tests do not submit otherwise.
void let_worker_wait(TestEngine& engine, ClaimFilter filter = {}) {
    engine.wait(1h, std::move(filter));
}

TEST(Explain, SaysThatNobodyAsksForSuchJobs) {
    TestEngine engine;
    JobSpec demanding = spec("build");
    demanding.queue = "ci";
    demanding.labels = {"gpu", "linux"};
    const Job job = engine.submit(demanding);
    let_worker_wait(engine);

    const Explanation told = engine.explain(job.spec->id);

    EXPECT_EQ(told.state, JobState::queued);
    ASSERT_EQ(codes(told), (Codes{"no_worker"}));
    EXPECT_EQ(told.reasons[0].detail,
              "no worker asked for queue ci, type build, labels gpu,linux in the last 2 minutes");
}

TEST(Explain, SaysThatTheWorkersAreBusy) {
    TestEngine engine;
    engine.start(spec());
    const Job job = engine.submit(spec());

    const Explanation told = engine.explain(job.spec->id);

    ASSERT_EQ(codes(told), (Codes{"workers_busy"}));
    EXPECT_EQ(told.reasons[0].blocker_kind, "worker");
    EXPECT_EQ(told.reasons[0].blocker, "worker");
}

TEST(Explain, ForgetsAWorkerThatHasNotAskedForTwoMinutes) {
    TestEngine engine;
    engine.claim();
    const Job job = engine.submit(spec());
    EXPECT_EQ(codes(engine.explain(job.spec->id)), (Codes{"workers_busy"}));

    engine.advance(2min);

    EXPECT_EQ(codes(engine.explain(job.spec->id)), (Codes{"no_worker"}));
}

TEST(Explain, NamesTheTimeThatTheJobWaitsFor) {
    TestEngine engine;
    JobSpec later = spec();
    later.run_after = at(60);
    const Job job = engine.submit(later);
    let_worker_wait(engine);

    const Explanation told = engine.explain(job.spec->id);

    ASSERT_EQ(codes(told), (Codes{"not_due"}));
    EXPECT_EQ(told.reasons[0].until, at(60));
    EXPECT_NE(told.reasons[0].detail.find("2026-01-01T00:01:00.000Z"), std::string::npos);
}

TEST(Explain, NamesTheBackoffThatARetryWaitsFor) {
    TestEngine engine;
    JobSpec patient = spec();
    patient.max_attempts = 3;
    patient.backoff = Backoff::list({60s});
    const Job running = engine.start(patient);
    engine.report(running, Outcome::failed, "E_DISK");
    let_worker_wait(engine);

    const Explanation told = engine.explain(running.spec->id);

    ASSERT_EQ(codes(told), (Codes{"retry_backoff"}));
    EXPECT_EQ(told.reasons[0].until, at(60));
    EXPECT_EQ(
        told.reasons[0].detail,
        "attempt 1 of 3 ended with E_DISK; the next one may start at 2026-01-01T00:01:00.000Z");
}

TEST(Explain, NamesEachDependencyThatHasNotEnded) {
    TestEngine engine;
    const Job done = engine.start(spec());
    engine.report(done, Outcome::succeeded);
    const Job running = engine.start(spec("clone"));
    JobSpec later = spec("build");
    later.run_after = at(1000);
    const Job queued = engine.submit(later);
    JobSpec after = spec();
    after.depends_on = {done.spec->id, running.spec->id, queued.spec->id};
    const Job job = engine.submit(after);
    let_worker_wait(engine);

    const Explanation told = engine.explain(job.spec->id);

    ASSERT_EQ(codes(told), (Codes{"dependency", "dependency"}));
    EXPECT_EQ(told.reasons[0].blocker_kind, "job");
    EXPECT_EQ(told.reasons[0].blocker, to_text(running.spec->id));
    EXPECT_NE(told.reasons[0].detail.find("(clone), which is running"), std::string::npos);
    EXPECT_EQ(told.reasons[1].blocker, to_text(queued.spec->id));
}

TEST(Explain, NamesTheHolderOfAKey) {
    TestEngine engine;
    const Job holder = engine.start(with_key());
    const Job job = engine.submit(with_key());
    let_worker_wait(engine);

    const Explanation told = engine.explain(job.spec->id);

    ASSERT_EQ(codes(told), (Codes{"exclusive_key"}));
    EXPECT_EQ(told.reasons[0].blocker, to_text(holder.spec->id));
    EXPECT_EQ(told.reasons[0].until, at(30));
    EXPECT_EQ(told.reasons[0].detail,
              "key=k is held by job " + to_text(holder.spec->id) + " (work) on worker worker");
}

TEST(Explain, NamesTheHolderOfAKeyThatHasEndedButNotStopped) {
    TestEngine engine;
    const Job holder = engine.start(with_key());
    const Job job = engine.submit(with_key());
    engine.cancel(holder.spec->id);

    const Explanation told = engine.explain(job.spec->id);

    ASSERT_EQ(codes(told).at(0), "exclusive_key");
    EXPECT_NE(told.reasons[0].detail.find("which was canceled, until its worker worker stops"),
              std::string::npos);
}

TEST(Explain, NamesEveryReasonAtOnce) {
    TestEngine engine;
    const Job holder = engine.start(with_key());
    JobSpec unlucky = with_key();
    unlucky.run_after = at(10);
    unlucky.depends_on = {holder.spec->id};
    unlucky.labels = {"gpu"};
    const Job job = engine.submit(unlucky);

    EXPECT_EQ(codes(engine.explain(job.spec->id)),
              (Codes{"not_due", "dependency", "exclusive_key", "no_worker"}));
}

TEST(Explain, SaysThatNothingKeepsTheJob) {
    TestEngine engine;
    engine.wait(1h, {.types = {"other"}}, 1, "worker");
    engine.claim();
    const Job job = engine.submit(spec());

    EXPECT_EQ(codes(engine.explain(job.spec->id)), (Codes{"ready"}));
}

TEST(Explain, SaysWhoRunsIt) {
    TestEngine engine;
    const Job running = engine.start(spec());

    const Explanation told = engine.explain(running.spec->id);

    EXPECT_EQ(told.state, JobState::running);
    ASSERT_EQ(codes(told), (Codes{"running"}));
    EXPECT_EQ(told.reasons[0].blocker, "worker");
    EXPECT_EQ(told.reasons[0].until, at(30));
    EXPECT_EQ(told.reasons[0].detail,
              "attempt 1 of 1 runs on worker worker since 2026-01-01T00:00:00.000Z");
}

TEST(Explain, SaysThatAnAttemptIsAskedToStop) {
    TestEngine engine;
    JobSpec repeated = spec();
    repeated.timeout = 10s;
    repeated.max_attempts = 2;
    repeated.retry_on_timeout = true;
    const Job running = engine.start(repeated);
    engine.advance(10s);

    EXPECT_EQ(codes(engine.explain(running.spec->id)), (Codes{"running", "stopping"}));
}

TEST(Explain, SaysHowItEnded) {
    TestEngine engine;
    const Job good = engine.start(spec());
    const Job bad = engine.start(spec());
    const Job late = engine.start(spec());
    engine.report(good, Outcome::succeeded);
    Report report = report_of(bad, Outcome::failed, "E");
    report.error_message = "why";
    engine.ask(report);
    engine.report(late, Outcome::timed_out);

    EXPECT_EQ(engine.explain(good.spec->id).reasons.at(0).detail,
              "it succeeded at 2026-01-01T00:00:00.000Z in attempt 1 of 1");
    EXPECT_EQ(engine.explain(bad.spec->id).reasons.at(0).detail,
              "it failed at 2026-01-01T00:00:00.000Z in attempt 1 of 1 with E: why");
    EXPECT_EQ(engine.explain(late.spec->id).reasons.at(0).detail,
              "it timed out at 2026-01-01T00:00:00.000Z in attempt 1 of 1 with JOB_TIMEOUT");
    EXPECT_EQ(codes(engine.explain(good.spec->id)), (Codes{"succeeded"}));
    EXPECT_EQ(codes(engine.explain(late.spec->id)), (Codes{"timed_out"}));
}

TEST(Explain, SaysThatTheWorkerOfAnEndedJobHasNotStopped) {
    TestEngine engine;
    const Job running = engine.start(spec());
    engine.cancel(running.spec->id);

    const Explanation told = engine.explain(running.spec->id);

    ASSERT_EQ(codes(told), (Codes{"canceled", "worker_stopping"}));
    EXPECT_EQ(told.reasons[1].blocker, "worker");
    EXPECT_EQ(told.reasons[1].until, at(30));
}

TEST(Explain, FindsNothingInAnotherTenant) {
    TestEngine engine;
    const Job job = engine.submit(spec());

    EXPECT_EQ(refusal(engine.ask(ExplainJob{.job = job.spec->id, .tenant = "other"})),
              ErrorCode::not_found);
    EXPECT_EQ(refusal(engine.ask(ExplainJob{.job = JobId{5}})), ErrorCode::not_found);
    EXPECT_TRUE(engine.ask(ExplainJob{.job = job.spec->id, .tenant = "default"}));
}

}  // namespace explain_job_test
}  // namespace sluice
