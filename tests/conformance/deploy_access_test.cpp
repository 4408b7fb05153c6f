// Seed 004, 5.0: permissions of callers, and the form of refusals.
#include "conformance/deploy.hpp"

namespace sluice::e2e {
namespace deploy_access_test {

constexpr const char* id = "66f0000000000000000000ff";

struct Asked {
    std::string method;
    std::string path;
};

const std::vector<Asked> control_paths{
    {"POST", "/deploy/jobs"},
    {"GET", "/deploy/jobs"},
    {"GET", "/deploy/jobs/by-app?appId=a"},
    {"GET", std::string("/deploy/jobs/") + id},
    {"POST", std::string("/deploy/jobs/") + id + "/cancel"},
    {"POST", std::string("/deploy/jobs/") + id + "/transition"},
    {"POST", "/deploy/apps/stop"},
    {"POST", "/deploy/apps/purge"},
    {"POST", "/deploy/apps/cleanup"},
};
const std::vector<Asked> runner_paths{
    {"POST", "/deploy/jobs/claim"},
    {"POST", std::string("/deploy/jobs/") + id + "/heartbeat"},
    {"POST", std::string("/deploy/jobs/") + id + "/report"},
};
const std::vector<Asked> node_paths{{"POST", "/internal/runtime-nodes/heartbeat"}};
const std::vector<Asked> admin_paths{
    {"GET", "/admin/runtime-nodes/list"},
    {"POST", "/admin/runtime-nodes/upsert"},
    {"POST", "/admin/runtime-nodes/set-enabled?name=a&enabled=true"},
    {"GET", "/admin/runtime-nodes/placements?nodeId=a"},
    {"POST", "/admin/runtime-nodes/reassign"},
    {"POST", "/admin/runtime-nodes/drain"},
    {"GET", "/admin/runners/list"},
};

DeployAnswer ask(std::uint16_t port, const Asked& asked, const Headers& headers) {
    Client client(port);
    const std::string_view body = asked.method == "POST" ? "{}" : "";
    return deploy_answer(client.request(asked.method, asked.path, body, headers));
}

void expect_open(std::uint16_t port, const std::vector<Asked>& paths, const Headers& headers) {
    for (const Asked& asked : paths) {
        const DeployAnswer answer = ask(port, asked, headers);
        EXPECT_EQ(answer.status, 200) << asked.path << answer.body;
        EXPECT_NE(answer.code, 401) << asked.path << answer.body;
    }
}

void expect_closed(std::uint16_t port, const std::vector<Asked>& paths, const Headers& headers) {
    for (const Asked& asked : paths) {
        const DeployAnswer answer = ask(port, asked, headers);
        EXPECT_EQ(answer.status, 401) << asked.path << answer.body;
        EXPECT_EQ(answer.code, 401) << asked.path;
        EXPECT_FALSE(answer.message.empty());
        EXPECT_TRUE(answer.data.is_null());
    }
}

TEST(DeployAccess, ControlPathsAskForTheSharedSecret) {
    DeployEngine engine("shared_secret = \"hush\"");

    expect_closed(engine.port(), control_paths, {});
    expect_closed(engine.port(), control_paths, {{"X-DEPLOY-SECRET", "hus"}});
    expect_closed(engine.port(), control_paths, {{"X-DEPLOY-SECRET", "hush2"}});
    expect_closed(engine.port(), control_paths, {{"X-DEPLOY-SECRET", ""}});
    expect_open(engine.port(), control_paths, {{"x-deploy-secret", "hush"}});
}

TEST(DeployAccess, ARefusalForWantOfASecretNamesItsHeader) {
    DeployEngine engine("proxy-auth.shared-secret = \"hush\"");

    for (const Asked& asked : control_paths) {
        const DeployAnswer answer = ask(engine.port(), asked, {});
        EXPECT_EQ(answer.status, 401);
        EXPECT_NE(answer.message.find("X-DEPLOY-SECRET"), std::string::npos) << answer.body;
    }
}

TEST(DeployAccess, TheSecretOfTheDocumentsNameCanBeTurnedOff) {
    DeployEngine engine("proxy-auth.shared-secret = \"hush\"\nproxy-auth.enabled = false");

    expect_open(engine.port(), control_paths, {});
}

TEST(DeployAccess, HealthIsToldToEverybody) {
    DeployEngine engine("shared_secret = \"hush\"\nnode_token = \"rt\"");

    const DeployAnswer health = ask(engine.port(), {"GET", "/internal/health"}, {});

    expect_code(health, 200);
    EXPECT_EQ(health.text("service"), "sluice");
    EXPECT_TRUE(health.text("timestamp").ends_with("Z"));
}

TEST(DeployAccess, TheSharedSecretIsNotAskedOfRunners) {
    DeployEngine engine("shared_secret = \"hush\"");

    expect_open(engine.port(), runner_paths, {});
}

TEST(DeployAccess, RunnersNeedATokenUnlessTheyAreOpen) {
    DeployEngine engine("runner_tokens = [\"one\", \"two\"]");
    expect_closed(engine.port(), runner_paths, {});
    expect_closed(engine.port(), runner_paths, {{"Authorization", "Bearer three"}});
    expect_closed(engine.port(), runner_paths, {{"Authorization", "Basic one"}});
    expect_closed(engine.port(), runner_paths, {{"Authorization", "Bearer "}});
    expect_open(engine.port(), runner_paths, {{"Authorization", "Bearer one"}});
    expect_open(engine.port(), runner_paths, {{"Authorization", "bearer two"}});
    expect_open(engine.port(), control_paths, {});

    DeployEngine open("runner_tokens = [\"one\"]\nopen_runners = true");
    expect_open(open.port(), runner_paths, {});
}

TEST(DeployAccess, NodesAndAdminsNeedTheirTokens) {
    DeployEngine engine("node_token = \"rt\"\nadmin_token = \"root\"");

    expect_closed(engine.port(), node_paths, {});
    expect_closed(engine.port(), node_paths, {{"X-RT-Node-Token", "root"}});
    expect_open(engine.port(), node_paths, {{"X-RT-Node-Token", "rt"}});
    expect_closed(engine.port(), admin_paths, {});
    expect_closed(engine.port(), admin_paths, {{"X-Admin-Token", "rt"}});
    expect_open(engine.port(), admin_paths, {{"X-Admin-Token", "root"}});
}

TEST(DeployAccess, WhereNoSecretIsConfiguredNobodyIsAsked) {
    const std::uint16_t port = shared_engine("sqlite").port();
    for (const auto& paths : {control_paths, runner_paths, node_paths, admin_paths}) {
        expect_open(port, paths, {});
        expect_open(port, paths, {{"X-DEPLOY-SECRET", "any"}});
    }
}

TEST(DeployAccess, WhatReachesNoHandlerIsRefusedInTheEnvelope) {
    Client client(shared_engine("sqlite").port());
    const auto refused = [&](const std::string& method, const std::string& path) {
        const DeployAnswer answer = deploy_answer(client.request(method, path, ""));
        EXPECT_EQ(answer.status, answer.code) << answer.body;
        EXPECT_TRUE(answer.data.is_null());
        return answer.code;
    };

    EXPECT_EQ(refused("GET", "/deploy/nothing"), 404);
    EXPECT_EQ(refused("GET", "/admin/nothing"), 404);
    EXPECT_EQ(refused("GET", "/internal/runtime-nodes/nothing"), 404);
    EXPECT_EQ(refused("DELETE", "/deploy/jobs"), 405);
    EXPECT_EQ(deploy_answer(client.post("/deploy/jobs", "{}", {{"Origin", "http://evil.example"}}))
                  .status,
              403);
}

}  // namespace deploy_access_test
}  // namespace sluice::e2e
