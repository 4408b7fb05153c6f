// Seed 004, runtime nodes: which are healthy, which apps are on them, and how admins move apps.
#include <set>

#include "conformance/deploy.hpp"

namespace sluice::e2e {
namespace deploy_nodes_test {

// All tests would share the nodes, so each has an engine of its own.
class DeployNodes : public testing::Test {
  protected:
    DeployAnswer admin(const std::string& path, const Fields& body) {
        return api.post("/admin/runtime-nodes/" + path, body);
    }
    Json node(const std::string& name) {
        const DeployAnswer listed = api.get("/admin/runtime-nodes/list");
        for (const Json& node : listed.data.as_array()) {
            if (text(node, "name") == name) return node;
        }
        throw std::runtime_error("no node " + name);
    }
    std::string health(const std::string& name) { return text(node(name), "health"); }
    std::set<std::string> apps_on(const std::string& node) {
        std::set<std::string> apps;
        const auto page = api.get("/admin/runtime-nodes/placements?limit=200&nodeId=" + node);
        for (const Json& placed : list(page.data, "items")) apps.insert(text(placed, "appId"));
        return apps;
    }
    // Deploys the app and returns the job as it was claimed.
    DeployAnswer deploy(const std::string& app, const Fields& more = {}) {
        Fields payload = more;
        payload["appId"] = app;
        DeployAnswer claimed = api.running("r", payload);
        expect_code(api.report(claimed.id(), "r", "SUCCEEDED"), 200);
        return claimed;
    }

