// Facts about 004: one session of the programs in the field, byte for byte.
#include "conformance/deploy_agent.hpp"

namespace sluice::e2e {
namespace deploy_session_test {

// The control plane's client, the runner and the agent send more members than this contract knows.
class DeploySession : public testing::Test {
  protected:
    DeployAnswer post(const std::string& path, const std::string& body) {
        return deploy_answer(client.post(path, body, {{"X-DEPLOY-SECRET", "s3cret-of-the-plane"}}));
    }
    DeployAnswer get(const std::string& path) {
        return deploy_answer(client.get(path, {{"X-DEPLOY-SECRET", "s3cret-of-the-plane"}}));
    }
    DeployAnswer create(int app) {
        return post("/deploy/jobs",
                    R"({"type":"BUILD_AND_DEPLOY","requestId":"7f3a","tenantHint":null,"payload":{)"
                    R"("userId":42,"appId":)" +
                        std::to_string(app) +
                        R"(,"repoSshUrl":"git@git.example.com:42/app.git","gitRef":"main",)"
                        R"("basePath":"/runtime/)" +
                        std::to_string(app) + R"(","env":{"NODE_ENV":"production"}}})");
    }
    DeployAnswer claim() {
        return deploy_answer(client.post("/deploy/jobs/claim",
                                         R"({"runnerId":"runner-01","leaseSeconds":"30",)"
                                         R"("runnerVersion":"1.9.0","capabilities":["docker"]})"));
    }
    // As the runner's main flow does before each phase: it goes on only when the code is 200.
    bool may_go_on(const std::string& id, const std::string& phase) {
        const DeployAnswer answer =
            deploy_answer(client.post("/deploy/jobs/" + id + "/heartbeat",
                                      R"({"runnerId":"runner-01","extendSeconds":30,"phase":")" +
                                          phase + R"(","phaseMessage":"","hostLoad":0.7})"));
        EXPECT_EQ(answer.status, 200);
        return answer.code == 200;
    }
    // Builds and deploys; `between` happens after the build. Returns the phases that were reached.
    std::vector<std::string> run(const std::string& id, const std::function<void()>& between) {
        std::vector<std::string> reached;
        for (const char* phase : {"CLONE", "BUILD", "PUSH", "DEPLOY"}) {
            if (phase == std::string("PUSH")) between();
            if (!may_go_on(id, phase)) break;
            reached.emplace_back(phase);
        }
        return reached;
    }
    DeployAnswer report(const std::string& id, const std::string& status,
                        const std::string& message) {
        return deploy_answer(client.post(
            "/deploy/jobs/" + id + "/report",
            R"({"runnerId":"runner-01","status":")" + status + R"(","errorMessage":)" + message +
                R"(,"imageTag":"registry.example.com/42/app:1","costMs":81})"));
    }

    const RuntimeAgent agent{R"({"code":200,"message":"ok","data":{"container":"rt-42-1001"}})"};
    DeployEngine engine{
        "proxy-auth.enabled = true\nproxy-auth.shared-secret = \"s3cret-of-the-plane\"\n"
        "runtime-agent.token = \"token-of-the-agents\""};
    DeployApi api{engine.port()};
    Client client{engine.port()};
};

TEST_F(DeploySession, OfAClientOfTheFieldFromTheFirstHeartbeatToTheCleanup) {
    // The control plane lives, and the agent registers its node.
    const DeployAnswer health = deploy_answer(client.get("/internal/health"));
    EXPECT_EQ(health.code, 200);
    EXPECT_EQ(health.text("service"), "sluice");
    EXPECT_TRUE(health.text("timestamp").ends_with("Z"));
    expect_code(register_agent(api, "rt-01", agent.url()), 200);

    // A deployment that is cancelled in the middle is never pushed.
    const DeployAnswer created = create(1001);
    expect_code(created, 200);
    EXPECT_EQ(created.text("deployUrl"), "https://apps.example.com/runtime/1001/");
    const DeployAnswer claimed = claim();
    ASSERT_EQ(claimed.id(), created.id());
    EXPECT_EQ(text(at(claimed.data, "runtimeNode"), "agentBaseUrl"), agent.url());
    EXPECT_EQ(number(at(claimed.data, "payload"), "attempt"), 1);
    const auto reached = run(claimed.id(), [&] {
        EXPECT_EQ(post("/deploy/jobs/" + claimed.id() + "/cancel",
                       R"({"reason":"wrong branch","operator":"ada"})")
                      .text("status"),
                  "CANCELLED");
    });
    EXPECT_EQ(reached, (std::vector<std::string>{"CLONE", "BUILD"}));
    expect_code(report(claimed.id(), "FAILED", R"("heartbeat was refused")"), 409);
    expect_code(report(claimed.id(), "CANCELLED", "null"), 200);

    // The next deployment succeeds.
    const DeployAnswer second = create(1001);
    ASSERT_EQ(claim().id(), second.id());
    EXPECT_EQ(run(second.id(), [] {}).size(), 4u);
    EXPECT_EQ(text(at(get("/deploy/jobs/" + second.id()).data, "payload"), "phase"), "DEPLOY");
    EXPECT_EQ(report(second.id(), "SUCCEEDED", "null").text("status"), "SUCCEEDED");
    EXPECT_TRUE(claim().data.is_null());
    EXPECT_EQ(get("/deploy/jobs/by-app?appId=1001&limit=20&sort=desc").data.as_array().size(), 2u);

    // The app is stopped at its node, and then cleaned up.
    const std::string app = R"({"userId":42,"appId":1001,"source":"console"})";
    EXPECT_EQ(text(at(at(post("/deploy/apps/stop", app).data, "runtime"), "data"), "container"),
              "rt-42-1001");
    const DeployAnswer cleaned = post("/deploy/apps/cleanup", app);
    EXPECT_EQ(number(at(cleaned.data, "purge"), "deletedJobs"), 2) << cleaned.body;
    EXPECT_TRUE(get("/deploy/jobs/by-app?appId=1001").data.as_array().empty());
    const auto sent = agent.requests();
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_TRUE(sent[0].starts_with("POST /agent/apps/stop ")) << sent[0];
    EXPECT_TRUE(sent[1].starts_with("POST /agent/apps/delete ")) << sent[1];
}

}  // namespace deploy_session_test
}  // namespace sluice::e2e
