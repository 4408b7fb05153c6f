// Facts about 004: requests about whole apps, with the HTTP agent of a runtime node.
#include <future>

#include "conformance/deploy_agent.hpp"

namespace sluice::e2e {
namespace deploy_apps_test {

constexpr const char* with_agent = "runtime-agent.token = \"rt-token-7\"";

class DeployApps : public testing::Test {
  protected:
    DeployAnswer act(const std::string& verb, const std::string& body) {
        return deploy_answer(api.http.post("/deploy/apps/" + verb, body));
    }
    // Deploys the app; its node has this agent.
    std::string deploy(const std::string& app, const std::string& agent_url) {
        expect_code(register_agent(api, "node-a", agent_url), 200);
        const std::string id = api.running("r", {{"appId", app}}).id();
        expect_code(api.report(id, "r", "SUCCEEDED"), 200);
        return id;
    }
    std::size_t jobs_of(const std::string& app) {
        return api.get("/deploy/jobs/by-app?appId=" + app).data.as_array().size();
    }
    std::size_t placed() {
        return list(api.get("/admin/runtime-nodes/placements?nodeId=1").data, "items").size();
    }

    DeployEngine engine{with_agent};
    DeployApi api{engine.port()};
};

TEST_F(DeployApps, StopCallsTheAgentOfTheAppsNode) {
    const RuntimeAgent agent;
    deploy("1001", agent.url());

    const DeployAnswer stopped =
        act("stop", R"({"userId":42,"appId":1001,"operator":"console","traceId":"t-1"})");

    expect_code(stopped, 200);
    EXPECT_EQ(stopped.message, "操作成功");
    EXPECT_EQ(number(stopped.data, "appId"), 1001);
    EXPECT_EQ(number(stopped.data, "userId"), 42);
    EXPECT_EQ(number(stopped.data, "nodeId"), 1);
    EXPECT_EQ(stopped.text("agentBaseUrl"), agent.url());
    EXPECT_EQ(text(at(stopped.data, "runtime"), "container"), "rt-1");
    ASSERT_EQ(agent.requests().size(), 1u);
    const std::string sent = agent.requests().front();
    EXPECT_TRUE(sent.starts_with("POST /agent/apps/stop HTTP/1.1\r\n")) << sent;
    EXPECT_NE(sent.find("\r\nX-Runtime-Token: rt-token-7\r\n"), std::string::npos) << sent;
    EXPECT_TRUE(sent.ends_with(R"({"userId":42,"appId":1001})")) << sent;
    EXPECT_EQ(jobs_of("1001"), 1u) << "to stop an app forgets nothing";
    EXPECT_EQ(placed(), 1u);
}

TEST_F(DeployApps, TheAgentsErrorIsInTheAnswerAndNothingIsChanged) {
    const RuntimeAgent broken(R"({"error":"docker: no such container; token rt-token-7"})",
                              "500 Internal Server Error");
    deploy("a", broken.url());

    const DeployAnswer refused = act("stop", R"({"userId":"u","appId":"a"})");

    expect_code(refused, 500);
    EXPECT_NE(refused.message.find("no such container"), std::string::npos) << refused.body;
    EXPECT_EQ(refused.body.find("rt-token-7"), std::string::npos) << refused.body;
    const RuntimeAgent saying_no(R"({"code":409,"message":"the app is busy","data":null})");
    register_agent(api, "node-a", saying_no.url());
    EXPECT_NE(act("stop", R"({"userId":"u","appId":"a"})").message.find("the app is busy"),
              std::string::npos);
    register_agent(api, "node-a", "http://127.0.0.1:1");
    expect_code(act("stop", R"({"userId":"u","appId":"a"})"), 500);
    EXPECT_EQ(jobs_of("a"), 1u);
    EXPECT_EQ(placed(), 1u);
}

TEST_F(DeployApps, WithoutANodeOrATokenNoAgentIsCalled) {
    expect_code(act("stop", R"({"userId":"u","appId":"unknown"})"), 404);
    expect_code(act("stop", R"({"userId":"u"})"), 500);
    expect_code(act("stop", R"({"appId":"a"})"), 500);
    DeployEngine plain;
    DeployApi other(plain.port());
    const RuntimeAgent agent;
    register_agent(other, "node-a", agent.url());
    other.create({{"appId", "a"}});

    expect_code(deploy_answer(other.http.post("/deploy/apps/stop", R"({"userId":1,"appId":"a"})")),
                409);
    EXPECT_TRUE(agent.requests().empty());
}

TEST_F(DeployApps, AnAgentThatIsSilentCostsTenSecondsAndHoldsUpNobody) {
    const RuntimeAgent silent("", "");
    deploy("a", silent.url());
    const auto start = std::chrono::steady_clock::now();
    auto stopping = std::async(std::launch::async, [&] {
        DeployApi other(engine.port());
        return deploy_answer(other.http.post("/deploy/apps/stop", R"({"userId":1,"appId":"a"})"));
    });
    while (silent.requests().empty()) std::this_thread::sleep_for(Millis(10));

    expect_code(api.create({{"appId", "b"}}), 200);
    EXPECT_LT(since(start), Millis(5000)) << "others are served meanwhile";

    expect_code(stopping.get(), 500);
    EXPECT_GE(since(start), Millis(9500));
    EXPECT_LT(since(start), Millis(20000));
}

TEST_F(DeployApps, PurgeTakesEndedJobsOffTheListAndTheAppOffItsNode) {
    const RuntimeAgent agent;
    const std::string id = deploy("a", agent.url());
    deploy("b", agent.url());

    const DeployAnswer purged = act("purge", R"({"userId":"u-1","appId":"a","force":true})");

    expect_code(purged, 200);
    EXPECT_EQ(purged.text("appId"), "a");
    EXPECT_EQ(purged.text("userId"), "u-1");
    EXPECT_EQ(number(purged.data, "deletedJobs"), 1);
    EXPECT_EQ(number(purged.data, "deletedAppRuns"), 1);
    EXPECT_EQ(number(purged.data, "deletedPlacements"), 1);
    EXPECT_EQ(jobs_of("a"), 0u);
    EXPECT_EQ(jobs_of("b"), 1u);
    EXPECT_EQ(placed(), 1u);
    EXPECT_TRUE(agent.requests().empty());
    EXPECT_EQ(api.status(id), "SUCCEEDED") << "history keeps it";
    EXPECT_EQ(Api(api.port(), "deploy").steps(id).size(), 3u);
    EXPECT_EQ(number(act("purge", R"({"userId":"u","appId":"a"})").data, "deletedJobs"), 0);
    EXPECT_EQ(number(act("purge", R"({"userId":"u","appId":"new"})").data, "deletedJobs"), 0);

    const std::string again = api.create({{"appId", "a"}}).id();
    EXPECT_EQ(jobs_of("a"), 1u) << "the app may come back";
    EXPECT_EQ(placed(), 2u);
}

TEST_F(DeployApps, PurgeCancelsWhatHasNotEndedSoThatItsRunnerStops) {
    const RuntimeAgent agent;
    deploy("a", agent.url());
    const std::string id = api.running("r", {{"appId", "a"}}).id();

    const DeployAnswer purged = act("purge", R"({"userId":1,"appId":"a"})");

    EXPECT_EQ(number(purged.data, "deletedJobs"), 2);
    expect_stop(api.heartbeat(id, "r", {{"phase", "PUSH"}}), "CANCELLED");
    EXPECT_EQ(jobs_of("a"), 0u);
}

TEST_F(DeployApps, CleanupDeletesAtTheAgentAndPurges) {
    const RuntimeAgent agent(R"({"deleted":true})");
    deploy("a", agent.url());

    const DeployAnswer cleaned = act("cleanup", R"({"userId":1,"appId":"a"})");

    expect_code(cleaned, 200);
    EXPECT_EQ(cleaned.text("appId"), "a");
    EXPECT_EQ(number(cleaned.data, "userId"), 1);
    EXPECT_TRUE(list(cleaned.data, "imageTags").empty());
    EXPECT_TRUE(is_null(cleaned.data, "registry"));
    EXPECT_TRUE(flag(at(cleaned.data, "runtime"), "deleted"));
    EXPECT_EQ(number(at(cleaned.data, "purge"), "deletedPlacements"), 1);
    ASSERT_EQ(agent.requests().size(), 1u);
    EXPECT_TRUE(agent.requests().front().starts_with("POST /agent/apps/delete HTTP/1.1\r\n"));
    EXPECT_EQ(jobs_of("a"), 0u);
}

TEST_F(DeployApps, CleanupOfAnAppThatGetsANewJobMeanwhileTellsWhatTheAgentDid) {
    std::string created;
    const client::ScriptedServer agent([&](const std::string&) {
        DeployApi other(engine.port());
        created = other.create({{"appId", "a"}}).id();
        return client::answer_text("200 OK", "Content-Type: application/json\r\n",
                                   R"({"deleted":true})");
    });
    deploy("a", agent.url());

    const DeployAnswer cleaned = act("cleanup", R"({"userId":1,"appId":"a"})");

    EXPECT_EQ(cleaned.code, 409) << cleaned.body;
    EXPECT_NE(cleaned.message.find(created), std::string::npos) << cleaned.message;
    EXPECT_TRUE(flag(at(cleaned.data, "runtime"), "deleted"));
    EXPECT_TRUE(is_null(cleaned.data, "purge"));
    EXPECT_EQ(jobs_of("a"), 2u);
}

TEST_F(DeployApps, CleanupPurgesAlsoWhenTheAgentFails) {
    const RuntimeAgent broken("gone", "503 Service Unavailable");
    deploy("a", broken.url());

    const DeployAnswer cleaned = act("cleanup", R"({"userId":1,"appId":"a"})");

    expect_code(cleaned, 200);
    EXPECT_NE(text(at(cleaned.data, "runtime"), "error").find("503"), std::string::npos);
    EXPECT_EQ(number(at(cleaned.data, "purge"), "deletedJobs"), 1);
    EXPECT_EQ(jobs_of("a"), 0u);
    EXPECT_TRUE(is_null(act("cleanup", R"({"userId":1,"appId":"a"})").data, "runtime"))
        << "it is on no node any more";
}

}  // namespace deploy_apps_test
}  // namespace sluice::e2e
