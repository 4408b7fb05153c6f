// The log lines that a runner sends.
#include <gtest/gtest.h>

#include "support/runner_fixture.hpp"

namespace sluice::worker {
namespace runner_log_test {

TEST(RunnerLog, ManyLinesGoInOrderInFewCallsAndBeforeTheReport) {
    constexpr int count = 10'000;
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine);
    runner.handle("work", [](auto&, Context& context) {
        for (int i = 1; i <= count; ++i) context.log().info("line " + std::to_string(i));
        return client::Outcome::succeeded();
    });

    runner.start();

    EXPECT_EQ(engine.wait_for_end(job.spec->id).now.state, JobState::succeeded);
    const auto lines = engine.logs(job.spec->id);
    ASSERT_EQ(lines.size(), static_cast<std::size_t>(count));
    for (int i = 1; i <= count; ++i) {
        ASSERT_EQ(lines[static_cast<std::size_t>(i - 1)].message, "line " + std::to_string(i));
    }
    EXPECT_EQ(engine.events(job.spec->id).back().log_seq, count);
    EXPECT_LT(runner.desk.log_calls, count / 50);
}

TEST(RunnerLog, LinesOfManyJobsDoNotMix) {
    RunningEngine engine;
    const auto jobs = engine.submit_all(std::vector<JobSpec>(20, spec("work")));
    RunningRunner runner(engine, {.concurrency = 8});
    runner.handle("work", [](const client::Job& job, Context& context) {
        for (int i = 0; i < 100; ++i) context.log().info(job.id + " " + std::to_string(i));
        return client::Outcome::succeeded();
    });

    runner.start();

    for (const Job& job : jobs) {
        engine.wait_for_end(job.spec->id);
        const auto lines = engine.logs(job.spec->id);
        ASSERT_EQ(lines.size(), 100u);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            EXPECT_EQ(lines[i].message, to_text(job.spec->id) + " " + std::to_string(i));
        }
    }
}

TEST(RunnerLog, IsSentWhileTheJobRuns) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine);
    runner.handle("work", [&](auto&, Context& context) {
        context.log().info("now");
        EXPECT_TRUE(comes_true([&] { return engine.logs(job.spec->id).size() == 1; }));
        return client::Outcome::succeeded();
    });

    runner.start();

    engine.wait_for_end(job.spec->id);
}

TEST(RunnerLog, LostAnswersDoNotRepeatLines) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine);
    runner.handle("work", [&](auto&, Context& context) {
        runner.desk.loses_answers = true;
        context.log().info("once");
        EXPECT_TRUE(comes_true([&] { return runner.desk.log_calls >= 2; }));
        runner.desk.loses_answers = false;
        context.log().info("twice");
        return client::Outcome::succeeded();
    });

    runner.start();

    engine.wait_for_end(job.spec->id);
    const auto lines = engine.logs(job.spec->id);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].message, "once");
    EXPECT_EQ(lines[1].message, "twice");
}

TEST(RunnerLog, LinesThatTheEngineHasNoRoomForDoNotHoldBackTheReport) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine);
    runner.desk.has_no_room_for_logs = true;
    runner.handle("work", [](auto&, Context& context) {
        context.log().info("line");
        return client::Outcome::succeeded();
    });

    runner.start();

    EXPECT_EQ(engine.wait_for_end(job.spec->id).now.state, JobState::succeeded);
    EXPECT_TRUE(engine.logs(job.spec->id).empty());
}

TEST(RunnerLog, AWriterWaitsWhenMuchIsUnsentAndGoesOnWhenTheEngineTakesIt) {
    constexpr int count = 200;
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine);
    std::atomic<int> written = 0;
    runner.handle("work", [&](auto&, Context& context) {
        runner.desk.is_away = true;
        const std::string line(50 * 1024, 'x');
        for (; written < count; ++written) context.log().info(line);
        return client::Outcome::succeeded();
    });
    runner.start();

    EXPECT_TRUE(comes_true([&] { return written > 70; }));
    std::this_thread::sleep_for(Millis(50));
    EXPECT_LT(written, 100);
    runner.desk.is_away = false;

    EXPECT_EQ(engine.wait_for_end(job.spec->id).now.state, JobState::succeeded);
    EXPECT_EQ(engine.logs(job.spec->id).size(), static_cast<std::size_t>(count));
}

TEST(RunnerLog, ManyNoisyJobsShareOneBoundAndHoldBackFurtherClaims) {
    constexpr int count = 30;  // jobs, each of which alone may have 4 MiB of lines that wait
    RunningEngine engine;
    engine.submit_all(std::vector<JobSpec>(count + 1, spec("work")));
    RunningRunner runner(engine, {.concurrency = count});
    std::atomic<int> started = 0;
    std::atomic<int> written = 0;
    std::promise<void> full;
    std::atomic<bool> enough = false;
    runner.desk.holds_logs = true;
    runner.handle("work", [&](auto&, Context& context) {
        if (++started == 1) full.get_future().wait();  // and frees space for one more job
        const std::string line(60 * 1024, 'x');
        while (!enough && !context.cancel().requested()) {
            context.log().info(line);
            ++written;
        }
        return client::Outcome::succeeded();
    });
    runner.start();

    EXPECT_TRUE(comes_true([&] { return written > 1'000; }));
    for (int before = -1; before != written;) {  // until all of them wait
        before = written;
        std::this_thread::sleep_for(Millis(100));
    }
    enough = true;
    full.set_value();
    std::this_thread::sleep_for(Millis(200));
    EXPECT_LT(written, 1'200);
    EXPECT_EQ(started, count);
    runner.desk.holds_logs = false;
    EXPECT_TRUE(comes_true([&] { return started == count + 1; }));
}

TEST(RunnerLog, AWriterThatWaitsIsFreedWhenTheJobShouldStop) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine);
    std::atomic<int> written = 0;
    runner.handle("work", [&](auto&, Context& context) {
        runner.desk.is_away = true;
        const std::string line(60 * 1024, 'x');
        for (; !context.cancel().requested(); ++written) context.log().info(line);
        runner.desk.is_away = false;
        return client::Outcome::succeeded();
    });
    runner.start();
    EXPECT_TRUE(comes_true([&] { return written > 65; }));
    std::this_thread::sleep_for(Millis(50));

    runner.stop_now();
    runner.join();

    EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::succeeded);
    const auto lines = engine.logs(job.spec->id);
    ASSERT_GT(lines.size(), 60u);
    EXPECT_NE(lines.back().message.find("1 log line is missing"), std::string::npos);
}

TEST(RunnerLog, MakesLinesFitForTheEngine) {
    using namespace std::string_literals;
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine);
    runner.handle("work", [&](auto&, Context& context) {
        context.log().info("a\0b\xFF"s, "not json");
        context.log().info(std::string(100'000, 'x'));
        return client::Outcome::succeeded();
    });

    runner.start();

    engine.wait_for_end(job.spec->id);
    const auto lines = engine.logs(job.spec->id);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].message, "ab\uFFFD");
    EXPECT_EQ(lines[0].data, "\"not json\"");
    EXPECT_EQ(lines[1].message.size(), 64u * 1024);
}

}  // namespace runner_log_test
}  // namespace sluice::worker
