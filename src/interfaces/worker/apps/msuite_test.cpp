#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "interfaces/worker/executors/executor.hpp"
#include "tests/support/test_context.hpp"
#include "tests/support/test_http_server.hpp"

namespace sluice::worker {
namespace msuite_test {

using namespace std::chrono_literals;
using client::Job;
using client::Outcome;
using client::StopReason;
using test::HttpServer;
using test::TestContext;

Job submit_job(std::string payload = R"({"changeset_id":"cs-1"})") {
    return {.id = "job-7",
            .project = "shop",
            .type = "msuite_submit",
            .payload = std::move(payload),
            .attempt = 1};
}

Outcome run(const Job& job, const MsuiteExecutor& executor, TestContext& context,
            const std::shared_ptr<Leash>& leash = nullptr) {
    return msuite_worker(job.type, executor, leash)->execute(job, context);
}

TEST(MsuiteSimulated, PassesAndTellsWhatItDoes) {
    TestContext context;

    const Outcome outcome = run(submit_job(), {SimulatedCheck{.test_count = 12}}, context);

    const std::string result = R"({"passed":true,"test_count":12,"failures":[],"simulated":true})";
    EXPECT_EQ(outcome.kind, Outcome::Kind::succeeded);
    EXPECT_EQ(outcome.result, result);
    const auto lines = context.lines();
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0].message, "starting msuite submit validation");
    EXPECT_EQ(lines[1].message, "running validation for changeset cs-1");
    EXPECT_EQ(lines[1].data, R"({"changeset_id":"cs-1"})");
    EXPECT_EQ(lines[2].message, "msuite submit validation complete");
    EXPECT_EQ(lines[2].data, result);
}

TEST(MsuiteSimulated, FailsWithTheNamesOfTheFailuresAndIsRetried) {
    TestContext context;

    const Outcome outcome =
        run(submit_job(), {SimulatedCheck{.pass = false, .test_count = 2, .failures = {"a", "b"}}},
            context);

    EXPECT_EQ(outcome.kind, Outcome::Kind::failed);
    EXPECT_EQ(outcome.error_code, "MSUITE_FAILED");
    EXPECT_EQ(outcome.error_message, "msuite submit did not pass for changeset cs-1: a, b");
    EXPECT_TRUE(outcome.retryable);
}

TEST(MsuiteSimulated, StopsWhileItPretendsToWork) {
    TestContext context;
    std::jthread canceler([&] {
        std::this_thread::sleep_for(30ms);
        context.token.request(StopReason::canceled);
    });

    const Outcome outcome = run(submit_job(), {SimulatedCheck{.delay = 1h}}, context);

    EXPECT_EQ(outcome.kind, Outcome::Kind::canceled);
}

TEST(Msuite, NeedsTheIdOfWhatItChecks) {
    struct Case {
        std::string type{};
        std::string field{};
    };
    for (const Case& wanted :
         {Case{"msuite_submit", "changeset_id"}, Case{"msuite_merge", "release_id"},
          Case{"msuite_deploy", "deployment_id"}}) {
        for (const std::string& payload :
             {std::string("null"), std::string("[]"), std::string("{}"),
              std::string(R"({"id":"x"})"), "{\"" + wanted.field + "\":7}",
              "{\"" + wanted.field + "\":\"\"}"}) {
            TestContext context;
            Job job = submit_job(payload);
            job.type = wanted.type;

            const Outcome outcome = run(job, {}, context);

            EXPECT_EQ(outcome.kind, Outcome::Kind::failed);
            EXPECT_EQ(outcome.error_code, "VALIDATION_ERROR");
            EXPECT_EQ(outcome.error_message, "missing " + wanted.field + " in payload");
            EXPECT_FALSE(outcome.retryable);
        }
        TestContext context;
        Job job = submit_job("{\"" + wanted.field + "\":\"x\"}");
        job.type = wanted.type;
        EXPECT_EQ(run(job, {}, context).kind, Outcome::Kind::succeeded) << wanted.type;
    }
}

// For a queued changeset, and for an assembled release.
TEST(Msuite, ChecksTheMergeOfAReleaseOrAChangeset) {
    for (const auto& [payload, subject] : std::vector<std::pair<std::string, std::string>>{
             {R"({"changeset_id":"c"})", "changeset c"},
             {R"({"changeset_id":"c","release_id":"r"})", "release r"}}) {
        TestContext context;
        Job job = submit_job(payload);
        job.type = "msuite_merge";

        const Outcome outcome = run(job, {SimulatedCheck{.pass = false}}, context);

        EXPECT_EQ(outcome.error_message, "msuite merge did not pass for " + subject);
    }
}

