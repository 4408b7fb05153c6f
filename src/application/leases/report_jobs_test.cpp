#include "application/leases/report_jobs.hpp"

#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace report_jobs_test {

using namespace std::chrono_literals;

JobSpec with_attempts(int attempts) {
    JobSpec made = spec();
    made.max_attempts = attempts;
    made.backoff = Backoff::list({10s});
    return made;
}

TEST(ReportSuccess, EndsTheJobWithItsResult) {
    TestEngine engine;
    const Job running = engine.start(spec());
    engine.advance(9s);
    Report report = report_of(running, Outcome::succeeded);
    report.result = R"({"url": "x"})";

    const auto job = engine.ask(report);

    ASSERT_TRUE(job);
    EXPECT_EQ(job->now.state, JobState::succeeded);
    EXPECT_EQ(job->now.result, R"({"url": "x"})");
    EXPECT_EQ(job->now.completed_at, at(9));
    EXPECT_EQ(job->now.started_at, at(0));
    EXPECT_EQ(job->lease, std::nullopt);
    EXPECT_EQ(engine.find(running.spec->id), *job);
    EXPECT_EQ(engine.steps(running.spec->id),
              (std::vector{Step::submitted, Step::claimed, Step::succeeded}));
}

TEST(ReportSuccess, CompletesProgressThatWasTold) {
    TestEngine engine;
    const Job quiet = engine.start(spec());
    const Job talking = engine.start(spec());
    engine.ask(Heartbeat{.lease = lease_of(talking), .progress = 30});

    EXPECT_EQ(engine.report(quiet, Outcome::succeeded)->now.progress, std::nullopt);
    EXPECT_EQ(engine.report(talking, Outcome::succeeded)->now.progress, 100);
}

TEST(ReportSuccess, FreesTheKeys) {
    TestEngine engine;
    JobSpec keyed = spec();
    keyed.exclusive_keys = {"k"};
    const Job first = engine.start(keyed);
    engine.submit(keyed);
    EXPECT_TRUE(engine.claim().empty());

    engine.report(first, Outcome::succeeded);

    EXPECT_EQ(engine.claim().size(), 1u);
}

TEST(ReportFailure, EndsTheJobWhenNoAttemptIsLeft) {
    TestEngine engine;
    const Job running = engine.start(spec());
    Report report = report_of(running, Outcome::failed, "E_DISK");
    report.error_message = "no \"space\" left";

    const auto job = engine.ask(report);

    ASSERT_TRUE(job);
    EXPECT_EQ(job->now.state, JobState::failed);
    EXPECT_EQ(job->now.error_code, "E_DISK");
    EXPECT_EQ(job->now.error_message, "no \"space\" left");
    EXPECT_EQ(engine.events(running.spec->id).back().detail,
              R"({"error_code":"E_DISK","error_message":"no \"space\" left"})");
}

TEST(ReportFailure, EndsTheJobWhenItIsNotRetryable) {
    TestEngine engine;
    const Job running = engine.start(with_attempts(3));
    Report report = report_of(running, Outcome::failed, "E_SYNTAX");
    report.retryable = false;

    EXPECT_EQ(engine.ask(report)->now.state, JobState::failed);
}

TEST(ReportFailure, QueuesTheJobAgainWhileAttemptsAreLeft) {
    TestEngine engine;
    const Job running = engine.start(with_attempts(2));
    engine.advance(5s);

    const auto job = engine.report(running, Outcome::failed, "E_DISK");

    ASSERT_TRUE(job);
    EXPECT_EQ(job->now.state, JobState::queued);
    EXPECT_EQ(job->now.attempt, 1);
    EXPECT_EQ(job->now.run_after, at(15));
    EXPECT_EQ(job->now.error_code, "E_DISK");
    EXPECT_EQ(job->now.started_at, std::nullopt);
    EXPECT_EQ(job->now.completed_at, std::nullopt);
    EXPECT_EQ(job->lease, std::nullopt);
    EXPECT_EQ(engine.find(running.spec->id), *job);
}

TEST(ReportFailure, WithoutAReasonIsRefusedWhereTheTypeWantsOne) {
    TestEngine engine;
    const Job running = engine.start(spec("env_deploy"));
    Report report = report_of(running, Outcome::failed);

    const auto silent = engine.ask(report);
    report.error_code = "E";
    const auto without_message = engine.ask(report);

    ASSERT_FALSE(silent);
    EXPECT_EQ(silent.error().code, ErrorCode::invalid);
    EXPECT_EQ(silent.error().pointer, "/error_code");
    ASSERT_FALSE(without_message);
    EXPECT_EQ(without_message.error().pointer, "/error_message");
    EXPECT_EQ(engine.find(running.spec->id), running);
    report.error_message = "why";
    EXPECT_TRUE(engine.ask(report)) << "the worker still has its lease";
}

