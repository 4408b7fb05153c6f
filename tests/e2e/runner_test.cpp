// The library's Worker in this process, against the real engine.
#include <atomic>
#include <future>
#include <thread>

#include "e2e/api.hpp"
#include "sluice/worker.hpp"

namespace sluice::e2e {
namespace runner_test {

using client::Context;
using client::Outcome;

std::string server(std::uint16_t port) {
    return "http://127.0.0.1:" + std::to_string(port);
}

// Runs until the destructor.
class RunningWorker {
  public:
    explicit RunningWorker(client::WorkerOptions options) : worker(noticing(std::move(options))) {}
    ~RunningWorker() {
        if (!thread_.joinable()) return;
        worker.stop_now();
        thread_.join();
    }

    void start() {
        thread_ = std::thread([this] { worker.run(); });
    }
    void stop() {
        worker.stop();
        thread_.join();
    }

    std::atomic<int> away = 0;  // how often the engine was missed
    std::atomic<int> back = 0;

  private:
    client::WorkerOptions noticing(client::WorkerOptions options) {
        options.on_notice = [this](client::Level, const std::string& notice) {
            if (notice.find("calls to the engine fail") != std::string::npos) ++away;
            if (notice.find("answers again") != std::string::npos) ++back;
        };
        return options;
    }

  public:
    client::Worker worker;