TEST(Msuite, KnowsNoOtherTypes) {
    EXPECT_THROW(msuite_worker("msuite_rollback", {}, nullptr), std::invalid_argument);
    for (const std::string& type : msuite_types()) msuite_worker(type, {}, nullptr);
}

TEST(MsuiteByService, TakesItsVerdict) {
    std::atomic<const char*> answer = "";
    HttpServer server(
        [&](const std::string&) { return HttpServer::answer("200 OK", answer.load()); });
    const MsuiteExecutor executor{
        HttpExecutor{.url = server.url("/check"), .allow_private_addresses = true}};
    const auto outcome_of = [&](const char* text) {
        answer = text;
        TestContext context;
        return run(submit_job(), executor, context);
    };

    const Outcome passed = outcome_of(R"({"passed":true,"test_count":3})");
    EXPECT_EQ(passed.kind, Outcome::Kind::succeeded);
    EXPECT_EQ(passed.result, R"({"passed":true,"test_count":3})");

    const Outcome failed = outcome_of(R"({"passed":false,"failures":["a",{"name":"b"}]})");
    EXPECT_EQ(failed.error_code, "MSUITE_FAILED");
    EXPECT_TRUE(failed.retryable);
    EXPECT_EQ(failed.error_message,
              R"(msuite submit did not pass for changeset cs-1: a, {"name":"b"})");

    for (const char* silent : {"", "{}", "true", "[]"}) {
        const Outcome outcome = outcome_of(silent);
        EXPECT_EQ(outcome.kind, Outcome::Kind::failed) << silent;
        EXPECT_EQ(outcome.error_code, "INVALID_RESULT") << silent;
        EXPECT_FALSE(outcome.retryable);
    }
    EXPECT_EQ(outcome_of(R"({"passed":"yes"})").error_code, "MSUITE_FAILED");
}

TEST(MsuiteByService, IsNotAskedAboutNothing) {
    HttpServer server([](const std::string&) { return HttpServer::answer("200 OK", ""); });
    TestContext context;

    const Outcome outcome =
        run(submit_job("{}"),
            {HttpExecutor{.url = server.url("/"), .allow_private_addresses = true}}, context);

    EXPECT_EQ(outcome.error_code, "VALIDATION_ERROR");
    EXPECT_TRUE(server.requests().empty());
}

TEST(MsuiteByCommand, GetsTheJobInItsEnvironment) {
    const auto leash = std::make_shared<Leash>();
    TestContext context;
    const CommandExecutor command{
        .argv = {"/bin/sh", "-c",
                 R"(printf '{"passed":true,"app":"%s","job":"%s","payload":%s}' )"
                 R"("$SLUICE_APP_ID" "$SLUICE_JOB_ID" "$SLUICE_PAYLOAD" >&3)"}};

    const Outcome outcome = run(submit_job(), {command}, context, leash);

    EXPECT_EQ(outcome.kind, Outcome::Kind::succeeded) << outcome.error_message;
    EXPECT_EQ(outcome.result,
              R"({"passed":true,"app":"shop","job":"job-7","payload":{"changeset_id":"cs-1"}})");
}

TEST(MsuiteByCommand, FailsByItsExitCodeOrByItsVerdict) {
    const auto leash = std::make_shared<Leash>();
    const auto outcome_of = [&](const char* script) {
        TestContext context;
        return run(submit_job(), {CommandExecutor{.argv = {"/bin/sh", "-c", script}}}, context,
                   leash);
    };

    EXPECT_EQ(outcome_of("exit 0").kind, Outcome::Kind::succeeded);
    EXPECT_EQ(outcome_of("exit 65").kind, Outcome::Kind::failed);
    EXPECT_FALSE(outcome_of("exit 65").retryable);
    const Outcome said = outcome_of(R"(echo '{"passed":false,"failures":["a"]}' >&3)");
    EXPECT_EQ(said.error_code, "MSUITE_FAILED");
    EXPECT_TRUE(said.retryable);
}

TEST(MsuiteByCommand, PassesNothingWhoseVerdictCannotBeRead) {
    const auto leash = std::make_shared<Leash>();
    for (const char* verdict :
         {R"({"passed":false,"passed":true})", R"({"passed":false,"failures":["\u0000"]})"}) {
        TestContext context;
        const std::string script = std::string("printf '%s' '") + verdict + "' >&3";
        const Outcome outcome =
            run(submit_job(), {CommandExecutor{.argv = {"/bin/sh", "-c", script}}}, context, leash);
        EXPECT_EQ(outcome.kind, Outcome::Kind::failed) << verdict;
        EXPECT_EQ(outcome.error_code, "INVALID_RESULT") << verdict;
    }
}

}  // namespace msuite_test
}  // namespace sluice::worker
