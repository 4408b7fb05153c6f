// Seed 002: terminal states, the two sources of cancellation, and the document's questions.
#include "conformance/jobs.hpp"

namespace sluice::e2e {
namespace jobs_terminal_test {

class JobsTerminal : public JobsTest {};

// Every request that can be made about a job that has ended; refused or not, it changes nothing.
void say_everything(JobsApi& jobs, const std::string& id, const Json& lease) {
    jobs.worker.heartbeat(lease, {{"progress", 7}});
    for (const char* outcome : {"succeeded", "failed", "canceled", "timed_out"}) {
        jobs.worker.report(lease, {{"outcome", outcome}, {"result", "late"}});
    }
    jobs.worker.release(lease);
    jobs.cancel(id, {{"reason", "late"}});
}

TEST_F(JobsTerminal, StatesAreAbsorbing) {
    for (const std::string state : {"success", "failed", "cancelled"}) {
        const std::string id = jobs.create_id();
        const Json lease = jobs.claim();
        if (state == "success") expect_ok(jobs.worker.succeed(lease));
        if (state == "failed") expect_ok(jobs.worker.fail(lease));
        if (state == "cancelled") expect_ok(jobs.cancel(id, {{"reason", "first"}}));
        const Json before = jobs.job(id);

        say_everything(jobs, id, lease);

        const Json after = jobs.job(id);
        EXPECT_EQ(text(after, "state"), state);
        for (const char* member : {"state", "status", "output", "error", "reason", "attempt",
                                   "attempts", "createdAt", "startedAt", "completedAt"}) {
            EXPECT_EQ(at(after, member), at(before, member)) << state << ' ' << member;
        }
        EXPECT_TRUE(jobs.nothing_to_claim());
    }
}

TEST_F(JobsTerminal, ACancelOfAJobThatEndedOtherwiseIsAConflict) {
    expect_refused(jobs.cancel(jobs.succeeded()), 409, "conflict");
    expect_refused(jobs.cancel(jobs.failed()), 409, "conflict");
}

TEST_F(JobsTerminal, ARepeatedCancelAnswersTheSame) {
    const std::string id = jobs.create_id();
    const Response first = jobs.cancel(id, {{"reason", "a"}});

    const Response again = jobs.cancel(id, {{"reason", "b"}});

    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.body, first.body);
}

TEST_F(JobsTerminal, LogsAreImmutableAndAppendOnly) {
    const std::string id = jobs.create_id();
    const Json lease = jobs.claim();
    expect_ok(jobs.worker.log(lease, {log_entry("one"), log_entry("two")}));
    const List before = jobs.logs(id);

    for (const char* verb : {"PUT", "PATCH", "DELETE", "POST"}) {
        const Response response = jobs.worker.http.request(verb, "/api/jobs/" + id + "/logs", "");
        EXPECT_EQ(response.status, 405) << verb;
    }
    expect_ok(jobs.worker.log(lease, {log_entry("three")}));

    const List after = jobs.logs(id);
    ASSERT_EQ(after.size(), 3u);
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], before[i]);
    for (std::size_t i = 0; i < after.size(); ++i) {
        EXPECT_EQ(number(after[i], "seq"), static_cast<std::int64_t>(i + 1));
    }
}

TEST_F(JobsTerminal, LogsPersistThroughAndBeyondTerminalEntry) {
    const std::string id = jobs.create_id();
    const Json lease = jobs.claim();
    expect_ok(jobs.worker.log(lease, {log_entry("at work")}));

    expect_ok(jobs.cancel(id));
    expect_ok(jobs.worker.log(lease, {log_entry("stopping")}));
    expect_ok(jobs.worker.report(lease, {{"outcome", "canceled"}}));

    const List logs = jobs.logs(id);
    ASSERT_EQ(logs.size(), 2u);
    EXPECT_EQ(text(logs[0], "message"), "at work");
    EXPECT_EQ(text(logs[1], "message"), "stopping");
    expect_refused(jobs.worker.log(lease, {log_entry("after all")}), 409, "lease_lost");
    EXPECT_EQ(jobs.logs(id), logs);
}