TEST(ReportCanceled, EndsTheJobAsCanceledAndIsNotRetried) {
    TestEngine engine;
    const Job running = engine.start(with_attempts(3));

    const auto job = engine.report(running, Outcome::canceled);

    EXPECT_EQ(job->now.state, JobState::canceled);
    EXPECT_EQ(engine.events(running.spec->id).back().actor, "worker:worker");
}

TEST(ReportTimedOut, EndsTheJobWithItsCodeAndIsNotRetried) {
    TestEngine engine;
    const Job running = engine.start(with_attempts(3));

    const auto job = engine.report(running, Outcome::timed_out);

    EXPECT_EQ(job->now.state, JobState::timed_out);
    EXPECT_EQ(job->now.error_code, "JOB_TIMEOUT");
}

TEST(ReportTimedOut, KeepsTheWorkersOwnCode) {
    TestEngine engine;
    const Job running = engine.start(with_attempts(3));

    EXPECT_EQ(engine.report(running, Outcome::timed_out, "ANSIBLE_TIMEOUT")->now.error_code,
              "ANSIBLE_TIMEOUT");
}

TEST(ReportTimedOut, IsRetriedWhenTheTypeSaysSo) {
    TestEngine engine;
    JobSpec patient = with_attempts(2);
    patient.retry_on_timeout = true;
    const Job running = engine.start(patient);

    const auto job = engine.report(running, Outcome::timed_out);

    EXPECT_EQ(job->now.state, JobState::queued);
    EXPECT_EQ(job->now.error_code, "JOB_TIMEOUT");
}

// ── stale and repeated reports ──

TEST(StaleReport, IsRefusedAndChangesNothing) {
    TestEngine engine;
    const Job old = engine.start(with_attempts(3));
    engine.advance(TestEngine::term);
    const Job current = engine.claim_one();

    const auto answer = engine.report(old, Outcome::succeeded);

    EXPECT_EQ(refusal(answer), ErrorCode::lease_lost);
    EXPECT_EQ(engine.find(old.spec->id), current);
}

TEST(StaleReport, OfAnUnknownJobIsNotFound) {
    TestEngine engine;
    Report report;
    report.lease = {JobId{5}, LeaseToken{6}};

    EXPECT_EQ(refusal(engine.ask(report)), ErrorCode::not_found);
}

TEST(StaleReport, AfterAHandBackIsRefused) {
    TestEngine engine;
    const Job job = engine.start(spec());
    engine.hand_back(job);

    EXPECT_EQ(refusal(engine.report(job, Outcome::succeeded)), ErrorCode::lease_lost);
}

// The outcomes that end a job for good.
class RepeatedReport : public testing::TestWithParam<Outcome> {};

TEST_P(RepeatedReport, IsAnsweredLikeTheFirst) {
    TestEngine engine;
    const Job running = engine.start(spec());
    Report report = report_of(running, GetParam(), "E");
    report.error_message = "why";
    report.result = "{}";
    const auto first = engine.ask(report);
    engine.advance(1h);

    const auto second = engine.ask(report);

    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_EQ(*second, *first);
    EXPECT_EQ(engine.events(running.spec->id).size(), 3u);
}

TEST_P(RepeatedReport, WithAnotherOutcomeIsAConflict) {
    TestEngine engine;
    const Job running = engine.start(spec());
    engine.report(running, GetParam());
    for (const Outcome other :
         {Outcome::succeeded, Outcome::failed, Outcome::canceled, Outcome::timed_out}) {
        if (other == GetParam()) continue;

        EXPECT_EQ(refusal(engine.report(running, other)), ErrorCode::conflict);
    }
    EXPECT_EQ(engine.events(running.spec->id).size(), 3u);
}

TEST_P(RepeatedReport, WithAnotherErrorIsAConflict) {
    TestEngine engine;
    const Job running = engine.start(spec());
    engine.report(running, GetParam(), "E1");

    EXPECT_EQ(refusal(engine.report(running, GetParam(), "E2")), ErrorCode::conflict);
}

INSTANTIATE_TEST_SUITE_P(Outcomes, RepeatedReport,
                         testing::Values(Outcome::succeeded, Outcome::failed, Outcome::canceled,
                                         Outcome::timed_out));

TEST(RepeatedRetryReport, IsAnsweredLikeTheFirstWhileTheRetryWaits) {
    TestEngine engine;
    const Job running = engine.start(with_attempts(3));
    const auto first = engine.report(running, Outcome::failed, "E");

    const auto second = engine.report(running, Outcome::failed, "E");

    ASSERT_TRUE(second);
    EXPECT_EQ(*second, *first);
    EXPECT_EQ(engine.find(running.spec->id).now.attempt, 1);
}

TEST(RepeatedRetryReport, IsAnsweredLikeTheFirstInLaterAttempts) {
    TestEngine engine;
    const Job running = engine.start(with_attempts(3));
    const auto first = engine.report(running, Outcome::failed, "E");
    engine.advance(10s);
    const Job again = engine.claim_one();

    EXPECT_EQ(*engine.report(running, Outcome::failed, "E"), *first);

    engine.report(again, Outcome::succeeded);
    EXPECT_EQ(*engine.report(running, Outcome::failed, "E"), *first);
    EXPECT_EQ(engine.find(running.spec->id).now.state, JobState::succeeded);
}

