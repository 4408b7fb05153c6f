#include "interfaces/worker/engine/engine_desk.hpp"

#include <gtest/gtest.h>

#include "support/runner_fixture.hpp"

namespace sluice::worker {
namespace engine_desk_test {

using client::LeaseAnswer;

class EngineDeskTest : public testing::Test {
  protected:
    client::ClaimRequest request(Millis wait = Millis(0)) {
        return {.worker_id = "w", .limit = 10, .lease = Millis(30'000), .wait = wait};
    }

    RunningEngine engine;
    std::unique_ptr<client::Desk> desk =
        engine_desk(engine.commands(), engine.clock(),
                    [this](std::function<void()> task) { engine.on_io_thread(std::move(task)); });
};

TEST_F(EngineDeskTest, TellsEverythingAboutAJob) {
    JobSpec wanted = spec("work");
    wanted.project = "p";
    wanted.queue = "q";
    wanted.priority = 7;
    wanted.timeout = Millis(1234);
    wanted.max_attempts = 3;
    wanted.entity_type = "release";
    wanted.entity_id = "r1";
    wanted.site_id = "s1";
    wanted.node_id = "n1";
    wanted.exclusive_keys = {"k"};
    wanted.labels = {"gpu"};
    wanted.source = "src";
    wanted.correlation_id = "corr";
    wanted.payload = R"({"a" : 1})";
    const Job job = engine.submit(wanted);

    client::ClaimRequest claim = request();
    claim.labels = {"ssd", "gpu", "gpu"};
    const auto leased = desk->claim(claim);

    ASSERT_EQ(leased.size(), 1u);
    const client::Job& told = leased[0].job;
    EXPECT_EQ(leased[0].lease_id.substr(0, 24), to_text(job.spec->id));
    EXPECT_EQ(told.id, to_text(job.spec->id));
    EXPECT_EQ(told.tenant, "default");
    EXPECT_EQ(told.project, "p");
    EXPECT_EQ(told.queue, "q");
    EXPECT_EQ(told.type, "work");
    EXPECT_EQ(told.state, client::State::running);
    EXPECT_EQ(told.priority, 7);
    EXPECT_EQ(told.timeout, Millis(1234));
    EXPECT_EQ(told.max_attempts, 3);
    EXPECT_EQ(told.attempt, 1);
    EXPECT_EQ(told.entity_type, "release");
    EXPECT_EQ(told.entity_id, "r1");
    EXPECT_EQ(told.site_id, "s1");
    EXPECT_EQ(told.node_id, "n1");
    EXPECT_EQ(told.exclusive_keys, std::vector<std::string>{"k"});
    EXPECT_EQ(told.labels, std::vector<std::string>{"gpu"});
    EXPECT_EQ(told.source, "src");
    EXPECT_EQ(told.correlation_id, "corr");
    EXPECT_EQ(told.payload, R"({"a" : 1})");
    EXPECT_TRUE(told.started_at);
    EXPECT_TRUE(told.lease_until);
}

TEST_F(EngineDeskTest, AClaimWaitsForAJob) {
    auto claimed =
        std::async(std::launch::async, [&] { return desk->claim(request(Millis(5'000))); });
    ASSERT_EQ(claimed.wait_for(Millis(20)), std::future_status::timeout);

    const Job job = engine.submit(spec("work"));

    const auto leased = claimed.get();
    ASSERT_EQ(leased.size(), 1u);
    EXPECT_EQ(leased[0].job.id, to_text(job.spec->id));
}

TEST_F(EngineDeskTest, StopWaitingEndsAClaimAtOnceAndLetsNoOtherWait) {
    auto claimed =
        std::async(std::launch::async, [&] { return desk->claim(request(Millis(5'000))); });
    ASSERT_EQ(claimed.wait_for(Millis(20)), std::future_status::timeout);

    desk->stop_waiting();

    ASSERT_EQ(claimed.wait_for(Millis(1'000)), std::future_status::ready);
    EXPECT_TRUE(claimed.get().empty());
    EXPECT_TRUE(desk->claim(request(Millis(5'000))).empty());
}

TEST_F(EngineDeskTest, SaysWhatTheEngineSaysAboutALease) {
    const Job job = engine.submit(spec("work"));
    const std::string lease = desk->claim(request()).at(0).lease_id;
    const client::HeartbeatRequest beat{.lease_id = lease};
    const client::ReportRequest success{lease, client::Outcome::succeeded("1")};
    const client::ReportRequest failure{lease, client::Outcome::failed("E", "e", false)};

    EXPECT_EQ(desk->heartbeat({&beat, 1}).at(0), LeaseAnswer::held);
    engine.cancel(job.spec->id);
    EXPECT_EQ(desk->heartbeat({&beat, 1}).at(0), LeaseAnswer::stop_requested);
    EXPECT_EQ(desk->report({&success, 1}).at(0), LeaseAnswer::refused);
    EXPECT_EQ(desk->heartbeat({&beat, 1}).at(0), LeaseAnswer::lost);
    EXPECT_EQ(desk->report({&failure, 1}).at(0), LeaseAnswer::refused);
    EXPECT_EQ(desk->release(lease, "why not"), LeaseAnswer::lost);
}

TEST_F(EngineDeskTest, HandsAJobBack) {
    const Job job = engine.submit(spec("work"));
    const std::string lease = desk->claim(request()).at(0).lease_id;

    EXPECT_EQ(desk->release(lease, "no time"), LeaseAnswer::held);

    EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::queued);
}

TEST_F(EngineDeskTest, AnIoThreadThatDropsItsTasksIsUnavailable) {
    const auto dropping =
        engine_desk(engine.commands(), engine.clock(), [](const std::function<void()>&) {});

    try {
        dropping->claim(request());
        FAIL() << "it has answered";
    } catch (const client::Error& error) {
        EXPECT_TRUE(error.may_be_repeated());
    }
}

TEST_F(EngineDeskTest, RefusesALeaseIdThatIsNone) {
    EXPECT_THROW(desk->release("abc", ""), client::Error);
}

}  // namespace engine_desk_test
}  // namespace sluice::worker
