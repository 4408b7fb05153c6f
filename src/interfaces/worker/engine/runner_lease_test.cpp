// A runner and its leases: renewal, cancel, an engine that is away.
#include <gtest/gtest.h>

#include "client/link/boot_time.hpp"
#include "support/runner_fixture.hpp"

namespace sluice::worker {
namespace runner_lease_test {

constexpr Millis short_lease{300};

TEST(RunnerLease, IsRenewedForAsLongAsAJobRuns) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine, {.lease = short_lease});
    std::atomic<int> renewals = 0;
    std::atomic<bool> always_later = true;
    runner.handle("work", [&](auto&, Context& context) {
        const auto first = context.leased_until();
        context.on_renewal([&, first](std::chrono::nanoseconds until) {
            ++renewals;
            if (until <= first) always_later = false;
        });
        EXPECT_FALSE(context.cancel().wait_for(short_lease * 3));
        EXPECT_GT(context.leased_until(), client::boot_now());
        return client::Outcome::succeeded();
    });

    runner.start();

    const Job ended = engine.wait_for_end(job.spec->id);
    EXPECT_EQ(ended.now.state, JobState::succeeded);
    EXPECT_EQ(ended.now.attempt, 1);
    EXPECT_GE(renewals, 3);
    EXPECT_TRUE(always_later);
}

TEST(RunnerLease, CarriesProgressSoonAfterItWasTold) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine);
    runner.handle("work", [&](auto&, Context& context) {
        context.progress(40, "nearly half");
        EXPECT_TRUE(comes_true([&] { return engine.find(job.spec->id).now.progress == 40; }));
        context.progress(300, "more than all");
        EXPECT_TRUE(comes_true([&] { return engine.find(job.spec->id).now.progress == 100; }));
        return client::Outcome::failed("E", "stop");
    });

    const auto start = std::chrono::steady_clock::now();
    runner.start();
    engine.wait_for_end(job.spec->id);

    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
    EXPECT_EQ(engine.find(job.spec->id).now.message, "more than all");
}

TEST(RunnerLease, ManyProgressCallsShareFewHeartbeats) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine);
    runner.handle("work", [&](auto&, Context& context) {
        for (int i = 0; i < 500; ++i) {
            context.progress(i / 5);
            context.cancel().wait_for(Millis(1));
        }
        return client::Outcome::succeeded();
    });

    runner.start();
    engine.wait_for_end(job.spec->id);

    EXPECT_GE(runner.desk.heartbeats, 2);
    EXPECT_LE(runner.desk.heartbeats, 20);
}

TEST(RunnerLease, ACancelReachesTheJobWithTheNextHeartbeat) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine, {.lease = short_lease});
    std::promise<void> started;
    std::promise<StopReason> reason;
    runner.handle("work", [&](auto&, Context& context) {
        started.set_value();
        reason.set_value(wait_for_stop(context));
        return client::Outcome::canceled();
    });
    runner.start();
    started.get_future().wait();

    engine.cancel(job.spec->id);

    EXPECT_EQ(reason.get_future().get(), StopReason::canceled);
    EXPECT_TRUE(comes_true([&] { return !engine.find(job.spec->id).lease; }));
    EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::canceled);
    EXPECT_EQ(runner.notices("dropped"), 0);
}

TEST(RunnerLease, ACanceledJobThatSucceedsAllTheSameStaysCanceled) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine, {.lease = short_lease});
    std::promise<void> started;
    runner.handle("work", [&](auto&, Context& context) {
        started.set_value();
        wait_for_stop(context);
        return client::Outcome::succeeded("1");
    });
    runner.start();
    started.get_future().wait();

    engine.cancel(job.spec->id);

    EXPECT_TRUE(comes_true([&] { return !engine.find(job.spec->id).lease; }));
    EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::canceled);
    EXPECT_EQ(engine.find(job.spec->id).now.result, "");
}

