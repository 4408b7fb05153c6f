// The runner as seed 000 describes it; the numbers are those of its section 9.
#include "client/runner/runner.hpp"

#include <gtest/gtest.h>

#include "support/runner_fixture.hpp"

namespace sluice::worker {
namespace runner_test {

TEST(Runner, Seed000Case01_AJobStartsQueuedAndEmpty) {
    RunningEngine engine;

    const Job job = engine.submit(spec("work"));

    EXPECT_EQ(job.now.state, JobState::queued);
    EXPECT_EQ(job.now.attempt, 0);
    EXPECT_TRUE(job.now.result.empty());
    EXPECT_FALSE(job.now.started_at);
    EXPECT_FALSE(job.now.completed_at);
}

TEST(Runner, Seed000Case02_FinalStatesAreTold) {
    using client::State;
    for (const State state : {State::succeeded, State::failed, State::canceled, State::timed_out}) {
        EXPECT_TRUE(client::is_final(state));
    }
    EXPECT_FALSE(client::is_final(State::queued));
    EXPECT_FALSE(client::is_final(State::running));
}

TEST(Runner, Seed000Case03_NamesRoundTrip) {
    using client::State;
    for (const State state : {State::queued, State::running, State::succeeded, State::failed,
                              State::canceled, State::timed_out}) {
        EXPECT_EQ(client::parse_state(client::to_text(state)), state);
    }
    for (const Level level : {Level::info, Level::warn, Level::error}) {
        const auto parsed = parse_log_level(client::to_text(level));
        ASSERT_TRUE(parsed);
        EXPECT_EQ(to_text(*parsed), client::to_text(level));
    }
}

TEST(Runner, Seed000Case07_TheOldestJobRunsFirst) {
    RunningEngine engine;
    const Job older = engine.submit(spec("work"));
    const Job newer = engine.submit(spec("work"));
    RunningRunner runner(engine);
    std::mutex mutex;
    std::vector<std::string> order;
    runner.handle("work", [&](const client::Job& job, Context&) {
        const std::lock_guard lock(mutex);
        order.push_back(job.id);
        return client::Outcome::succeeded();
    });

    runner.start();

    engine.wait_for_end(newer.spec->id);
    const std::lock_guard lock(mutex);
    EXPECT_EQ(order, (std::vector{to_text(older.spec->id), to_text(newer.spec->id)}));
}

TEST(Runner, Seed000Case08_SuccessIsStoredWithItsResult) {
    RunningEngine engine;
    JobSpec wanted = spec("work");
    wanted.payload = R"({"n": 1})";
    const Job job = engine.submit(wanted);
    RunningRunner runner(engine);
    std::promise<client::Job> seen;
    runner.handle("work", [&](const client::Job& told, Context&) {
        seen.set_value(told);
        return client::Outcome::succeeded(R"({"ok": true})");
    });

    runner.start();

    const Job ended = engine.wait_for_end(job.spec->id);
    EXPECT_EQ(ended.now.state, JobState::succeeded);
    EXPECT_EQ(ended.now.result, R"({"ok": true})");
    EXPECT_TRUE(ended.now.completed_at);
    const client::Job told = seen.get_future().get();
    EXPECT_EQ(told.id, to_text(job.spec->id));
    EXPECT_EQ(told.payload, wanted.payload);
    EXPECT_EQ(told.attempt, 1);
    EXPECT_EQ(told.state, client::State::running);
    EXPECT_EQ(told.locked_by, "test-worker");
}

TEST(Runner, Seed000Case09_FailureIsStoredWithItsError) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine);
    runner.handle("work", [](auto&, auto&) {
        return client::Outcome::failed("DISK_FULL", "no space is left");
    });

    runner.start();

    const Job ended = engine.wait_for_end(job.spec->id);
    EXPECT_EQ(ended.now.state, JobState::failed);
    EXPECT_EQ(ended.now.error_code, "DISK_FULL");
    EXPECT_EQ(ended.now.error_message, "no space is left");
    EXPECT_TRUE(ended.now.completed_at);
}

TEST(Runner, Seed000Case10_ARetryGoesBackToTheQueueAndCounts) {
    RunningEngine engine;
    JobSpec wanted = spec("work");
    wanted.max_attempts = 3;
    wanted.backoff = Backoff::list({std::chrono::hours(1)});
    const Job job = engine.submit(wanted);
    RunningRunner runner(engine);
    runner.handle("work", [](auto&, auto&) { return client::Outcome::failed("E", "not now"); });

    runner.start();

    EXPECT_TRUE(comes_true([&] { return engine.events(job.spec->id).size() == 3; }));
    const Job after = engine.find(job.spec->id);
    EXPECT_EQ(after.now.state, JobState::queued);
    EXPECT_EQ(after.now.attempt, 1);
    EXPECT_FALSE(after.now.started_at);
}