TEST(JobsAfterACrash, KeepTheirStatesAndTheirLogs) {
    const TempFolder folder;
    const std::string store = "sqlite:" + (folder.path() / "db").string();
    auto engine = std::make_unique<Engine>(store);
    auto jobs = std::make_unique<JobsApi>(engine->port());
    const std::string id = jobs->create_id();
    const Json lease = jobs->claim();
    expect_ok(jobs->worker.log(lease, {log_entry("kept")}));
    expect_ok(jobs->worker.succeed(lease));
    const Response job = jobs->get("/" + id);
    const Response logs = jobs->get("/" + id + "/logs");

    engine->kill();
    engine = std::make_unique<Engine>(store);
    jobs = std::make_unique<JobsApi>(engine->port());

    EXPECT_EQ(jobs->get("/" + id).body, job.body);
    EXPECT_EQ(jobs->get("/" + id + "/logs").body, logs.body);
}

class JobsCancellation : public JobsTest {};

TEST_F(JobsCancellation, OfAPendingJobComesBeforeAnyWorkerTouchesIt) {
    const std::string id = jobs.create_id();

    expect_ok(jobs.cancel(id));

    EXPECT_TRUE(jobs.nothing_to_claim());
    const Json job = jobs.job(id);
    EXPECT_TRUE(list(job, "attempts").empty());
    EXPECT_TRUE(is_null(job, "worker"));
}

TEST_F(JobsCancellation, OfARunningJobSignalsTheWorkerWhichStopsAtASafePoint) {
    const std::string id = jobs.create_id();
    const Json lease = jobs.claim({{"worker_id", "courier"}});
    EXPECT_FALSE(flag(expect_ok(jobs.worker.heartbeat(lease)), "cancel_requested"));

    expect_ok(jobs.cancel(id));

    EXPECT_TRUE(flag(expect_ok(jobs.worker.heartbeat(lease)), "cancel_requested"));
    EXPECT_EQ(text(jobs.job(id), "worker"), "courier") << "until it says that it has stopped";
    expect_ok(jobs.worker.report(lease, {{"outcome", "canceled"}}));
    EXPECT_TRUE(is_null(jobs.job(id), "worker"));
    EXPECT_EQ(jobs.state(id), "cancelled");
}

TEST_F(JobsCancellation, OfRunningAndPendingJobsKeepsTheReasonForAudit) {
    const std::string pending = jobs.create_id();
    expect_ok(jobs.cancel(pending, {{"reason", "wrong branch"}}));
    const std::string running = jobs.create_id();
    jobs.claim();
    expect_ok(jobs.cancel(running, {{"reason", "wrong branch"}}));

    for (const std::string& id : {pending, running}) {
        EXPECT_EQ(text(jobs.job(id), "reason"), "wrong branch");
        const List events = jobs.worker.events(id);
        EXPECT_EQ(text(events.back(), "type"), "canceled");
        EXPECT_EQ(text(at(events.back(), "detail"), "reason"), "wrong branch");
    }
}

TEST_F(JobsCancellation, RefusesWhatItDoesNotKnow) {
    const std::string id = jobs.create_id();

    expect_refused(jobs.cancel(id, {{"reason", List{}}}), 422, "invalid", "/reason");
    expect_refused(jobs.cancel("65f000000000000000000000"), 404, "not_found");
    expect_refused(jobs.worker.http.post("/api/jobs/" + id + "/cancel?tenant=other", ""), 404,
                   "not_found");

    EXPECT_EQ(jobs.state(id), "pending");
}

class JobsQuestions : public JobsTest {};

TEST_F(JobsQuestions, CanFailedBecomeSuccessAfterARetryNoRetriesAreNewJobsWithANewId) {
    const std::string id = jobs.create_id({{"input", List{1, 2}}});
    expect_ok(jobs.worker.fail(jobs.claim()));
    const Response before = jobs.get("/" + id);

    const Response response = jobs.replay(id);

    const Json retry = expect_ok(response, 202);
    EXPECT_NE(text(retry, "id"), id);
    EXPECT_EQ(text(retry, "state"), "pending");
    EXPECT_EQ(text(retry, "replayOf"), id);
    EXPECT_EQ(response.header("Location"), "/api/jobs/" + text(retry, "id"));
    expect_ok(jobs.worker.succeed(jobs.claim()));
    EXPECT_EQ(jobs.state(text(retry, "id")), "success");
    EXPECT_EQ(jobs.get("/" + id).body, before.body) << "the failed one stays as it was";
}