    DeployEngine engine{"node_health = \"2s\""};
    DeployApi api{engine.port()};
};

std::string node_of(const DeployAnswer& job) {
    return is_null(job.data, "runtimeNode") ? "" : text(at(job.data, "runtimeNode"), "name");
}

TEST_F(DeployNodes, AHeartbeatAddsANodeAndKeepsItHealthy) {
    expect_code(api.beat("n1"), 200);

    const Json added = node("n1");
    EXPECT_EQ(text(added, "agentBaseUrl"), "http://n1:7005");
    EXPECT_EQ(text(added, "gatewayBaseUrl"), "https://n1.example.com");
    EXPECT_TRUE(flag(added, "enabled"));
    EXPECT_EQ(number(added, "nodeId"), 1);
    EXPECT_EQ(number(added, "weight"), 100);
    EXPECT_EQ(health("n1"), "HEALTHY");
    EXPECT_FALSE(text(added, "lastHeartbeatAt").empty());
    for (const char* unsaid : {"diskFreePct", "diskFreeBytes", "containerCount"}) {
        EXPECT_TRUE(is_null(added, unsaid)) << unsaid;
    }

    EXPECT_TRUE(eventually([&] { return health("n1") == "STALE"; })) << "it went silent";
    api.beat("n1");
    EXPECT_EQ(health("n1"), "HEALTHY");
}

TEST_F(DeployNodes, AHeartbeatTellsWhatTheAgentHasMeasured) {
    expect_code(deploy_answer(api.http.post("/internal/runtime-nodes/heartbeat",
                                            R"({"nodeName":"n1","agentBaseUrl":"http://n1:7005",
        "gatewayBaseUrl":"https://n1.example.com","diskFreePct":61.25,"diskFreeBytes":53687091200,
        "containerCount":3,"agentVersion":"2.4"})")),
                200);

    EXPECT_EQ(at(node("n1"), "diskFreePct"), Json(61.25));
    EXPECT_EQ(number(node("n1"), "diskFreeBytes"), 53687091200);
    EXPECT_EQ(number(node("n1"), "containerCount"), 3);
    api.beat("n1");
    EXPECT_EQ(number(node("n1"), "containerCount"), 3) << "what is not said stays";
}

TEST_F(DeployNodes, NumbersAreSmallAndStay) {
    for (const char* name : {"a", "b", "a"}) api.beat(name);
    admin("upsert", {{"name", "c"}});
    EXPECT_EQ(number(node("a"), "nodeId"), 1);
    EXPECT_EQ(number(node("b"), "nodeId"), 2);
    EXPECT_EQ(number(node("c"), "nodeId"), 3);
}

TEST_F(DeployNodes, AHeartbeatMustBeReadable) {
    const std::string path = "/internal/runtime-nodes/heartbeat";
    expect_code(api.post(path), 500);
    expect_code(api.post(path, {{"nodeName", ""}}), 500);
    expect_code(api.post(path, {{"nodeName", "n"}, {"agentBaseUrl", "ftp://x"}}), 500);
    expect_code(api.post(path, {{"nodeName", List{"n"}}}), 500);
    EXPECT_TRUE(api.get("/admin/runtime-nodes/list").data.as_array().empty());
}

TEST_F(DeployNodes, AClaimTellsWhereTheAppGoes) {
    api.beat("n1");

    const DeployAnswer claimed = deploy("shop");

    const Json& node = at(claimed.data, "runtimeNode");
    EXPECT_EQ(number(node, "nodeId"), 1);
    EXPECT_EQ(number(at(node, "id"), "value"), 1);
    EXPECT_EQ(text(node, "name"), "n1");
    EXPECT_EQ(text(node, "health"), "HEALTHY");
    EXPECT_EQ(number(node, "weight"), 100);
    EXPECT_EQ(text(node, "agentBaseUrl"), "http://n1:7005");
    EXPECT_EQ(text(node, "gatewayBaseUrl"), "https://n1.example.com");
    EXPECT_EQ(claimed.text("deployUrl"), "https://n1.example.com/apps/shop/");
    const DeployAnswer read = api.job(claimed.id());
    EXPECT_EQ(at(read.data, "runtimeNode"), node);
    EXPECT_EQ(read.text("deployUrl"), claimed.text("deployUrl"));
    const DeployAnswer listed = api.get("/deploy/jobs?limit=1");
    EXPECT_EQ(listed.data.at(0), read.data);
}

TEST_F(DeployNodes, APendingJobShowsWhereItsAppGoes) {
    const std::string early = api.create({{"appId", "early"}}).id();
    EXPECT_TRUE(is_null(api.job(early).data, "runtimeNode")) << "there is no node yet";
    api.beat("n1");

    const DeployAnswer created = api.create({{"appId", "shop"}});

    EXPECT_EQ(created.text("status"), "PENDING");
    EXPECT_EQ(node_of(created), "n1");
    EXPECT_EQ(created.text("deployUrl"), "https://n1.example.com/apps/shop/");
    EXPECT_EQ(node_of(api.job(early)), "n1") << "to look at a job places its app";
    EXPECT_EQ(apps_on("1"), (std::set<std::string>{"early", "shop"}));
    EXPECT_EQ(api.job(early).text("status"), "PENDING");
}

TEST_F(DeployNodes, TheDeployUrlHasTheBasePath) {
    api.beat("n1");

    EXPECT_EQ(deploy("a", {{"basePath", "/shop"}}).text("deployUrl"),
              "https://n1.example.com/shop/");
    EXPECT_EQ(deploy("b", {{"basePath", "shop/v2/"}}).text("deployUrl"),
              "https://n1.example.com/shop/v2/");
    EXPECT_EQ(deploy("c", {{"basePath", ""}}).text("deployUrl"), "https://n1.example.com/apps/c/");
}

TEST_F(DeployNodes, AJobWithoutAnAppGoesNowhere) {
    api.beat("n1");

    const DeployAnswer claimed = api.running("r");

    EXPECT_TRUE(is_null(claimed.data, "runtimeNode"));
    EXPECT_TRUE(is_null(claimed.data, "deployUrl"));
}

TEST_F(DeployNodes, AnAppSticksToTheNodeThatItWasFirstPlacedOn) {
    api.beat("n1");
    EXPECT_EQ(node_of(deploy("shop")), "n1");
    for (const char* name : {"n0", "n2", "n3", "n4", "n5"}) api.beat(name);

    EXPECT_EQ(node_of(deploy("shop")), "n1");

    api.post("/admin/runtime-nodes/set-enabled?name=n1&enabled=false");
    EXPECT_EQ(node_of(deploy("shop")), "n1") << "only an admin moves it";
}

TEST_F(DeployNodes, AppsArePlacedOnHealthyNodesOnly) {
    EXPECT_EQ(node_of(deploy("early")), "");
    api.post("/internal/runtime-nodes/heartbeat",
             {{"nodeName", "half"}, {"agentBaseUrl", "http://half:1"}});
    EXPECT_EQ(node_of(deploy("early")), "") << "a node without a gateway";
    admin(
        "upsert",
        {{"name", "mute"}, {"agentBaseUrl", "http://mute:1"}, {"gatewayBaseUrl", "http://mute:2"}});
    EXPECT_EQ(node_of(deploy("early")), "") << "a node that was never heard of";
    api.beat("off");
    api.post("/admin/runtime-nodes/set-enabled?name=off&enabled=false");
    EXPECT_EQ(node_of(deploy("early")), "") << "a node that is disabled";
    api.beat("on");

    EXPECT_EQ(node_of(deploy("early")), "on");
}

TEST_F(DeployNodes, AppsAreSpreadByTheirHash) {
    std::set<std::string> used;
    for (int i = 0; i < 12; ++i) {
        api.beat("n1");
        api.beat("n2");
        used.insert(node_of(deploy("app-" + std::to_string(i))));
    }
    EXPECT_EQ(used, (std::set<std::string>{"n1", "n2"}));
}

TEST_F(DeployNodes, AnAdminAddsAndChangesNodes) {
    expect_code(admin("upsert", {{"name", "n1"}, {"agentBaseUrl", "http://a"}}), 200);
    EXPECT_EQ(health("n1"), "UNHEALTHY") << "it has no gateway";
    EXPECT_TRUE(is_null(node("n1"), "lastHeartbeatAt"));
    admin("upsert", {{"name", "n1"}, {"gatewayBaseUrl", "http://g"}, {"weight", 250}});
    EXPECT_EQ(health("n1"), "STALE") << "it was never heard of";

    admin("upsert", {{"name", "n1"}, {"enabled", false}});

    EXPECT_EQ(text(node("n1"), "agentBaseUrl"), "http://a") << "what is not said stays";
    EXPECT_EQ(text(node("n1"), "gatewayBaseUrl"), "http://g");
    EXPECT_EQ(number(node("n1"), "weight"), 250);
    EXPECT_EQ(health("n1"), "DRAINING");
    api.beat("n1");
    EXPECT_FALSE(flag(node("n1"), "enabled")) << "a heartbeat does not enable it";
    expect_code(admin("upsert", {{"agentBaseUrl", "http://a"}}), 500);
}

TEST_F(DeployNodes, AnAdminEnablesAndDisablesANode) {
    api.beat("n1");
    const std::string path = "/admin/runtime-nodes/set-enabled?";

    for (const char* off : {"false", "0"}) {
        EXPECT_EQ(api.post(path + "name=n1&enabled=" + off).data, Json("disabled"));
        EXPECT_FALSE(flag(node("n1"), "enabled"));
        const char* on = off == std::string("0") ? "1" : "true";
        EXPECT_EQ(api.post(path + "name=n1&enabled=" + on).data, Json("enabled"));
        EXPECT_TRUE(flag(node("n1"), "enabled"));
    }

    expect_code(api.post(path + "name=nobody&enabled=true"), 404);
    expect_code(api.post(path + "name=n1&enabled=maybe"), 500);
    expect_code(api.post(path + "name=n1"), 500);
}

TEST_F(DeployNodes, PlacementsAreListedByNodeAndPage) {
    api.beat("n1");
    for (const char* app : {"a", "b", "c"}) deploy(app);

    const std::string path = "/admin/runtime-nodes/placements?nodeId=1";
    const DeployAnswer page = api.get(path + "&offset=1&limit=1");

    EXPECT_EQ(number(page.data, "total"), 3);
    ASSERT_EQ(list(page.data, "items").size(), 1u);
    EXPECT_EQ(text(list(page.data, "items").at(0), "appId"), "b");
    EXPECT_EQ(number(list(page.data, "items").at(0), "nodeId"), 1);
    EXPECT_EQ(apps_on("n1"), (std::set<std::string>{"a", "b", "c"}));
    expect_code(api.get("/admin/runtime-nodes/placements?nodeId=nobody"), 404);
    expect_code(api.get("/admin/runtime-nodes/placements"), 500);
}

TEST_F(DeployNodes, AnAdminMovesAnApp) {
    api.beat("n1");
    deploy("shop");
    api.beat("n2");

    const DeployAnswer moved = admin("reassign", {{"appId", "shop"}, {"targetNodeId", 2}});

    EXPECT_EQ(moved.data, Json("ok"));
    EXPECT_TRUE(apps_on("1").empty());
    EXPECT_EQ(apps_on("2"), (std::set<std::string>{"shop"}));
    EXPECT_EQ(node_of(deploy("shop")), "n2");
    expect_code(admin("reassign", {{"appId", "shop"}, {"targetNodeId", 99}}), 404);
    expect_code(admin("reassign", {{"appId", "shop"}}), 500);
}

TEST_F(DeployNodes, AnAppMovesToAnyNodeThatIsEnabled) {
    admin("upsert", {{"name", "mute"}});
    EXPECT_EQ(admin("reassign", {{"appId", 7}, {"targetNodeId", "1"}}).data, Json("ok"))
        << "neither a heartbeat nor a job of the app is asked for";
    EXPECT_EQ(apps_on("1"), (std::set<std::string>{"7"}));

    api.post("/admin/runtime-nodes/set-enabled?name=mute&enabled=0");

    expect_code(admin("reassign", {{"appId", "shop"}, {"targetNodeId", 1}}), 409);
}

TEST_F(DeployNodes, AnAdminDrainsANode) {
    api.beat("n1");
    for (const char* app : {"a", "b", "c"}) deploy(app);
    api.beat("n2");
    const Fields drain{{"sourceNodeId", 1}, {"targetNodeId", 2}, {"limit", 2}};

    EXPECT_EQ(number(admin("drain", drain).data, "moved"), 2);
    EXPECT_EQ(apps_on("1").size(), 1u);
    EXPECT_EQ(number(admin("drain", drain).data, "moved"), 1);
    EXPECT_EQ(number(admin("drain", drain).data, "moved"), 0);

    EXPECT_EQ(apps_on("2"), (std::set<std::string>{"a", "b", "c"}));
    expect_code(admin("drain", {{"sourceNodeId", 1}, {"targetNodeId", "n1"}}), 500);
    expect_code(admin("drain", {{"sourceNodeId", "nobody"}, {"targetNodeId", 1}}), 404);
    expect_code(admin("drain", {{"sourceNodeId", 1}, {"targetNodeId", 99}}), 404);
}

TEST(DeployRunnersList, TellsWhoWasSeenAndIsOnline) {
    DeployEngine engine("runner_health = \"1s\"");
    DeployApi api(engine.port());
    const auto runner = [&](const std::string& name) {
        const DeployAnswer listed = api.get("/admin/runners/list");
        for (const Json& one : listed.data.as_array()) {
            if (text(one, "runnerId") == name) return one;
        }
        throw std::runtime_error("no runner " + name);
    };
    Api(engine.port(), "other").claim({{"worker_id", "no-runner"}});
    const std::string id = api.running("busy", {}, {{"leaseSeconds", 60}}).id();
    api.claim("idle");

    EXPECT_TRUE(flag(runner("busy"), "online"));
    EXPECT_EQ(list(runner("busy"), "runningJobs"), List{Json(id)});
    EXPECT_TRUE(list(runner("idle"), "runningJobs").empty());
    EXPECT_GT(number(runner("idle"), "lastSeenAtMs"), 1'600'000'000'000);
    EXPECT_EQ(text(runner("idle"), "health"), "HEALTHY");
    EXPECT_EQ(api.get("/admin/runners/list").data.as_array().size(), 2u);
    EXPECT_TRUE(eventually([&] { return !flag(runner("idle"), "online"); }));
    EXPECT_EQ(text(runner("idle"), "health"), "STALE");
    api.heartbeat(id, "busy", {{"extendSeconds", 60}});
    EXPECT_TRUE(flag(runner("busy"), "online")) << "a heartbeat counts";
    EXPECT_TRUE(eventually([&] { return !flag(runner("busy"), "online"); }));
    api.report(id, "busy", "SUCCEEDED");
    EXPECT_EQ(text(runner("busy"), "health"), "HEALTHY") << "and so does a report";
}

}  // namespace deploy_nodes_test
}  // namespace sluice::e2e