TEST(RunnerLease, AnEngineThatIsAwayForAWhileCostsNothing) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine, {.lease = Millis(2'000)});
    std::promise<void> started;
    std::promise<void> go_on;
    runner.handle("work", [&](auto&, Context& context) {
        context.log().info("before");
        started.set_value();
        go_on.get_future().wait();
        context.log().info("while it was away");
        return client::Outcome::succeeded("1");
    });
    runner.start();
    started.get_future().wait();

    runner.desk.is_away = true;
    go_on.set_value();
    EXPECT_TRUE(comes_true([&] { return runner.desk.log_calls >= 3; }));
    runner.desk.is_away = false;

    const Job ended = engine.wait_for_end(job.spec->id);
    EXPECT_EQ(ended.now.state, JobState::succeeded);
    EXPECT_EQ(ended.now.attempt, 1);
    EXPECT_EQ(engine.logs(job.spec->id).size(), 2u);
    EXPECT_TRUE(comes_true([&] { return runner.notices("answers again") == 1; }));
    EXPECT_EQ(runner.notices("calls to the engine fail"), 1);
    EXPECT_EQ(runner.notices("connection refused"), 1);
}

TEST(RunnerLease, AReportIsSentUntilItsAnswerCame) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine, {.lease = Millis(5'000)});
    runner.handle("work", [&](auto&, auto&) {
        runner.desk.loses_answers = true;
        return client::Outcome::succeeded("1");
    });

    runner.start();
    EXPECT_TRUE(comes_true([&] { return runner.desk.report_calls >= 3; }));
    runner.desk.loses_answers = false;
    runner.stop();
    runner.join();

    EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::succeeded);
    EXPECT_EQ(engine.events(job.spec->id).size(), 3u);  // submitted, claimed, succeeded
    EXPECT_EQ(runner.notices("dropped"), 0);
}

TEST(RunnerLease, AReportThatWaitsKeepsItsLease) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine, {.lease = short_lease});
    runner.handle("work", [&](auto&, Context& context) {
        context.log().info("the last word");
        return client::Outcome::succeeded("1");
    });
    runner.desk.loses_answers = true;

    runner.start();
    EXPECT_TRUE(comes_true([&] { return runner.desk.log_calls >= 2; }));
    runner.desk.loses_answers = false;

    EXPECT_EQ(engine.wait_for_end(job.spec->id).now.state, JobState::succeeded);
    EXPECT_EQ(engine.logs(job.spec->id).size(), 1u);
}

TEST(RunnerLease, AnOutcomeIsDroppedWhenTheLeaseIsOver) {
    RunningEngine engine;
    JobSpec wanted = spec("work");
    wanted.max_attempts = 2;
    const Job job = engine.submit(wanted);
    RunningRunner runner(engine, {.lease = short_lease});
    std::promise<StopReason> reason;
    std::atomic<int> runs = 0;
    runner.handle("work", [&](auto&, Context& context) {
        if (++runs > 1) return client::Outcome::succeeded("2");
        runner.desk.is_away = true;
        reason.set_value(wait_for_stop(context));
        EXPECT_LE(context.leased_until(), client::boot_now());
        runner.desk.is_away = false;
        return client::Outcome::succeeded("1");
    });

    runner.start();

    EXPECT_EQ(reason.get_future().get(), StopReason::lease_lost);
    const Job ended = engine.wait_for_end(job.spec->id);
    EXPECT_EQ(ended.now.result, "2");
    EXPECT_EQ(ended.now.attempt, 2);
    EXPECT_EQ(runner.notices("outcome is dropped"), 1);
}

TEST(RunnerLease, AFinishedOutcomeIsDroppedWhenTheLeaseIsOver) {
    RunningEngine engine;
    const Job job = engine.submit(spec("work"));
    RunningRunner runner(engine, {.lease = short_lease});
    runner.handle("work", [&](auto&, auto&) {
        runner.desk.is_away = true;
        return client::Outcome::succeeded("1");
    });

    runner.start();

    EXPECT_TRUE(comes_true([&] { return runner.notices("outcome is dropped") == 1; }));
    const int calls = runner.desk.report_calls;
    EXPECT_GE(calls, 2);
    EXPECT_EQ(engine.wait_for_end(job.spec->id).now.error_code, lease_expired_code);
    runner.stop();
    runner.join();
    EXPECT_LE(runner.desk.report_calls, calls + 1);
}