TEST(RepeatedRetryReport, IsAnsweredLikeTheFirstAfterTheWorkerToldSomething) {
    TestEngine engine;
    const Job running = engine.start(with_attempts(3));
    engine.ask(Heartbeat{.lease = lease_of(running), .progress = 40, .message = "cloning"});
    engine.ask(AppendLogs{.lease = lease_of(running), .entries = {{.message = "a line"}}});
    const auto first = engine.report(running, Outcome::failed, "E");

    const auto second = engine.report(running, Outcome::failed, "E");

    ASSERT_TRUE(second);
    EXPECT_EQ(*second, *first);
}

TEST(RepeatedRetryReport, IsAnsweredLikeTheFirstToTheMicrosecond) {
    TestEngine engine;
    JobSpec jittered = with_attempts(3);
    jittered.backoff = Backoff::exponential(10s, 10s);
    const Job running = engine.start(jittered);
    const auto first = engine.report(running, Outcome::failed, "E");

    const auto second = engine.report(running, Outcome::failed, "E");

    EXPECT_EQ(to_rfc3339(second->now.run_after), to_rfc3339(first->now.run_after));
}

TEST(RepeatedRetryReport, WithAnotherOutcomeIsAConflict) {
    TestEngine engine;
    const Job running = engine.start(with_attempts(3));
    engine.report(running, Outcome::failed, "E");

    for (const Outcome other : {Outcome::succeeded, Outcome::canceled, Outcome::timed_out}) {
        EXPECT_EQ(refusal(engine.report(running, other, "E")), ErrorCode::conflict)
            << static_cast<int>(other);
    }
}

TEST(RepeatedRetryReport, WithAnotherErrorIsAConflict) {
    TestEngine engine;
    const Job running = engine.start(with_attempts(3));
    engine.report(running, Outcome::failed, "E1");

    EXPECT_EQ(refusal(engine.report(running, Outcome::failed, "E2")), ErrorCode::conflict);
}

TEST(RepeatedReportOfALongJob, IsAnsweredLikeTheFirst) {
    TestEngine engine;
    Job job = engine.start(spec());
    for (int i = 0; i < 5'001; ++i) {
        engine.hand_back(job);
        job = engine.claim_one();
    }
    const auto first = engine.report(job, Outcome::succeeded);

    const auto second = engine.report(job, Outcome::succeeded);

    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_EQ(*second, *first);
}

// Reports from before the operator's rules about secrets changed are stored as they were sent.
TEST(ReportWithSecrets, ThatWasStoredAsItWasSentIsKnownWhenItIsSentAgain) {
    TestEngine engine;
    JobSpec secretive = with_attempts(2);
    secretive.payload = R"({"token":"hunter22"})";
    const Job job = engine.start(secretive);
    Report failure = report_of(job, Outcome::failed);
    failure.error_message = "hunter22 was refused";
    Rules rules_before = Rules::built_in();
    rules_before.secrets = SecretMarks::none();
    Engine engine_before(engine.store(), Engine::Options{.rules = &rules_before});
    Batch batch;
    const auto first = put(batch, failure);
    engine_before.run(batch, engine.now());
    batch.deliver();

    const auto second = engine.ask(failure);

    ASSERT_TRUE(second);
    EXPECT_EQ(second->now.error_message, "hunter22 was refused");
    EXPECT_EQ(*second, *first->value());
    failure.error_message = "hunter23 was refused";
    EXPECT_EQ(refusal(engine.ask(failure)), ErrorCode::conflict);
}

// A secret of the payload in a report is hidden before the report is stored, and a report that is
// sent again is compared with the stored one.
TEST(ReportWithSecrets, IsStoredWithoutThemAndKnownWhenItIsSentAgain) {
    TestEngine engine;
    JobSpec secretive = with_attempts(2);
    secretive.payload = R"({"token":"hunter22"})";
    const Job first = engine.start(secretive);
    Report failure = report_of(first, Outcome::failed);
    failure.error_message = "hunter22 was refused";
    const auto retried = engine.ask(failure);
    ASSERT_TRUE(retried);
    EXPECT_EQ(retried->now.error_message, "*** was refused");
    EXPECT_EQ(retried->spec->payload, secretive.payload);
    EXPECT_EQ(*engine.ask(failure), *retried);

    engine.advance(10s);
    Report success = report_of(engine.claim().front(), Outcome::succeeded);
    success.result = R"({"used":"h\u0075nter22"})";
    const auto done = engine.ask(success);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->now.result, R"({"used":"***"})");
    EXPECT_EQ(*engine.ask(success), *done);
    success.result = R"({"used":"another"})";
    EXPECT_EQ(engine.ask(success).error().code, ErrorCode::conflict);
}

}  // namespace report_jobs_test
}  // namespace sluice
