// A worker whose token is bound to a tenant or to job types cannot change other jobs, and learns
// nothing about them.
#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace worker_bounds_test {

const WorkerBounds elsewhere{.tenant = "other"};
const WorkerBounds other_types{.tenant = "default", .types = {"build", "deploy"}};

class OutOfBounds : public testing::TestWithParam<WorkerBounds> {
  protected:
    // Refused like a lease of a job that does not exist, and nothing has changed.
    template <class Command>
    void expect_unknown(Command command) {
        command.lease = lease_of(job);
        command.bounds = GetParam();
        const auto answer = engine.ask(command);
        command.lease = LeaseId{JobId{5}, LeaseToken{6}};
        const auto unknown = engine.ask(command);
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, ErrorCode::not_found);
        EXPECT_EQ(answer.error().message, unknown.error().message);
        EXPECT_EQ(engine.find(job.spec->id), before);
    }

    TestEngine engine;
    Job job = engine.start(spec());
    Job before = engine.find(job.spec->id);
};

INSTANTIATE_TEST_SUITE_P(Bounds, OutOfBounds, testing::Values(elsewhere, other_types));

TEST_P(OutOfBounds, AHeartbeatIsRefused) {
    expect_unknown(Heartbeat{.progress = 50, .message = "mine"});
}

TEST_P(OutOfBounds, LogLinesAreRefused) {
    AppendLogs logs;
    logs.entries.push_back({.message = "mine"});
    expect_unknown(logs);
}

TEST_P(OutOfBounds, AReportIsRefused) {
    expect_unknown(Report{.outcome = Outcome::succeeded});
}

TEST_P(OutOfBounds, AJobIsNotGivenBack) {
    expect_unknown(HandBack{});
}

TEST_P(OutOfBounds, ARepeatedReportIsRefusedToo) {
    engine.report(job, Outcome::succeeded);
    before = engine.find(job.spec->id);
    expect_unknown(Report{.outcome = Outcome::succeeded});
}

TEST(WithinBounds, AWorkerIsHeard) {
    TestEngine engine;
    JobSpec wanted = spec();
    wanted.type = "build";
    const Job job = engine.start(wanted);

    const auto answer = engine.ask(
        Report{.lease = lease_of(job), .outcome = Outcome::succeeded, .bounds = other_types});

    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->now.state, JobState::succeeded);
}

}  // namespace worker_bounds_test
}  // namespace sluice
