#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "interfaces/worker/executors/executor.hpp"
#include "tests/support/test_context.hpp"

namespace sluice::worker {
namespace demo_test {

using namespace std::chrono_literals;
using client::Job;
using client::Outcome;
using client::StopReason;
using test::TestContext;

Job demo_job(std::string type, std::string payload) {
    return {.type = std::move(type), .payload = std::move(payload), .attempt = 1};
}

Outcome run(const Job& job, TestContext& context) {
    return demo_worker(job.type)->execute(job, context);
}

TEST(DemoHello, GreetsByNameAndShowsProgress) {
    TestContext context;

    const Outcome outcome = run(demo_job("demo.hello", R"({"name":"Ada \"L.\""})"), context);

    EXPECT_EQ(outcome.kind, Outcome::Kind::succeeded);
    EXPECT_EQ(outcome.result, R"({"greeting":"Hello, Ada \"L.\"!"})");
    EXPECT_GE(context.lines().size(), 3u);
    ASSERT_FALSE(context.progress_seen().empty());
    EXPECT_EQ(context.progress_seen().front().first, 0);
    EXPECT_EQ(context.progress_seen().back().first, 100);
}

TEST(DemoSlow, StopsAtOnceWhenItIsCanceled) {
    TestContext context;
    std::jthread canceler([&] {
        std::this_thread::sleep_for(50ms);
        context.token.request(StopReason::canceled);
    });

    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = run(demo_job("demo.slow", R"({"seconds":3600})"), context);

    EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
    EXPECT_EQ(outcome.kind, Outcome::Kind::canceled);
}

TEST(DemoSlow, SaysThatItsTimeIsOver) {
    TestContext context;
    context.token.request(StopReason::deadline);

    EXPECT_EQ(run(demo_job("demo.slow", "null"), context).kind, Outcome::Kind::timed_out);
}

TEST(DemoSlow, RunsToItsEnd) {
    TestContext context;

    const Outcome outcome = run(demo_job("demo.slow", R"({"seconds":0})"), context);

    EXPECT_EQ(outcome.kind, Outcome::Kind::succeeded);
    EXPECT_EQ(outcome.result, R"({"seconds":0})");
    EXPECT_EQ(context.progress_seen().back().first, 100);
}

TEST(DemoFlaky, FailsTheFirstAttemptsOnly) {
    TestContext context;
    Job job = demo_job("demo.flaky", "{}");
    job.max_attempts = 3;

    for (job.attempt = 1; job.attempt <= 2; ++job.attempt) {
        const Outcome outcome = run(job, context);
        EXPECT_EQ(outcome.kind, Outcome::Kind::failed);
        EXPECT_EQ(outcome.error_code, "DEMO_FLAKY");
        EXPECT_TRUE(outcome.retryable);
    }
    const Outcome outcome = run(job, context);

    EXPECT_EQ(outcome.kind, Outcome::Kind::succeeded);
    EXPECT_EQ(outcome.result, R"({"attempts":3})");
}

TEST(DemoFlaky, WarnsWhenItsAttemptsDoNotSuffice) {
    TestContext context;
    Job job = demo_job("demo.flaky", R"({"fail_times":5})");
    job.max_attempts = 2;

    run(job, context);

    EXPECT_NE(context.text().find("with max_attempts 6"), std::string::npos) << context.text();
}

TEST(Demo, RefusesABadPayloadWithItsPlace) {
    struct Case {
        std::string type{};
        std::string payload{};
        std::string message{};
    };
    for (const Case& bad :
         {Case{"demo.hello", R"({"name":5})", "payload /name must be a string"},
          Case{"demo.hello", R"(["Ada"])", "payload must be an object"},
          Case{"demo.slow", R"({"seconds":3601})", "payload /seconds must be between 0 and 3600"},
          Case{"demo.flaky", R"({"fail_times":-1})", "payload /fail_times must be between"}}) {
        TestContext context;

        const Outcome outcome = run(demo_job(bad.type, bad.payload), context);

        EXPECT_EQ(outcome.error_code, "INVALID_PAYLOAD");
        EXPECT_FALSE(outcome.retryable);
        EXPECT_TRUE(outcome.error_message.starts_with(bad.message)) << outcome.error_message;
    }
}

TEST(Demo, HasNoWorkerForOtherTypes) {
    TestContext context;

    const Outcome outcome = run(demo_job("demo.helo", "null"), context);

    EXPECT_EQ(outcome.error_code, "NO_WORKER");
    EXPECT_EQ(outcome.error_message, "no worker registered for job type demo.helo");
    EXPECT_FALSE(outcome.retryable);
}

}  // namespace demo_test
}  // namespace sluice::worker