TEST(Runner, Seed000Case11_TheLastAttemptFailsForGood) {
    RunningEngine engine;
    JobSpec wanted = spec("work");
    wanted.max_attempts = 2;
    const Job job = engine.submit(wanted);
    RunningRunner runner(engine);
    runner.handle("work", [](auto&, auto&) { return client::Outcome::failed("E", "never"); });

    runner.start();

    const Job ended = engine.wait_for_end(job.spec->id);
    EXPECT_EQ(ended.now.state, JobState::failed);
    EXPECT_EQ(ended.now.attempt, 2);
    EXPECT_EQ(ended.now.error_message, "never");
}

TEST(Runner, Seed000Case12_TimeoutEndsARunningJob) {
    RunningEngine engine;
    JobSpec wanted = spec("work");
    wanted.timeout = std::chrono::milliseconds(50);
    const Job job = engine.submit(wanted);
    RunningRunner runner(engine);
    std::promise<StopReason> reason;
    runner.handle("work", [&](auto&, Context& context) {
        reason.set_value(wait_for_stop(context));
        return client::Outcome::succeeded();
    });

    runner.start();

    EXPECT_EQ(reason.get_future().get(), StopReason::deadline);
    const Job ended = engine.wait_for_end(job.spec->id);
    EXPECT_EQ(ended.now.state, JobState::timed_out);
    EXPECT_EQ(ended.now.error_code, job_timeout_code);
    EXPECT_TRUE(comes_true([&] { return !engine.find(job.spec->id).lease; }));
    const auto lines = engine.logs(job.spec->id);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].level, LogLevel::error);
    EXPECT_EQ(lines[0].message, "job timed out after 50ms");
}

TEST(Runner, Seed000Case13_TwoRunnersNeverRunOneJobTwice) {
    RunningEngine engine;
    std::vector<JobSpec> wanted(200, spec("work"));
    RunningRunner one(engine, {.worker_id = "one", .concurrency = 4});
    RunningRunner two(engine, {.worker_id = "two", .concurrency = 4});
    std::mutex mutex;
    std::map<std::string, int> runs;
    for (RunningRunner* runner : {&one, &two}) {
        runner->handle("work", [&](const client::Job& job, Context&) {
            const std::lock_guard lock(mutex);
            ++runs[job.id];
            return client::Outcome::succeeded();
        });
        runner->start();
    }

    const std::vector<Job> jobs = engine.submit_all(std::move(wanted));

    for (const Job& job : jobs) {
        const Job ended = engine.wait_for_end(job.spec->id);
        EXPECT_EQ(ended.now.state, JobState::succeeded);
        EXPECT_EQ(ended.now.attempt, 1);
    }
    const std::lock_guard lock(mutex);
    EXPECT_EQ(runs.size(), jobs.size());
    for (const auto& [id, count] : runs) EXPECT_EQ(count, 1) << id;
}

TEST(Runner, Seed000Case14_LogLinesComeInOrderWithTheirLevels) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine);
    runner.handle("work", [](auto&, Context& context) {
        context.log().info("starting", R"({"step":1})");
        context.log().warn("slow");
        context.log().error("broken");
        return client::Outcome::succeeded();
    });

    runner.start();

    engine.wait_for_end(job.spec->id);
    const auto lines = engine.logs(job.spec->id);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0].message, "starting");
    EXPECT_EQ(lines[0].level, LogLevel::info);
    EXPECT_EQ(lines[0].data, R"({"step":1})");
    EXPECT_EQ(lines[1].message, "slow");
    EXPECT_EQ(lines[1].level, LogLevel::warn);
    EXPECT_EQ(lines[2].message, "broken");
    EXPECT_EQ(lines[2].level, LogLevel::error);
    EXPECT_LE(lines[0].at, lines[2].at);
}

TEST(Runner, FailsAJobOfATypeThatNobodyRegistered) {
    RunningEngine engine;
    JobSpec wanted = spec("unheard_of");
    wanted.max_attempts = 5;
    const Job job = engine.submit(wanted);
    RunningRunner runner(engine, {.types = {"work", "unheard_of"}});
    runner.handle("work", [](auto&, auto&) { return client::Outcome::succeeded(); });

    runner.start();

    const Job ended = engine.wait_for_end(job.spec->id);
    EXPECT_EQ(ended.now.state, JobState::failed);
    EXPECT_EQ(ended.now.attempt, 1);
    EXPECT_EQ(ended.now.error_code, "NO_WORKER");
    EXPECT_EQ(ended.now.error_message, "no worker registered for job type unheard_of");
}

