// Seed 002: the states of a job, the steps between them, and when its times are set.
#include "conformance/jobs.hpp"

namespace sluice::e2e {
namespace jobs_states_test {

class JobsStates : public JobsTest {};

TEST_F(JobsStates, StatesArePendingRunningSuccessFailedCancelled) {
    const std::string running = jobs.create_id();
    jobs.claim();
    const std::string success = jobs.succeeded();
    const std::string failed = jobs.failed();
    const std::string cancelled = jobs.cancelled();
    const std::string pending = jobs.create_id();

    EXPECT_EQ(jobs.state(pending), "pending");
    EXPECT_EQ(jobs.state(running), "running");
    EXPECT_EQ(jobs.state(success), "success");
    EXPECT_EQ(jobs.state(failed), "failed");
    EXPECT_EQ(jobs.state(cancelled), "cancelled");
}

TEST_F(JobsStates, EndsInExactlyOneOfThreeTrays) {
    for (int round = 0; round < 10; ++round) {
        const std::string id = jobs.create_id();
        const Json lease = jobs.claim();
        std::vector<Response> answers(3);

        in_parallel(3, [&](int i) {
            JobsApi mine(engine.port());
            if (i == 0) answers[0] = mine.worker.succeed(lease);
            if (i == 1) answers[1] = mine.worker.fail(lease);
            if (i == 2) answers[2] = mine.cancel(id);
        });

        const std::vector<std::string> trays{"success", "failed", "cancelled"};
        const std::string state = jobs.state(id);
        int endings = 0;
        for (std::size_t i = 0; i < trays.size(); ++i) {
            EXPECT_EQ(answers[i].status, state == trays[i] ? 200 : 409) << answers[i].body;
            endings += answers[i].status == 200 ? 1 : 0;
        }
        EXPECT_EQ(endings, 1);
    }
}

TEST_F(JobsStates, NeverGoesBackIntoTheBin) {
    const std::string failed = jobs.create_id();
    expect_ok(jobs.worker.report(jobs.claim(), {{"outcome", "failed"}, {"retryable", true}}));
    const std::string lost = jobs.create_id();
    jobs.claim({{"lease_ms", 100}});

    ASSERT_TRUE(jobs.reaches(lost, "failed"));

    for (const std::string& id : {failed, lost}) {
        EXPECT_EQ(jobs.state(id), "failed");
        int times_queued = 0;
        for (const Json& event : jobs.worker.events(id)) {
            times_queued += text(event, "to") == "queued" ? 1 : 0;
        }
        EXPECT_EQ(times_queued, 1) << "only when it was made";
    }
    EXPECT_EQ(text(at(jobs.job(lost), "error"), "code"), "LEASE_EXPIRED");
    EXPECT_TRUE(jobs.nothing_to_claim());
}

class JobsTransitions : public JobsTest {};

TEST_F(JobsTransitions, PostLeadsToPendingWithCreatedAtSet) {
    const Response response = jobs.try_create({{"input", Fields{{"ref", "main"}}}});

    const Json job = expect_ok(response, 202);
    EXPECT_EQ(response.header("Location"), "/api/jobs/" + text(job, "id"));
    EXPECT_EQ(text(job, "action"), jobs.action);
    EXPECT_EQ(text(job, "state"), "pending");
    EXPECT_FALSE(text(job, "createdAt").empty());
    EXPECT_TRUE(is_null(job, "startedAt"));
    EXPECT_TRUE(is_null(job, "completedAt"));
    EXPECT_EQ(jobs.state(text(job, "id")), "pending");
}

TEST_F(JobsTransitions, PendingToRunningWhenAWorkerPicksItUpWithStartedAtSet) {
    const std::string id = jobs.create_id();

    jobs.claim({{"worker_id", "courier"}});

    const Json job = jobs.job(id);
    EXPECT_EQ(text(job, "state"), "running");
    EXPECT_EQ(text(job, "worker"), "courier");
    EXPECT_FALSE(text(job, "startedAt").empty());
    EXPECT_TRUE(is_null(job, "completedAt"));
}

TEST_F(JobsTransitions, PendingToCancelledByACancelBeforeStart) {
    const std::string id = jobs.create_id();

    const Json answer = expect_ok(jobs.cancel(id, {{"reason", "not needed"}}));

    EXPECT_EQ(text(answer, "state"), "cancelled");
    EXPECT_EQ(text(answer, "reason"), "not needed");
    EXPECT_TRUE(is_null(answer, "startedAt"));
    EXPECT_FALSE(text(answer, "completedAt").empty());
}

TEST_F(JobsTransitions, RunningToSuccessWithTheOutputProducedAndCompletedAtSet) {
    const Fields output{{"runUrl", "https://example.test/runs/7"}};

    const std::string id = jobs.run_to_end({{"outcome", "succeeded"}, {"result", output}});

    const Json job = jobs.job(id);
    EXPECT_EQ(text(job, "state"), "success");
    EXPECT_EQ(at(job, "output"), Json(output));
    EXPECT_TRUE(is_null(job, "error"));
    EXPECT_FALSE(text(job, "completedAt").empty());
}

TEST_F(JobsTransitions, RunningToFailedWithTheErrorCapturedAndCompletedAtSet) {
    const std::string id = jobs.run_to_end(
        {{"outcome", "failed"}, {"error_code", "HTTP_500"}, {"error_message", "try later"}});

    const Json job = jobs.job(id);
    EXPECT_EQ(text(job, "state"), "failed");
    EXPECT_EQ(at(job, "error"), Json(Fields{{"code", "HTTP_500"}, {"message", "try later"}}));
    EXPECT_TRUE(is_null(job, "output"));
    EXPECT_FALSE(text(job, "completedAt").empty());
}

TEST_F(JobsTransitions, RunningToFailedWhenTheDeadlineComes) {
    const std::string id = jobs.create_id({{"timeoutMs", 50}});
    jobs.claim();

    ASSERT_TRUE(jobs.reaches(id, "failed"));

    const Json job = jobs.job(id);
    EXPECT_EQ(text(job, "status"), "timed_out");
    EXPECT_EQ(text(at(job, "error"), "code"), "JOB_TIMEOUT");
    EXPECT_FALSE(text(job, "completedAt").empty());
}

TEST_F(JobsTransitions, RunningToCancelledWhenTheUserCancelsWithCompletedAtSet) {
    const std::string id = jobs.create_id();
    jobs.claim();

    const Json answer = expect_ok(jobs.cancel(id));

    EXPECT_EQ(text(answer, "state"), "cancelled");
    EXPECT_FALSE(text(answer, "startedAt").empty());
    EXPECT_FALSE(text(answer, "completedAt").empty());
}

TEST_F(JobsTransitions, PendingHasNoWayToSuccessOrFailedButThroughRunning) {
    const std::string id = jobs.create_id();
    const Json forged = Fields{{"lease_id", id + "-0000000000000001"}};

    expect_refused(jobs.worker.succeed(forged), 409, "lease_lost");
    expect_refused(jobs.worker.fail(forged), 409, "lease_lost");

    EXPECT_EQ(jobs.state(id), "pending");
}

class JobsTimestamps : public JobsTest {};

TEST_F(JobsTimestamps, CreatedAtIsSetAlways) {
    const std::string running = jobs.create_id();
    jobs.claim();
    for (const std::string& id :
         {running, jobs.succeeded(), jobs.failed(), jobs.cancelled(), jobs.create_id()}) {
        EXPECT_FALSE(text(jobs.job(id), "createdAt").empty()) << jobs.state(id);
    }
}

TEST_F(JobsTimestamps, StartedAtIsSetOnEntryToRunningAndKept) {
    for (const char* outcome : {"succeeded", "failed", "canceled", "timed_out"}) {
        const std::string id = jobs.create_id();
        EXPECT_TRUE(is_null(jobs.job(id), "startedAt"));
        const Json lease = jobs.claim();
        const std::string started = text(jobs.job(id), "startedAt");
        EXPECT_FALSE(started.empty());

        expect_ok(jobs.worker.report(lease, {{"outcome", outcome}}));

        EXPECT_EQ(text(jobs.job(id), "startedAt"), started) << outcome;
    }
}

TEST_F(JobsTimestamps, StartedAtIsKeptWhenARunningJobIsCancelledAndItsWorkerStops) {
    const std::string id = jobs.create_id();
    const Json lease = jobs.claim();
    const std::string started = text(jobs.job(id), "startedAt");

    expect_ok(jobs.cancel(id));
    EXPECT_EQ(text(jobs.job(id), "startedAt"), started);
    expect_ok(jobs.worker.report(lease, {{"outcome", "canceled"}}));

    EXPECT_EQ(text(jobs.job(id), "startedAt"), started);
}

TEST_F(JobsTimestamps, CompletedAtIsSetOnEntryToAnyTerminalStateAndNotBefore) {
    const std::string pending = jobs.create_id();
    EXPECT_TRUE(is_null(jobs.job(pending), "completedAt"));
    jobs.claim();
    EXPECT_TRUE(is_null(jobs.job(pending), "completedAt"));

    for (const std::string& id : {jobs.succeeded(), jobs.failed(), jobs.cancelled()}) {
        const Json job = jobs.job(id);
        EXPECT_FALSE(text(job, "completedAt").empty()) << text(job, "state");
        EXPECT_LE(text(job, "createdAt"), text(job, "completedAt"));
        EXPECT_LE(text(job, "startedAt"), text(job, "completedAt"));
    }
}

TEST_F(JobsTimestamps, CompletedAtIsSetOnCancelled) {
    const std::string before_start = jobs.cancelled();
    const std::string running = jobs.create_id();
    jobs.claim();
    expect_ok(jobs.cancel(running));

    EXPECT_FALSE(text(jobs.job(before_start), "completedAt").empty());
    EXPECT_FALSE(text(jobs.job(running), "completedAt").empty());
}

}  // namespace jobs_states_test
}  // namespace sluice::e2e
