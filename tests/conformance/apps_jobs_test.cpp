// Seed 000, section 6 and the cases of section 9 that are about a job's life.
#include <map>

#include "conformance/apps.hpp"

namespace sluice::e2e {
namespace apps_jobs_test {

class AppsJobs : public AppsTest {
  protected:
    std::vector<std::string> messages(const std::string& id) {
        std::vector<std::string> texts;
        for (const Json& line : author.list_of(path("/jobs/" + id + "/logs"))) {
            texts.push_back(text(line, "message"));
        }
        return texts;
    }
};

// Case 1.
TEST_F(AppsJobs, JobCreationSetsStateToQueued) {
    const Json fresh = job(enqueue("msuite_submit"));

    EXPECT_EQ(text(fresh, "state"), "queued");
    EXPECT_EQ(number(fresh, "retry_count"), 0);
    for (const char* unset : {"result", "error_message", "started_at", "completed_at"}) {
        EXPECT_TRUE(is_null(fresh, unset)) << unset;
    }
}

// Case 2.
TEST_F(AppsJobs, SucceededFailedAndCanceledAreTerminal) {
    const std::string succeeded = enqueue("msuite_submit");
    const Json first = claim("msuite_submit");
    expect_ok(worker.succeed(first));
    const std::string failed = enqueue("msuite_submit", {{"max_attempts", 1}});
    const Json second = claim("msuite_submit");
    expect_ok(worker.fail(second));
    const std::string canceled = enqueue("msuite_submit");
    expect_ok(worker.cancel(canceled));
    const std::map<std::string, std::string> ended{
        {succeeded, "succeeded"}, {failed, "failed"}, {canceled, "canceled"}};

    EXPECT_NE(worker.fail(first).status, 200);
    EXPECT_NE(worker.succeed(second).status, 200);
    for (const auto& [id, state] : ended) {
        worker.cancel(id);
        EXPECT_EQ(job_state(id), state);
        EXPECT_FALSE(is_null(job(id), "completed_at"));
    }
    EXPECT_TRUE(worker.claim().empty());
}

// Case 3, and the table of defaults in section 6.
TEST_F(AppsJobs, EveryJobTypeHasItsRetriesAndTimeout) {
    struct Default {
        std::string type;
        int max_retries;
        int timeout_ms;
    };
    const std::vector<Default> defaults{{"msuite_submit", 3, 300'000},
                                        {"msuite_merge", 3, 300'000},
                                        {"msuite_deploy", 2, 600'000},
                                        {"revalidate_queued_changeset", 3, 300'000},
                                        {"release_assemble", 2, 600'000},
                                        {"deploy_release", 1, 900'000},
                                        {"temp_env_provision", 2, 300'000},
                                        {"temp_env_expire", 3, 60'000},
                                        {"runtime_profile_drift_check", 3, 300'000}};

    for (const auto& [type, max_retries, timeout_ms] : defaults) {
        const std::string id = enqueue(type);
        const Json shown = job(id);
        EXPECT_EQ(text(shown, "job_type"), type);
        EXPECT_EQ(number(shown, "max_retries"), max_retries) << type;
        EXPECT_EQ(number(shown, "timeout_ms"), timeout_ms) << type;
        EXPECT_EQ(ids_of(author.list_of(path("/jobs?type=" + type))), std::vector{id});
    }
}

// Case 3: the levels.
TEST_F(AppsJobs, EveryLogLevelIsShownAsItWasSent) {
    const std::string id = enqueue("msuite_submit");
    const Json lease = claim("msuite_submit");
    List entries;
    for (const char* level : {"info", "warn", "error"}) {
        entries.emplace_back(Fields{{"level", level}, {"message", level}});
    }
    expect_ok(worker.log(lease, entries));

    for (const Json& line : author.list_of(path("/jobs/" + id + "/logs"))) {
        EXPECT_EQ(text(line, "level"), text(line, "message"));
    }
    EXPECT_EQ(messages(id), (std::vector<std::string>{"info", "warn", "error"}));
}

// Case 7.
TEST_F(AppsJobs, RunnerPicksUpOldestQueuedJob) {
    const std::string older = enqueue("msuite_submit");
    const std::string newer = enqueue("msuite_merge");

    EXPECT_EQ(job_of(worker.claim_one()), older);
    EXPECT_EQ(job_state(older), "running");
    EXPECT_EQ(job_state(newer), "queued");
    EXPECT_FALSE(is_null(job(older), "started_at"));
}

// Case 8.
TEST_F(AppsJobs, SuccessfulExecutionTransitionsToSucceededWithResult) {
    const std::string id = enqueue("msuite_submit");

    succeed("msuite_submit", {{"ok", true}});

    const Json ended = job(id);
    EXPECT_EQ(text(ended, "state"), "succeeded");
    EXPECT_EQ(at(ended, "result"), Json(Fields{{"ok", true}}));
    EXPECT_FALSE(is_null(ended, "completed_at"));
}

// Case 9.
TEST_F(AppsJobs, FailedExecutionTransitionsToFailedWithError) {
    const std::string id = enqueue("msuite_submit", {{"max_attempts", 1}});

    fail("msuite_submit", true);

    const Json ended = job(id);
    EXPECT_EQ(number(ended, "max_retries"), 0);
    EXPECT_EQ(text(ended, "state"), "failed");
    EXPECT_EQ(text(ended, "error_message"), "msuite_submit found a problem");
    EXPECT_FALSE(is_null(ended, "completed_at"));
}

// Case 10.
TEST_F(AppsJobs, RetryReQueuesWithIncrementedCountAtOnce) {
    const std::string id = enqueue("release_assemble");

    fail("release_assemble", true);

    const Json waiting = job(id);
    EXPECT_EQ(number(waiting, "max_retries"), 2);
    EXPECT_EQ(text(waiting, "state"), "queued");
    EXPECT_EQ(number(waiting, "retry_count"), 1);
    EXPECT_TRUE(is_null(waiting, "started_at"));
    EXPECT_TRUE(is_null(waiting, "error_message"));
    EXPECT_EQ(job_of(claim("release_assemble")), id);
    EXPECT_EQ(number(job(id), "retry_count"), 1);
    EXPECT_FALSE(is_null(job(id), "started_at"));
}

// Case 11.
TEST_F(AppsJobs, MaxRetriesExceededStaysFailed) {
    const std::string id = enqueue("deploy_release");

    fail("deploy_release", true);
    EXPECT_EQ(job_state(id), "queued");
    fail("deploy_release", true);

    const Json ended = job(id);
    EXPECT_EQ(text(ended, "state"), "failed");
    EXPECT_EQ(number(ended, "retry_count"), number(ended, "max_retries"));
    EXPECT_EQ(text(ended, "error_message"), "deploy_release found a problem");
    EXPECT_FALSE(is_claimable("deploy_release"));
}

// Case 12, and "Timeout" of section 6: canceled, an error-level line, no retry.
TEST_F(AppsJobs, TimeoutCancelsRunningJob) {
    const std::string id = enqueue("msuite_submit", {{"timeout_ms", 50}});

    claim("msuite_submit");

    ASSERT_TRUE(eventually([&] { return job_state(id) == "canceled"; }));
    const Json ended = job(id);
    EXPECT_EQ(text(ended, "error_message"), "timeout exceeded");
    EXPECT_FALSE(is_null(ended, "completed_at"));
    EXPECT_EQ(number(ended, "retry_count"), 0);
    EXPECT_FALSE(is_claimable("msuite_submit"));
    const List lines = author.list_of(path("/jobs/" + id + "/logs"));
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(text(lines[0], "level"), "error");
    EXPECT_EQ(text(lines[0], "message"), "job timed out after 50ms");
}

// Case 13, and the claim mechanism of section 6.
TEST_F(AppsJobs, ConcurrentRunnersDontDoubleProcess) {
    for (int round = 0; round < 20; ++round) {
        const std::string id = enqueue("msuite_submit");
        std::vector<std::size_t> got(2);
        in_parallel(2, [&](int i) {
            Api runner(engine->port(), "default");
            const List leases = runner.claim({{"worker_id", "runner-" + std::to_string(i)}});
            got[static_cast<std::size_t>(i)] = leases.size();
            for (const Json& lease : leases) expect_ok(runner.succeed(lease));
        });
        EXPECT_EQ(got[0] + got[1], 1u);
        EXPECT_EQ(job_state(id), "succeeded");
        EXPECT_EQ(worker.steps(id),
                  (std::vector<std::string>{"submitted", "claimed", "succeeded"}));
    }
}

// Case 14.
TEST_F(AppsJobs, JobLogsAreQueryableByJobIdInChronologicalOrder) {
    const std::string other = enqueue("msuite_submit");
    expect_ok(worker.log(claim("msuite_submit"), List{Fields{{"message", "not this one"}}}));
    const std::string id = enqueue("msuite_submit");
    const Json lease = claim("msuite_submit");

    for (const char* message : {"first", "second", "third"}) {
        expect_ok(worker.log(lease, List{Fields{{"message", message}}}));
    }

    EXPECT_EQ(messages(id), (std::vector<std::string>{"first", "second", "third"}));
    EXPECT_EQ(messages(other), (std::vector<std::string>{"not this one"}));
    std::string last;
    for (const Json& line : author.list_of(path("/jobs/" + id + "/logs"))) {
        EXPECT_LE(last, text(line, "timestamp"));
        last = text(line, "timestamp");
    }
}

TEST_F(AppsJobs, LogsOfEveryAttemptAreKept) {
    const std::string id = enqueue("msuite_submit");
    for (const char* attempt : {"first attempt", "second attempt"}) {
        const Json lease = claim("msuite_submit");
        expect_ok(worker.log(lease, List{Fields{{"message", attempt}}}));
        expect_ok(worker.fail(lease));
    }

    EXPECT_EQ(messages(id), (std::vector<std::string>{"first attempt", "second attempt"}));
}

}  // namespace apps_jobs_test
}  // namespace sluice::e2e