TEST_F(JobsQuestions, AJobHasOneAttemptUnlessItAsksForMore) {
    EXPECT_EQ(number(jobs.create(), "maxAttempts"), 1);
    EXPECT_EQ(number(jobs.create({{"maxAttempts", 4}}), "maxAttempts"), 4);
}

TEST_F(JobsQuestions, IdempotencyKeyControlsDuplicateCreation) {
    const Headers key{{"Idempotency-Key", fresh_name("key")}};
    std::vector<Response> answers(8);

    in_parallel(8, [&](int i) {
        JobsApi mine(engine.port());
        answers[static_cast<std::size_t>(i)] =
            mine.try_create({{"action", jobs.action}, {"input", 1}}, key);
    });

    int first_ones = 0;
    for (const Response& answer : answers) {
        EXPECT_EQ(answer.status, 202);
        EXPECT_EQ(answer.body, answers.front().body);
        first_ones += answer.header("Idempotent-Replayed").empty() ? 1 : 0;
    }
    EXPECT_EQ(first_ones, 1);
    EXPECT_EQ(jobs.list_of("action=" + jobs.action).size(), 1u);
}

TEST_F(JobsQuestions, IdempotencyKeyWithAnotherBodyIsRefused) {
    const Headers key{{"Idempotency-Key", fresh_name("key")}};
    expect_ok(jobs.try_create({{"input", 1}}, key), 202);

    expect_refused(jobs.try_create({{"input", 2}}, key), 422, "idempotency_key_reused");

    EXPECT_EQ(jobs.list_of("action=" + jobs.action).size(), 1u);
}

TEST_F(JobsQuestions, IdempotencyKeyMayStandInTheBody) {
    const Fields with_key{{"idempotencyKey", fresh_name("key")}};
    const Response first = jobs.try_create(with_key);

    const Response again = jobs.try_create(with_key);

    EXPECT_EQ(first.status, 202);
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
    expect_refused(jobs.try_create(with_key, {{"Idempotency-Key", "another"}}), 422, "invalid",
                   "/idempotencyKey");
    expect_refused(jobs.try_create({{"idempotencyKey", "two words"}}), 422, "invalid",
                   "/idempotencyKey");
}

TEST_F(JobsQuestions, IdempotencyKeyIsShownWithItsJob) {
    const std::string key = fresh_name("key");
    const Json in_body = expect_ok(jobs.try_create({{"idempotencyKey", key}}), 202);
    EXPECT_EQ(text(in_body, "idempotencyKey"), key);
    const Json shown = jobs.job(text(in_body, "id"));
    EXPECT_EQ(text(shown, "idempotencyKey"), key);

    const std::string other = fresh_name("key");
    const Json in_header = expect_ok(jobs.try_create({}, {{"Idempotency-Key", other}}), 202);
    EXPECT_EQ(text(in_header, "idempotencyKey"), other);
    EXPECT_TRUE(is_null(expect_ok(jobs.try_create({}), 202), "idempotencyKey"));
    int with_key = 0;
    for (const Json& job : jobs.list_of("action=" + jobs.action)) {
        with_key += is_null(job, "idempotencyKey") ? 0 : 1;
    }
    EXPECT_EQ(with_key, 2);
}

TEST_F(JobsQuestions, DuringPendingThereIsNoLogOutput) {
    const std::string id = jobs.create_id();
    EventStream stream(engine.port(), stream_path(id));

    EXPECT_TRUE(jobs.logs(id).empty());
    EXPECT_FALSE(stream.next(Millis(200))) << "nothing is told before there is something to tell";
    EXPECT_FALSE(stream.ended());
}

TEST_F(JobsQuestions, DeferredWorkWaitsLessThanASecondForAWorkerThatIsFree) {
    Json lease;
    std::string id;
    in_parallel(2, [&](int i) {
        JobsApi mine(engine.port());
        const Fields wanted{{"types", List{Json(jobs.action)}}, {"wait_ms", 10'000}};
        if (i == 0) lease = mine.claim(wanted);
        if (i == 1) id = mine.create_id({{"action", jobs.action}});
    });

    EXPECT_EQ(job_of(lease), id);
    EXPECT_LT(number(at(jobs.job(id), "metrics"), "queuedMs"), 1000);
}

}  // namespace jobs_terminal_test
}  // namespace sluice::e2e
