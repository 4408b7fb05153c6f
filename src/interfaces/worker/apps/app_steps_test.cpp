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
namespace app_steps_test {

using namespace std::chrono_literals;
using client::Job;
using client::Outcome;
using client::StopReason;
using test::HttpServer;
using test::TestContext;

Job job_of(std::string type, std::string payload) {
    return {.id = "job-7",
            .project = "shop",
            .type = std::move(type),
            .payload = std::move(payload),
            .attempt = 1};
}

Outcome run(const Job& job, const AppExecutor& executor = {},
            const std::shared_ptr<Leash>& leash = nullptr) {
    TestContext context;
    return app_worker(job.type, executor, leash)->execute(job, context);
}

TEST(AppStepsSimulated, GiveWhatTheRealOnesWould) {
    const auto result_of = [](const char* type, const char* payload) {
        const Outcome outcome = run(job_of(type, payload));
        EXPECT_EQ(outcome.kind, Outcome::Kind::succeeded) << type << outcome.error_message;
        return outcome.result;
    };

    EXPECT_EQ(result_of("deploy_release", R"({"deployment_id":"d"})"), R"({"simulated":true})");
    EXPECT_EQ(result_of("revalidate_queued_changeset", R"({"changeset_id":"c"})"),
              R"({"outcome":"clean","simulated":true})");
    EXPECT_EQ(result_of("runtime_profile_drift_check", R"({"environment_id":"e"})"),
              R"({"drift":[],"simulated":true})");
    EXPECT_EQ(result_of("temp_env_provision", R"({"temp_environment_id":"t"})"),
              R"({"url":"https://t.temp.example.com","simulated":true})");
    EXPECT_EQ(result_of("temp_env_expire", R"({"temp_environment_id":"t"})"),
              R"({"simulated":true})");

    const char* release = R"({"release_id":"r","changeset_ids":["a"]})";
    const std::string assembled = result_of("release_assemble", release);
    EXPECT_EQ(assembled.size(), std::string(R"({"head_sha":"","simulated":true})").size() + 40);
    EXPECT_EQ(assembled, result_of("release_assemble", release)) << "a retry gives the same";
    EXPECT_NE(assembled,
              result_of("release_assemble", R"({"release_id":"r","changeset_ids":["b"]})"));
}

TEST(AppStepsSimulated, TellWhatTheyDo) {
    TestContext context;
    const Job job = job_of("release_assemble", R"({"release_id":"r-1"})");

    app_worker(job.type, {}, nullptr)->execute(job, context);

    const auto lines = context.lines();
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0].message, "starting release assembly");
    EXPECT_EQ(lines[1].message, "running assembly for release r-1");
    EXPECT_EQ(lines[1].data, R"({"release_id":"r-1"})");
    EXPECT_EQ(lines[2].message, "release assembly complete");
}

TEST(AppStepsSimulated, EndAsTheyAreTold) {
    const Job revalidation = job_of("revalidate_queued_changeset", R"({"changeset_id":"c"})");

    EXPECT_EQ(run(revalidation, {SimulatedStep{.outcome = "conflicted"}}).result,
              R"({"outcome":"conflicted","simulated":true})");
    const Outcome failed = run(revalidation, {SimulatedStep{.pass = false}});
    EXPECT_EQ(failed.error_code, "SIMULATED_FAILURE");
    EXPECT_EQ(failed.error_message, "the revalidation was told to fail");
    EXPECT_TRUE(failed.retryable);
}

TEST(AppStepsSimulated, StopWhileTheyPretendToWork) {
    TestContext context;
    std::jthread canceler([&] {
        std::this_thread::sleep_for(30ms);
        context.token.request(StopReason::canceled);
    });
    const Job job = job_of("temp_env_expire", R"({"temp_environment_id":"t"})");

    const Outcome outcome =
        app_worker(job.type, {SimulatedStep{.delay = 1h}}, nullptr)->execute(job, context);

    EXPECT_EQ(outcome.kind, Outcome::Kind::canceled);
}

TEST(AppSteps, NeedTheIdOfWhatTheyAreAbout) {
    for (const std::string& type : app_types()) {
        const Outcome outcome = run(job_of(type, R"({"id":"x"})"));
        EXPECT_EQ(outcome.error_code, "VALIDATION_ERROR") << type;
        EXPECT_TRUE(outcome.error_message.ends_with("_id in payload")) << outcome.error_message;
        EXPECT_FALSE(outcome.retryable);
    }
}

TEST(AppSteps, KnowNoOtherTypes) {
    EXPECT_EQ(app_types().size(), 6u);
    EXPECT_THROW(app_worker("msuite_submit", {}, nullptr), std::invalid_argument);
    EXPECT_THROW(app_worker("env_deploy", {}, nullptr), std::invalid_argument);
}

TEST(AppStepsByService, AreJudgedByTheirResults) {
    std::atomic<const char*> answer = "";
    HttpServer server(
        [&](const std::string&) { return HttpServer::answer("200 OK", answer.load()); });
    const AppExecutor executor{
        HttpExecutor{.url = server.url("/do"), .allow_private_addresses = true}};
    const auto outcome_of = [&](const Job& job, const char* text) {
        answer = text;
        return run(job, executor);
    };

    const Job check = job_of("runtime_profile_drift_check", R"({"environment_id":"e"})");
    for (const char* clean : {"", "{}", R"({"drift":[]})", R"({"drift":null})"}) {
        EXPECT_EQ(outcome_of(check, clean).kind, Outcome::Kind::succeeded) << clean;
    }
    const Outcome drifted = outcome_of(check, R"({"drift":["url",{"part":"env_vars"}]})");
    EXPECT_EQ(drifted.error_code, "DRIFT_FOUND");
    EXPECT_EQ(drifted.error_message, R"(environment e has drifted: "url", {"part":"env_vars"})");
    EXPECT_FALSE(drifted.retryable);

    const Job revalidation = job_of("revalidate_queued_changeset", R"({"changeset_id":"c"})");
    for (const char* known :
         {"", R"({"outcome":"clean"})", R"({"outcome":"conflicted"})", R"({"outcome":null})"}) {
        EXPECT_EQ(outcome_of(revalidation, known).kind, Outcome::Kind::succeeded) << known;
    }
    for (const char* unknown : {R"({"outcome":"dirty"})", R"({"outcome":7})"}) {
        EXPECT_EQ(outcome_of(revalidation, unknown).error_code, "INVALID_RESULT") << unknown;
    }
}

TEST(AppStepsByCommand, GetTheJobInTheirEnvironment) {
    const auto leash = std::make_shared<Leash>();
    const CommandExecutor command{.argv = {"/bin/sh", "-c",
                                           R"(printf '{"app":"%s","payload":%s}' )"
                                           R"("$SLUICE_APP_ID" "$SLUICE_PAYLOAD" >&3)"}};

    const Outcome outcome =
        run(job_of("deploy_release", R"({"deployment_id":"d"})"), {command}, leash);

    EXPECT_EQ(outcome.kind, Outcome::Kind::succeeded) << outcome.error_message;
    EXPECT_EQ(outcome.result, R"({"app":"shop","payload":{"deployment_id":"d"}})");
}

}  // namespace app_steps_test
}  // namespace sluice::worker
