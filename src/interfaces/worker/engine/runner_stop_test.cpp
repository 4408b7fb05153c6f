// The stop of a runner.
#include <gtest/gtest.h>
#include <signal.h>

#include "support/runner_fixture.hpp"

namespace sluice::worker {
namespace runner_stop_test {

// Starts a job and waits until it runs.
class RunnerStop : public testing::Test {
  protected:
    void start(client::RunnerOptions options, FunctionWorker::Function work) {
        job_ = engine_.submit(wanted_);
        runner_ = std::make_unique<RunningRunner>(engine_, std::move(options));
        runner_->handle("work", [this, work](const client::Job& job, Context& context) {
            started_.set_value();
            return work(job, context);
        });
        runner_->start();
        started_.get_future().wait();
    }
    void stop() {
        runner_->stop();
        runner_->join();
    }
    Job now() { return engine_.find(job_.spec->id); }

    RunningEngine engine_;
    JobSpec wanted_ = spec("work");
    Job job_;
    std::promise<void> started_;
    std::unique_ptr<RunningRunner> runner_;
};

TEST_F(RunnerStop, LetsARunningJobFinish) {
    start({}, [](auto&, Context& context) {
        EXPECT_FALSE(context.cancel().wait_for(Millis(100)));
        context.log().info("done");
        return client::Outcome::succeeded("1");
    });

    stop();

    EXPECT_EQ(now().now.state, JobState::succeeded);
    EXPECT_EQ(engine_.logs(job_.spec->id).size(), 1u);
}

TEST_F(RunnerStop, EndsAtOnceWhenNothingRuns) {
    RunningRunner runner(engine_);
    runner.handle("work", [](auto&, auto&) { return client::Outcome::succeeded(); });
    runner.start();
    EXPECT_TRUE(comes_true([&] { return runner.desk.claims > 0; }));

    const auto before = std::chrono::steady_clock::now();
    runner.stop();
    runner.join();

    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(1));
}

TEST_F(RunnerStop, BeforeTheStartMeansNoStart) {
    const Job job = engine_.submit(spec("work"));
    RunningRunner runner(engine_);
    runner.handle("work", [](auto&, auto&) { return client::Outcome::succeeded(); });

    runner.stop();
    runner.start();
    runner.join();

    EXPECT_EQ(engine_.find(job.spec->id).now.state, JobState::queued);
}

TEST_F(RunnerStop, HandsBackAJobThatDoesNotFinishInTime) {
    start({.shutdown_grace = Millis(50)}, [](auto&, Context& context) {
        EXPECT_EQ(wait_for_stop(context), StopReason::shutdown);
        return client::Outcome::failed("E", "was interrupted");
    });

    stop();

    EXPECT_EQ(now().now.state, JobState::queued);
    EXPECT_EQ(now().now.attempt, 0);
    EXPECT_EQ(engine_.events(job_.spec->id).back().step, Step::handed_back);
}

TEST_F(RunnerStop, NowDoesNotWaitForJobs) {
    start({}, [](auto&, Context& context) {
        EXPECT_EQ(wait_for_stop(context), StopReason::shutdown);
        return client::Outcome::canceled();
    });

    runner_->stop();
    runner_->stop_now();
    runner_->join();

    EXPECT_EQ(now().now.state, JobState::queued);
}

TEST_F(RunnerStop, ReportsWhatFinishedAlthoughItWasToldToStop) {
    start({.shutdown_grace = Millis(0)}, [](auto&, Context& context) {
        wait_for_stop(context);
        return client::Outcome::succeeded("1");
    });

    stop();

    EXPECT_EQ(now().now.state, JobState::succeeded);
}

TEST_F(RunnerStop, ReportsAFailureThatNoRetryCanMend) {
    wanted_.max_attempts = 3;
    start({.shutdown_grace = Millis(0)}, [](auto&, Context& context) {
        wait_for_stop(context);
        return client::Outcome::failed("BAD_INPUT", "cannot be read", false);
    });

    stop();

    EXPECT_EQ(now().now.state, JobState::failed);
    EXPECT_EQ(now().now.error_code, "BAD_INPUT");
}

TEST_F(RunnerStop, LeavesAJobThatDoesNotStopToItsLease) {
    auto let_go = std::make_shared<std::promise<void>>();
    auto has_returned = std::make_shared<std::promise<void>>();
    start({.shutdown_grace = Millis(0), .stop_patience = Millis(50)},
          [let_go, has_returned](auto&, Context& context) {
              let_go->get_future().wait();
              context.log().info("too late");
              context.progress(50, "too late");
              has_returned->set_value();
              return client::Outcome::succeeded("1");
          });

    stop();

    EXPECT_EQ(runner_->notices("does not stop"), 1);
    runner_.reset();
    EXPECT_EQ(now().now.state, JobState::running);
    let_go->set_value();
    has_returned->get_future().wait();
    std::this_thread::sleep_for(Millis(20));
    EXPECT_EQ(now().now.state, JobState::running);
    EXPECT_TRUE(engine_.logs(job_.spec->id).empty());
}

TEST_F(RunnerStop, WaitsForAReportThatTheEngineHasNotTakenYet) {
    start({.lease = Millis(5'000)}, [this](auto&, auto&) {
        runner_->desk.is_away = true;
        return client::Outcome::succeeded("1");
    });
    EXPECT_TRUE(comes_true([&] { return runner_->desk.report_calls > 0; }));

    runner_->stop();
    EXPECT_TRUE(comes_true([&] { return runner_->desk.report_calls > 1; }));
    EXPECT_FALSE(runner_->has_ended);
    runner_->desk.is_away = false;
    runner_->join();

    EXPECT_EQ(now().now.state, JobState::succeeded);
}

TEST_F(RunnerStop, DoesNotWaitForAnEngineLongerThanTheLease) {
    start({.lease = Millis(300)}, [this](auto&, auto&) {
        runner_->desk.is_away = true;
        return client::Outcome::succeeded("1");
    });

    stop();

    EXPECT_EQ(runner_->notices("outcome is dropped"), 1);
}

TEST_F(RunnerStop, IsSafeInASignalHandler) {
    static std::atomic<RunningRunner*> to_stop;
    start({.shutdown_grace = Millis(0)}, [](auto&, Context& context) {
        wait_for_stop(context);
        return client::Outcome::canceled();
    });
    to_stop = runner_.get();
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = [](int) { to_stop.load()->stop(); };
    sigaction(SIGUSR1, &action, &before);

    raise(SIGUSR1);
    runner_->join();
    sigaction(SIGUSR1, &before, nullptr);

    EXPECT_EQ(now().now.state, JobState::queued);
}

}  // namespace runner_stop_test
}  // namespace sluice::worker