TEST(Runner, ClaimsOnlyTypesThatItHasWorkersFor) {
    RunningEngine engine;
    const Job other = engine.submit(spec("other"));
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine);
    runner.handle("work", [](auto&, auto&) { return client::Outcome::succeeded(); });

    runner.start();

    engine.wait_for_end(job.spec->id);
    EXPECT_EQ(engine.find(other.spec->id).now.state, JobState::queued);
}

TEST(Runner, GivesEveryOtherTypeToTheWorkerForAny) {
    RunningEngine engine;
    const Job other = engine.submit(spec("other"));
    RunningRunner runner(engine);
    runner.handle_any([](const client::Job& job, auto&) {
        return client::Outcome::succeeded("\"" + job.type + "\"");
    });

    runner.start();

    EXPECT_EQ(engine.wait_for_end(other.spec->id).now.result, "\"other\"");
}

TEST(Runner, RetriesAfterAnException) {
    RunningEngine engine;
    JobSpec wanted = spec("work");
    wanted.max_attempts = 2;
    const Job job = engine.submit(wanted);
    RunningRunner runner(engine);
    runner.handle("work", [](const client::Job& told, auto&) -> client::Outcome {
        if (told.attempt == 1) throw 7;
        throw std::runtime_error("cannot go on");
    });

    runner.start();

    const Job ended = engine.wait_for_end(job.spec->id);
    EXPECT_EQ(ended.now.attempt, 2);
    EXPECT_EQ(ended.now.error_code, "WORKER_EXCEPTION");
    EXPECT_EQ(ended.now.error_message, "cannot go on");
}

TEST(Runner, RefusesAResultThatIsNotJson) {
    RunningEngine engine;
    JobSpec wanted = spec("work");
    wanted.max_attempts = 5;
    const Job job = engine.submit(wanted);
    RunningRunner runner(engine);
    runner.handle("work", [](auto&, auto&) { return client::Outcome::succeeded("{oops"); });

    runner.start();

    const Job ended = engine.wait_for_end(job.spec->id);
    EXPECT_EQ(ended.now.state, JobState::failed);
    EXPECT_EQ(ended.now.attempt, 1);
    EXPECT_EQ(ended.now.error_code, "INVALID_RESULT");
    EXPECT_NE(ended.now.error_message.find("not JSON"), std::string::npos);
}

TEST(Runner, RunsAsManyJobsAtOnceAsItMay) {
    RunningEngine engine;
    const auto jobs = engine.submit_all(std::vector<JobSpec>(12, spec("work")));
    RunningRunner runner(engine, {.concurrency = 4});
    std::atomic<int> running = 0;
    std::atomic<int> most = 0;
    runner.handle("work", [&](auto&, Context& context) {
        const int now = ++running;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        context.cancel().wait_for(Millis(20));
        --running;
        return client::Outcome::succeeded();
    });

    runner.start();

    for (const Job& job : jobs) engine.wait_for_end(job.spec->id);
    EXPECT_EQ(most, 4);
}

TEST(Runner, NeverClaimsMoreThanOneAnswerCanHold) {
    RunningEngine engine;
    RunningRunner runner(engine, {.concurrency = 1000});
    runner.handle("work", [](auto&, auto&) { return client::Outcome::succeeded(); });

    runner.start();

    EXPECT_TRUE(comes_true([&] { return runner.desk.claims > 0; }));
    EXPECT_EQ(runner.desk.most_claimed, 200);
}

TEST(Runner, TakesTimesOfAnyLength) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine, {.lease = Millis(24 * 3'600'000),
                                  .shutdown_grace = Millis::max(),
                                  .stop_patience = Millis::max()});
    std::promise<void> started;
    runner.handle("work", [&](auto&, Context& context) {
        started.set_value();
        EXPECT_FALSE(context.cancel().wait_for(Millis(100)));
        return client::Outcome::succeeded();
    });
    runner.start();
    started.get_future().wait();

    runner.stop();
    runner.join();

    EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::succeeded);
}

TEST(Runner, RefusesOptionsThatMakeNoSense) {
    RunningEngine engine;
    RunningRunner idle(engine);
    RunningRunner none_at_once(engine, {.concurrency = 0});
    none_at_once.handle("work", [](auto&, auto&) { return client::Outcome::succeeded(); });

    for (RunningRunner* runner : {&idle, &none_at_once}) {
        runner->start();
        EXPECT_THROW(runner->join(), client::Error);
    }
}

}  // namespace runner_test
}  // namespace sluice::worker