TEST(RunnerLease, AReportThatIsRefusedDoesNotHoldUpTheOthers) {
    RunningEngine engine;
    const auto jobs = engine.submit_all(std::vector<JobSpec>(3, spec("work")));
    RunningRunner runner(engine, {.concurrency = 3});
    runner.handle("work", [&](auto&, auto&) { return client::Outcome::succeeded(); });
    runner.desk.refuses_reports = true;

    runner.start();
    EXPECT_TRUE(comes_true([&] { return runner.notices("dropped: too much") == 3; }));
    runner.desk.refuses_reports = false;

    EXPECT_EQ(engine.wait_for_end(engine.submit(spec("work")).spec->id).now.state,
              JobState::succeeded);
}

TEST(RunnerLease, AnOutcomeThatIsRefusedMakesTheJobFail) {
    RunningEngine engine;
    std::vector<JobSpec> wanted(4, spec("bare"));
    wanted[1] = wanted[2] = spec("full");
    wanted[1].max_attempts = wanted[2].max_attempts = 3;
    const auto jobs = engine.submit_all(wanted);
    RunningRunner runner(engine, {.concurrency = 4});
    runner.handle("bare", [&](auto&, auto&) { return client::Outcome::succeeded(); });
    runner.handle("full", [&](auto&, auto&) { return client::Outcome::succeeded("1"); });
    runner.desk.refuses_results = true;

    runner.start();

    EXPECT_EQ(engine.wait_for_end(jobs[0].spec->id).now.state, JobState::succeeded);
    EXPECT_EQ(engine.wait_for_end(jobs[3].spec->id).now.state, JobState::succeeded);
    for (const Job& job : {jobs[1], jobs[2]}) {
        const Job ended = engine.wait_for_end(job.spec->id);
        EXPECT_EQ(ended.now.state, JobState::failed);
        EXPECT_EQ(ended.now.attempt, 1);
        EXPECT_EQ(ended.now.error_code, "REPORT_REFUSED");
        EXPECT_NE(ended.now.error_message.find("too much"), std::string::npos);
    }
}

TEST(RunnerLease, ClaimsGoOnWhenTheEngineIsBackAndDoNotSpinMeanwhile) {
    RunningEngine engine;
    RunningRunner runner(engine);
    runner.handle("work", [&](auto&, auto&) { return client::Outcome::succeeded(); });
    runner.desk.is_away = true;

    runner.start();
    EXPECT_TRUE(comes_true([&] { return runner.desk.claims >= 3; }));
    EXPECT_LE(runner.desk.claims, 4);
    runner.desk.is_away = false;

    EXPECT_EQ(engine.wait_for_end(engine.submit(spec("work")).spec->id).now.state,
              JobState::succeeded);
    EXPECT_EQ(runner.notices("calls to the engine fail"), 1);
    EXPECT_EQ(runner.notices("answers again"), 1);
}

TEST(RunnerLease, AnEngineThatLetsNobodyWaitIsNotAskedAllTheTime) {
    RunningEngine engine;
    RunningRunner runner(engine);
    runner.handle("work", [&](auto&, auto&) { return client::Outcome::succeeded(); });
    engine.stop_waiting();

    runner.start();
    EXPECT_TRUE(comes_true([&] { return runner.desk.claims >= 3; }));
    const int before = runner.desk.claims;
    std::this_thread::sleep_for(Millis(100));

    EXPECT_LE(runner.desk.claims, before + 1);
}

TEST(RunnerLease, AnAttemptThatIsRetriedAfterItsDeadlineIsReportedAsTimedOut) {
    RunningEngine engine;
    JobSpec wanted = spec("work");
    wanted.timeout = Millis(50);
    wanted.max_attempts = 2;
    wanted.retry_on_timeout = true;
    const Job job = engine.submit(wanted);
    RunningRunner runner(engine, {.lease = short_lease});
    runner.handle("work", [&](const client::Job& told, Context& context) {
        if (told.attempt == 1) wait_for_stop(context);
        return client::Outcome::succeeded("2");
    });

    runner.start();

    const Job ended = engine.wait_for_end(job.spec->id);
    EXPECT_EQ(ended.now.state, JobState::succeeded);
    EXPECT_EQ(ended.now.attempt, 2);
}

}  // namespace runner_lease_test
}  // namespace sluice::worker
