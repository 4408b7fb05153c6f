// Seed 004: jobs whose runners go silent, run too long, or are told to stop; and all jobs when the
// engine dies.
#include <thread>

#include "conformance/deploy.hpp"

namespace sluice::e2e {
namespace deploy_leases_test {

using DeployLeases = DeployTest;

TEST_F(DeployLeases, AJobWhoseRunnerWentSilentIsPendingAgain) {
    const std::string id = api.running("silent", {}, {{"leaseSeconds", 1}}).id();
    ASSERT_TRUE(api.reaches(id, "PENDING"));
    expect_stop(api.heartbeat(id, "silent"), "PENDING");
    expect_code(api.report(id, "silent", "SUCCEEDED"), 409);
    ASSERT_EQ(api.claim("next").id(), id);

    expect_code(api.heartbeat(id, "silent"), 409);
    expect_code(api.report(id, "silent", "SUCCEEDED"), 409);

    EXPECT_EQ(api.job(id).text("runnerId"), "next");
    EXPECT_EQ(api.report(id, "next", "SUCCEEDED").text("status"), "SUCCEEDED");
    expect_code(api.report(id, "silent", "SUCCEEDED"), 409);
}

TEST_F(DeployLeases, AnAttemptFencesTheOldRunOfARunnerThatCameBackUnderItsName) {
    const DeployAnswer first = api.running("r", {}, {{"leaseSeconds", 1}});
    ASSERT_TRUE(api.reaches(first.id(), "PENDING"));
    const DeployAnswer second = api.claim("r");
    ASSERT_EQ(second.id(), first.id());
    const Json old_run = at(at(first.data, "payload"), "attempt");
    const Json new_run = at(at(second.data, "payload"), "attempt");
    ASSERT_NE(old_run, new_run);

    expect_code(api.heartbeat(first.id(), "r", {{"attempt", old_run}}), 409);
    expect_code(api.report(first.id(), "r", "FAILED", {{"attempt", old_run}}), 409);

    expect_code(api.heartbeat(first.id(), "r", {{"attempt", new_run}}), 200);
    EXPECT_EQ(api.report(first.id(), "r", "SUCCEEDED", {{"attempt", new_run}}).text("status"),
              "SUCCEEDED");
    expect_code(api.report(first.id(), "r", "SUCCEEDED", {{"attempt", old_run}}), 409);
    EXPECT_EQ(api.status(first.id()), "SUCCEEDED");
}

TEST_F(DeployLeases, WithoutAnAttemptARunnersWordCountsForItsLastClaim) {
    const std::string id = api.running("r", {}, {{"leaseSeconds", 1}}).id();
    ASSERT_TRUE(api.reaches(id, "PENDING"));
    expect_code(api.report(id, "r", "FAILED"), 409);
    ASSERT_EQ(api.claim("r").id(), id);

    EXPECT_EQ(api.report(id, "r", "SUCCEEDED").text("status"), "SUCCEEDED");

    expect_code(api.report(id, "r", "FAILED"), 409);
    EXPECT_EQ(api.status(id), "SUCCEEDED");
}

TEST_F(DeployLeases, AHeartbeatInTimeKeepsTheJob) {
    const std::string id = api.running("r", {}, {{"leaseSeconds", 2}}).id();
    const auto start = std::chrono::steady_clock::now();

    while (since(start) < Millis(3000)) {
        ASSERT_EQ(api.heartbeat(id, "r", {{"extendSeconds", 2}}).text("status"), "RUNNING");
        std::this_thread::sleep_for(Millis(250));
    }
    EXPECT_EQ(api.report(id, "r", "SUCCEEDED").text("status"), "SUCCEEDED");
}

TEST_F(DeployLeases, ACancelledJobKeepsItsAppToItselfUntilItsRunnerHasStopped) {
    const Fields app{{"appId", fresh_name("app")}};
    const std::string first = api.running("r", app).id();
    api.cancel(first);
    const std::string second = api.create(app).id();
    EXPECT_TRUE(api.claim("other").data.is_null()) << "the first runner may still be at it";

    expect_code(api.report(first, "r", "CANCELLED"), 200);

    EXPECT_EQ(api.claim("other").id(), second);
}

TEST_F(DeployLeases, AJobThatTheControlPlaneEndedKeepsItsAppToItselfUntilItsRunnerHasStopped) {
    for (const char* status : {"FAILED", "SUCCEEDED"}) {
        const Fields app{{"appId", fresh_name("app")}};
        const std::string first = api.running("r", app).id();
        EXPECT_EQ(api.transition(first, status).text("status"), status);
        const std::string second = api.create(app).id();
        EXPECT_TRUE(api.claim("other").data.is_null()) << "the first runner may still be at it";
        expect_stop(api.heartbeat(first, "r"), status);

        expect_code(api.report(first, "r", "CANCELLED"), 200);

        EXPECT_EQ(api.status(first), status);
        EXPECT_EQ(api.claim("other").id(), second);
        api.report(second, "other", "SUCCEEDED");
    }
}

TEST(DeployConfigured, WithoutRequeueingAJobWhoseRunnerWentSilentHasFailed) {
    DeployEngine engine("requeue_lost = false");
    DeployApi api(engine.port());
    const std::string id = api.running("silent", {}, {{"leaseSeconds", 1}}).id();

    ASSERT_TRUE(api.reaches(id, "FAILED"));

    EXPECT_NE(api.job(id).text("errorMessage").find("silent"), std::string::npos);
    expect_code(api.report(id, "silent", "SUCCEEDED"), 409);
    EXPECT_TRUE(api.claim("next").data.is_null());
}

TEST(DeployConfigured, AJobThatRunsLongerThanTheMaximumHasFailed) {
    DeployEngine engine("max_running = \"1s\"");
    DeployApi api(engine.port());
    const std::string id = api.running("slow", {}, {{"leaseSeconds", 60}}).id();

    ASSERT_TRUE(api.reaches(id, "FAILED"));

    EXPECT_FALSE(api.job(id).text("errorMessage").empty());
    expect_stop(api.heartbeat(id, "slow"), "FAILED");
    EXPECT_EQ(api.get("/deploy/jobs?status=FAILED").data.as_array().size(), 1u);
    expect_code(api.report(id, "slow", "SUCCEEDED"), 409);
}

TEST(DeployConfigured, NothingIsLostWhenTheEngineDies) {
    DeployEngine engine;
    std::string running, pending;
    {
        DeployApi before(engine.port());
        running = before.running("r", {{"appId", "a"}}, {{"leaseSeconds", 60}}).id();
        pending = before.create({{"appId", "b"}}).id();
    }
    engine.crash_and_restart();

    DeployApi api(engine.port());
    EXPECT_EQ(api.job(running).text("runnerId"), "r");
    EXPECT_EQ(api.status(pending), "PENDING");
    expect_code(api.create({{"appId", "a"}}), 409);
    EXPECT_EQ(api.heartbeat(running, "r").text("status"), "RUNNING");
    EXPECT_EQ(api.report(running, "r", "SUCCEEDED").text("status"), "SUCCEEDED");
    expect_code(api.create({{"appId", "a"}}), 200);
}

}  // namespace deploy_leases_test
}  // namespace sluice::e2e
