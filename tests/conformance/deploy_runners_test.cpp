// Seed 004, the runner's side: claim, heartbeat, report.
#include <atomic>
#include <mutex>
#include <set>

#include "conformance/deploy.hpp"
#include "domain/values/time.hpp"

namespace sluice::e2e {
namespace deploy_runners_test {

using namespace std::chrono_literals;

using DeployRunners = DeployTest;

Timestamp time_in(const DeployAnswer& answer, std::string_view member) {
    const auto time = parse_rfc3339(answer.text(member));
    if (!time) throw std::runtime_error("no time: " + answer.body);
    return *time;
}

// How long the lease lasts from the moment it was given or extended.
Duration lease_of(const DeployAnswer& job) {
    return time_in(job, "leaseExpireAt") - time_in(job, "updatedAt");
}

TEST_F(DeployRunners, AClaimMakesAPendingJobRunningForTheRunner) {
    const std::string id = api.create({{"commit", "c0ffee"}}).id();

    const DeployAnswer claimed = api.claim("runner-1");

    expect_code(claimed, 200);
    EXPECT_EQ(claimed.id(), id);
    EXPECT_EQ(claimed.text("status"), "RUNNING");
    EXPECT_EQ(claimed.text("runnerId"), "runner-1");
    EXPECT_EQ(text(at(claimed.data, "payload"), "commit"), "c0ffee");
    EXPECT_EQ(api.job(id).data, claimed.data);
}

TEST_F(DeployRunners, ALeaseIs30SecondsUnlessTheRunnerAsksForAnother) {
    EXPECT_EQ(lease_of(api.running("r")), 30s);
    EXPECT_EQ(lease_of(api.running("r", {}, {{"leaseSeconds", 90}})), 90s);
    for (const Json& bad : {Json(0), Json(-1), Json(1.5), Json("abc"), Json(1'000'000)}) {
        expect_code(api.claim("r", {{"leaseSeconds", bad}}), 500);
    }
}

TEST_F(DeployRunners, AClaimWithoutWorkHasNoDataAndCode200) {
    const DeployAnswer nothing = api.claim("runner-1");

    expect_code(nothing, 200);
    EXPECT_TRUE(nothing.data.is_null());
}

TEST_F(DeployRunners, ARunnerMustSayWhoItIs) {
    const std::string id = api.running("r").id();

    expect_code(api.post("/deploy/jobs/claim"), 500);
    expect_code(api.post("/deploy/jobs/claim", {{"runnerId", ""}}), 500);
    expect_code(api.post("/deploy/jobs/claim", {{"runnerId", nullptr}}), 500);
    expect_code(api.post("/deploy/jobs/" + id + "/heartbeat"), 500);
    expect_code(api.post("/deploy/jobs/" + id + "/report", {{"status", "FAILED"}}), 500);
    EXPECT_EQ(api.status(id), "RUNNING");
}

TEST_F(DeployRunners, NoTwoOfManyRunnersGetTheSameJob) {
    for (int i = 0; i < 40; ++i) api.create();
    std::mutex mutex;
    std::multiset<std::string> got;

    in_parallel(20, [&](int i) {
        DeployApi runner(api.port());
        runner.use_label(api.label());
        for (int k = 0; k < 4; ++k) {
            const DeployAnswer claimed = runner.claim("runner-" + std::to_string(i));
            if (claimed.data.is_null()) continue;
            const std::lock_guard lock(mutex);
            got.insert(claimed.id());
        }
    });

    EXPECT_EQ(got.size(), 40u);
    EXPECT_EQ(std::set<std::string>(got.begin(), got.end()).size(), 40u);
}

TEST_F(DeployRunners, AClaimTakesOnlyTheTypesAndLabelsThatItNames) {
    const std::string other = api.create({}, {{"type", "msuite_submit"}}).id();
    const std::string gpu = api.create({}, {{"labels", List{Json(api.label()), "gpu"}}}).id();

    EXPECT_TRUE(api.claim("r", {{"types", List{"BUILD_AND_DEPLOY"}}}).data.is_null());
    EXPECT_EQ(api.claim("r").id(), other);
    EXPECT_TRUE(api.claim("r").data.is_null());
    EXPECT_EQ(api.claim("r", {{"labels", List{"gpu", Json(api.label())}}}).id(), gpu);
}

TEST_F(DeployRunners, ThePriorJobIsTheOneWithTheHigherPriority) {
    api.create();
    const std::string urgent = api.create({}, {{"priority", 5}}).id();

    EXPECT_EQ(api.claim("r").id(), urgent);
}

TEST_F(DeployRunners, AClaimCanWaitForWork) {
    DeployAnswer claimed;
    in_parallel(2, [&](int i) {
        DeployApi other(api.port());
        other.use_label(api.label());
        if (i == 0) {
            claimed = other.claim("r", {{"waitSeconds", 20}});
        } else {
            other.create();
        }
    });

    ASSERT_FALSE(claimed.data.is_null());
    EXPECT_EQ(claimed.text("status"), "RUNNING");
    EXPECT_TRUE(api.claim("r", {{"waitSeconds", 0}}).data.is_null());
    expect_code(api.claim("r", {{"waitSeconds", 61}}), 500);
}

TEST_F(DeployRunners, AHeartbeatExtendsTheLease) {
    const DeployAnswer claimed = api.running("r", {}, {{"leaseSeconds", 5}});

    const DeployAnswer usual = api.heartbeat(claimed.id(), "r");
    const DeployAnswer longer = api.heartbeat(claimed.id(), "r", {{"extendSeconds", 100}});

    expect_code(usual, 200);
    EXPECT_EQ(usual.text("status"), "RUNNING");
    EXPECT_EQ(lease_of(usual), 30s);
    EXPECT_EQ(lease_of(longer), 100s);
    EXPECT_GE(time_in(longer, "updatedAt"), time_in(claimed, "updatedAt"));
    expect_code(api.heartbeat(claimed.id(), "r", {{"extendSeconds", 0}}), 500);
}

TEST_F(DeployRunners, AHeartbeatMayBeRepeated) {
    const std::string id = api.running("r").id();

    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(api.heartbeat(id, "r", {{"phase", "PUSH"}}).text("status"), "RUNNING");
    }
    EXPECT_EQ(Api(api.port(), "deploy").steps(id),
              (std::vector<std::string>{"submitted", "claimed"}));
}

TEST_F(DeployRunners, APhaseShowsUpInThePayload) {
    const std::string id = api.running("r", {{"commit", "c0ffee"}}).id();

    const DeployAnswer build =
        api.heartbeat(id, "r", {{"phase", "BUILD"}, {"phaseMessage", "step 3/7: npm ci"}});
    EXPECT_EQ(text(at(build.data, "payload"), "phase"), "BUILD");
    EXPECT_EQ(text(at(build.data, "payload"), "phaseMessage"), "step 3/7: npm ci");
    EXPECT_EQ(text(at(build.data, "payload"), "commit"), "c0ffee");
    EXPECT_EQ(api.heartbeat(id, "r").data.at("payload"), build.data.at("payload"))
        << "a heartbeat without a phase leaves it";

    const DeployAnswer push = api.heartbeat(id, "r", {{"phase", "PUSH"}});
    EXPECT_EQ(text(at(push.data, "payload"), "phase"), "PUSH");
    EXPECT_TRUE(is_null(at(push.data, "payload"), "phaseMessage"));
    EXPECT_EQ(api.job(id).data, push.data);
    EXPECT_EQ(at(Api(api.port(), "deploy").job(id), "payload"), Json(Fields{{"commit", "c0ffee"}}))
        << "what was asked for is not changed by it";
}

TEST_F(DeployRunners, APhaseMayHaveAnyName) {
    const std::string id = api.running("r").id();

    const DeployAnswer pushed =
        api.heartbeat(id, "r", {{"phase", "docker: push"}, {"phaseMessage", "layer: 3"}});

    expect_code(pushed, 200);
    EXPECT_EQ(text(at(pushed.data, "payload"), "phase"), "docker:push");
    EXPECT_EQ(text(at(pushed.data, "payload"), "phaseMessage"), "layer: 3");
    EXPECT_EQ(api.heartbeat(id, "r", {{"phase", "docker: push"}}).data.at("payload"),
              pushed.data.at("payload"))
        << "the same phase keeps its message";
}

TEST_F(DeployRunners, AHeartbeatOfAnotherRunnerIsCode409) {
    const DeployAnswer claimed = api.running("r");

    expect_code(api.heartbeat(claimed.id(), "another", {{"extendSeconds", 300}}), 409);

    EXPECT_EQ(api.job(claimed.id()).data, claimed.data);
    expect_stop(api.heartbeat(api.create().id(), "r"), "PENDING");
}

TEST_F(DeployRunners, AHeartbeatForAJobThatDoesNotRunIsCode409WithTheJob) {
    const std::string canceled = api.running("r").id();
    api.cancel(canceled);
    expect_stop(api.heartbeat(canceled, "r", {{"phase", "PUSH"}}), "CANCELLED");
    expect_stop(api.heartbeat(canceled, "stranger"), "CANCELLED");
    EXPECT_FALSE(at(api.job(canceled).data, "payload").as_object().contains("phase"))
        << "it is not kept";

    for (const char* status : {"SUCCEEDED", "FAILED"}) {
        const std::string done = api.running("r").id();
        api.report(done, "r", status);
        expect_stop(api.heartbeat(done, "r"), status);
    }
}

TEST_F(DeployRunners, AfterAClaimThePayloadTellsOfTheRun) {
    const std::string id = api.create({{"commit", "c0ffee"}}).id();
    EXPECT_FALSE(at(api.job(id).data, "payload").as_object().contains("attempt"));

    const DeployAnswer claimed = api.claim("r");

    const Json& payload = at(claimed.data, "payload");
    EXPECT_EQ(number(payload, "attempt"), 1);
    EXPECT_EQ(number(payload, "runStartedAt"),
              to_millis(time_in(claimed, "updatedAt").time_since_epoch()));
    EXPECT_EQ(text(payload, "commit"), "c0ffee");
    EXPECT_EQ(at(api.report(id, "r", "FAILED").data, "payload"), payload);
}

TEST_F(DeployRunners, AReportEndsTheJob) {
    for (const char* status : {"SUCCEEDED", "FAILED", "CANCELLED"}) {
        const std::string id = api.running("r").id();

        const DeployAnswer reported = api.report(id, "r", status);

        expect_code(reported, 200);
        EXPECT_EQ(reported.text("status"), status);
        EXPECT_EQ(api.job(id).data, reported.data);
    }
}

TEST_F(DeployRunners, RunnerAndLeaseAreShownOnlyWhileTheJobRuns) {
    const DeployAnswer claimed = api.running("r");
    EXPECT_FALSE(is_null(claimed.data, "runnerId"));
    EXPECT_FALSE(is_null(claimed.data, "leaseExpireAt"));

    const DeployAnswer reported = api.report(claimed.id(), "r", "SUCCEEDED");

    EXPECT_TRUE(is_null(reported.data, "runnerId"));
    EXPECT_TRUE(is_null(reported.data, "leaseExpireAt"));
}

TEST_F(DeployRunners, AFailureMaySayWhy) {
    const std::string id = api.running("r").id();

    api.report(id, "r", "FAILED", {{"errorMessage", "docker build: exit 1"}});

    EXPECT_EQ(api.job(id).text("errorMessage"), "docker build: exit 1");
    const std::string silent = api.running("r").id();
    EXPECT_EQ(api.report(silent, "r", "FAILED").text("errorMessage"), "任务失败");
    EXPECT_TRUE(is_null(api.report(api.running("r").id(), "r", "SUCCEEDED").data, "errorMessage"));
}

TEST_F(DeployRunners, OfAVeryLongErrorMessageTheEndIsKept) {
    const std::string id = api.running("r").id();
    const std::string noise(40'000, 'x');

    expect_code(api.report(id, "r", "FAILED", {{"errorMessage", noise + "é exit 1"}}), 200);

    const std::string kept = api.job(id).text("errorMessage");
    EXPECT_TRUE(kept.ends_with("xé exit 1"));
    EXPECT_EQ(kept.size(), 16u * 1024);
}

TEST_F(DeployRunners, AFailureIsFinal) {
    const std::string id = api.running("r").id();
    api.report(id, "r", "FAILED");

    EXPECT_TRUE(api.claim("r").data.is_null());
    EXPECT_EQ(api.status(id), "FAILED");
}

TEST_F(DeployRunners, AReportOfAnotherRunnerIsCode409) {
    const std::string id = api.running("r").id();

    expect_code(api.report(id, "another", "SUCCEEDED"), 409);

    EXPECT_EQ(api.status(id), "RUNNING");
    expect_code(api.report(api.create().id(), "r", "SUCCEEDED"), 409);
}

TEST_F(DeployRunners, AReportMustNameAnEnd) {
    const std::string id = api.running("r").id();

    expect_code(api.report(id, "r", "RUNNING"), 409);
    expect_code(api.report(id, "r", "PENDING"), 409);
    expect_code(api.report(id, "r", "OK"), 500);
    expect_code(api.post("/deploy/jobs/" + id + "/report", {{"runnerId", "r"}}), 500);
    EXPECT_EQ(api.status(id), "RUNNING");
}

TEST_F(DeployRunners, ARepeatedReportAnswersAsTheFirstDid) {
    for (const char* status : {"SUCCEEDED", "FAILED", "CANCELLED"}) {
        const std::string id = api.running("r").id();
        const DeployAnswer first = api.report(id, "r", status);

        EXPECT_EQ(api.report(id, "r", status).body, first.body);

        const std::string other = status == std::string("FAILED") ? "SUCCEEDED" : "FAILED";
        expect_code(api.report(id, "r", other), 409);
        expect_code(api.report(id, "stranger", status), 409);
        EXPECT_EQ(api.status(id), status);
    }
}

TEST_F(DeployRunners, AReportAfterACancelDoesNotChangeTheJob) {
    const std::string id = api.running("r").id();
    api.cancel(id);

    expect_code(api.report(id, "r", "SUCCEEDED"), 409);
    EXPECT_EQ(api.status(id), "CANCELLED");

    const std::string stopped = api.running("r").id();
    api.cancel(stopped);
    EXPECT_EQ(api.report(stopped, "r", "CANCELLED").text("status"), "CANCELLED");
}

TEST_F(DeployRunners, ACancelledJobMayBeReportedCancelledAtAnyTime) {
    const std::string id = api.running("r").id();
    api.cancel(id);
    expect_code(api.report(id, "r", "FAILED"), 409);

    expect_code(api.report(id, "r", "CANCELLED"), 200);
    expect_code(api.report(id, "r", "CANCELLED"), 200);
    expect_code(api.report(id, "r", "SUCCEEDED"), 409);
    expect_code(api.report(id, "stranger", "CANCELLED"), 409);
    EXPECT_EQ(api.status(id), "CANCELLED");
}

TEST_F(DeployRunners, AReportMayCarryAResult) {
    const std::string id = api.running("r").id();

    api.report(id, "r", "SUCCEEDED", {{"result", Fields{{"image", "a@sha256:1"}}}});

    EXPECT_EQ(text(at(api.job(id).data, "result"), "image"), "a@sha256:1");
}

}  // namespace deploy_runners_test
}  // namespace sluice::e2e