  private:
    std::thread thread_;
};

TEST(Runner, AKilledEngineCostsNoResultAndNoAttempt) {
    const TempFolder folder;
    const std::string store = "sqlite:" + (folder.path() / "db").string();
    auto engine = std::make_unique<Engine>(store);
    const std::uint16_t port = engine->port();
    Api before(port, "q");
    const std::string finishing = before.submit_id({{"type", "finishes_meanwhile"}});
    const std::string lasting = before.submit_id({{"type", "lasts"}});
    RunningWorker running({.connection = {.server = server(port)},
                           .queues = {"q"},
                           .concurrency = 2,
                           .lease = client::Millis(6'000)});
    std::atomic<int> runs = 0;
    std::atomic<int> started = 0;
    std::promise<void> engine_killed;
    std::promise<void> engine_back;
    running.worker.handle("finishes_meanwhile", [&](const client::Job&, Context& context) {
        ++runs;
        ++started;
        engine_killed.get_future().wait();
        context.log().info("nobody hears this yet");
        return Outcome::succeeded(R"({"kept":true})");
    });
    running.worker.handle("lasts", [&](const client::Job&, Context&) {
        ++runs;
        ++started;
        engine_back.get_future().wait();
        return Outcome::succeeded();
    });
    running.start();
    ASSERT_TRUE(eventually([&] { return started == 2; }));

    engine->kill();
    engine_killed.set_value();
    EXPECT_TRUE(eventually([&] { return running.away == 1; }));
    Process again(sluice_command(
        {"serve", "--no-auth", "--listen", "127.0.0.1:" + std::to_string(port), "--store", store}));
    ASSERT_TRUE(again.read_line(Millis(10'000)));
    Api api(port, "q");
    EXPECT_TRUE(api.reaches(finishing, "succeeded"));
    engine_back.set_value();
    EXPECT_TRUE(api.reaches(lasting, "succeeded"));

    const std::vector<std::string> once{"submitted", "claimed", "succeeded"};
    for (const std::string& id : {finishing, lasting}) {
        EXPECT_EQ(api.steps(id), once);
        EXPECT_EQ(number(api.job(id), "attempt"), 1);
    }
    EXPECT_EQ(api.job(finishing).at("result").at("kept"), true);
    EXPECT_EQ(api.logs(finishing).size(), 1u);
    EXPECT_EQ(runs, 2);
    EXPECT_TRUE(eventually([&] { return running.back == 1; }));
    running.stop();
}

ON_EACH_STORE(RunnerOnEachStore);

TEST_P(RunnerOnEachStore, ReportsEveryOutcomeOverHttp) {
    RunningWorker running({.connection = {.server = server(engine.port())},
                           .queues = {api.queue()},
                           .concurrency = 4});
    running.worker.handle("good", [](const client::Job& job, Context& context) {
        context.log().warn("working on it", job.payload);
        context.progress(50, "half");
        return Outcome::succeeded(job.payload);
    });
    running.worker.handle("bad", [](const client::Job&, Context&) {
        return Outcome::failed("BAD", "it \"broke\"\n\x01", false);
    });
    running.worker.handle("slow", [](const client::Job&, Context& context) {
        context.cancel().wait_for(client::Millis(10'000));
        return Outcome::succeeded();
    });
    const std::string good = api.submit_id({{"type", "good"}, {"payload", "p"}});
    const std::string bad = api.submit_id({{"type", "bad"}, {"max_attempts", 3}});
    const std::string slow = api.submit_id({{"type", "slow"}, {"timeout_ms", 100}});

    running.start();

    EXPECT_TRUE(api.reaches(good, "succeeded"));
    EXPECT_TRUE(api.reaches(bad, "failed"));
    EXPECT_TRUE(api.reaches(slow, "timed_out"));
    EXPECT_EQ(text(api.job(good), "result"), "p");
    const List lines = api.logs(good);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(text(lines[0], "data"), "p");
    EXPECT_EQ(text(api.job(bad), "error_code"), "BAD");
    EXPECT_EQ(text(api.job(bad), "error_message"), "it \"broke\"\n\x01");
    EXPECT_EQ(number(api.job(bad), "attempt"), 1);
    running.stop();
    EXPECT_EQ(text(api.logs(slow).at(0), "message"), "job timed out after 100ms");
}

TEST_P(RunnerOnEachStore, StopHandsARunningJobBackOverHttp) {
    RunningWorker running({.connection = {.server = server(engine.port())},
                           .queues = {api.queue()},
                           .shutdown_grace = client::Millis(0)});
    std::promise<void> started;
    running.worker.handle("task", [&](const client::Job&, Context& context) {
        started.set_value();
        context.cancel().wait_for(client::Millis(10'000));
        return Outcome::canceled();
    });
    const std::string id = api.submit_id();
    running.start();
    started.get_future().wait();

    running.stop();

    EXPECT_EQ(api.state(id), "queued");
    EXPECT_EQ(api.steps(id).back(), "handed_back");
}

// Stops come while claims are under way, whose jobs no worker would run.
TEST_P(RunnerOnEachStore, AStopAmongManyJobsLeavesNoLeaseBehind) {
    const std::vector<Fields> many(400, Fields{{"max_attempts", 2}});
    for (int i = 0; i < 5; ++i) api.submit_batch(many);
    const auto jobs_in = [&](const std::string& state) {
        return list(api.get("/api/v1/jobs?limit=200&queue=" + api.queue() + "&state=" + state),
                    "jobs");
    };
    for (int round = 0; round < 12; ++round) {
        std::atomic<int> done = 0;
        RunningWorker running({.connection = {.server = server(engine.port())},
                               .queues = {api.queue()},
                               .concurrency = 8});
        running.worker.handle("task", [&](const client::Job&, Context&) {
            ++done;
            return Outcome::succeeded();
        });
        running.start();
        ASSERT_TRUE(eventually([&] { return done > 5 + 3 * round; }));
        running.stop();
        ASSERT_EQ(jobs_in("running").size(), 0u) << "in round " << round;
    }
    const List waiting = jobs_in("queued");
    ASSERT_FALSE(waiting.empty()) << "there was too little to do";
    for (const Json& job : waiting) EXPECT_EQ(number(job, "attempt"), 0);
}

TEST_P(RunnerOnEachStore, DeepResultsAndLogDataAreNeverRefusedInSilence) {
    RunningWorker running({.connection = {.server = server(engine.port())},
                           .queues = {api.queue()},
                           .concurrency = 8});
    running.worker.handle("task", [](const client::Job& job, Context& context) {
        const std::size_t depth = std::stoul(job.payload);
        const std::string deep = std::string(depth, '[') + std::string(depth, ']');
        context.log().info("deep", deep);
        return Outcome::succeeded(deep);
    });
    std::vector<std::string> ids;
    for (int depth = 28; depth <= 33; ++depth) {
        ids.push_back(api.submit_id({{"payload", depth}, {"max_attempts", 3}}));
    }

    running.start();

    for (std::size_t i = 0; i < ids.size(); ++i) {
        const bool fits = 28 + i <= 31;
        EXPECT_TRUE(api.reaches(ids[i], fits ? "succeeded" : "failed")) << 28 + i;
        EXPECT_EQ(api.logs(ids[i]).size(), 1u) << 28 + i;
        const Json job = api.job(ids[i]);
        EXPECT_EQ(text(job, "error_code"), fits ? "" : "INVALID_RESULT");
    }
    running.stop();
}

TEST(Runner, SaysWhyTheEngineRefusesItsClaims) {
    RunningWorker running({.connection = {.server = server(shared_engine("memory").port())},
                           .worker_id = std::string(1000, 'w')});
    running.worker.handle("task",
                          [](const client::Job&, Context&) { return Outcome::succeeded(); });

    EXPECT_THROW(running.worker.run(), client::Error);
}

}  // namespace runner_test
}  // namespace sluice::e2e
