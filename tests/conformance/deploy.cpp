#include "conformance/deploy.hpp"

#include <fstream>
#include <stdexcept>

namespace sluice::e2e {
namespace {

Fields with(const Fields& fields, const Fields& defaults) {
    Fields all = fields;
    for (const auto& [name, value] : defaults) all.insert({{name, value}});
    return all;
}

}  // namespace

DeployAnswer deploy_answer(const Response& response) {
    const Json body = parse(response.body);
    return {response.status, static_cast<int>(number(body, "code")), text(body, "message"),
            at(body, "data"), response.body};
}

DeployAnswer DeployApi::get(const std::string& path) {
    return deploy_answer(http.get(path, headers_));
}

DeployAnswer DeployApi::post(const std::string& path, const Fields& body) {
    return deploy_answer(http.post(path, serialize(body), headers_));
}

DeployAnswer DeployApi::create(const Fields& payload, const Fields& fields) {
    return post("/deploy/jobs", with(fields, {{"type", "BUILD_AND_DEPLOY"},
                                              {"payload", payload},
                                              {"labels", List{Json(label_)}}}));
}

bool DeployApi::reaches(const std::string& id, const std::string& wanted) {
    return eventually([&] { return status(id) == wanted; });
}

DeployAnswer DeployApi::claim(const std::string& runner, const Fields& fields) {
    return post("/deploy/jobs/claim",
                with(fields, {{"runnerId", runner}, {"labels", List{Json(label_)}}}));
}

DeployAnswer DeployApi::heartbeat(const std::string& id, const std::string& runner,
                                  const Fields& fields) {
    return post("/deploy/jobs/" + id + "/heartbeat", with(fields, {{"runnerId", runner}}));
}

DeployAnswer DeployApi::report(const std::string& id, const std::string& runner,
                               const std::string& status, const Fields& fields) {
    return post("/deploy/jobs/" + id + "/report",
                with(fields, {{"runnerId", runner}, {"status", status}}));
}

DeployAnswer DeployApi::transition(const std::string& id, const std::string& status) {
    return post("/deploy/jobs/" + id + "/transition", {{"toStatus", status}});
}

DeployAnswer DeployApi::running(const std::string& runner, const Fields& payload,
                                const Fields& claim_fields) {
    const DeployAnswer created = create(payload);
    if (created.code != 200) throw std::runtime_error("not created: " + created.body);
    DeployAnswer claimed = claim(runner, claim_fields);
    if (claimed.code != 200 || claimed.data.is_null() || claimed.id() != created.id()) {
        throw std::runtime_error("the claim got " + claimed.body);
    }
    return claimed;
}

DeployAnswer DeployApi::beat(const std::string& node) {
    return post("/internal/runtime-nodes/heartbeat",
                {{"nodeName", node},
                 {"agentBaseUrl", "http://" + node + ":7005"},
                 {"gatewayBaseUrl", "https://" + node + ".example.com"}});
}

DeployEngine::DeployEngine(const std::string& section) {
    std::ofstream(folder_.path() / "sluice.toml")
        << "[limits]\nbad_tokens_per_address = \"0\"\n[deploy]\n"
        << section << "\n";
    start();
}

void DeployEngine::start() {
    const std::vector<std::string> config{"--config", (folder_.path() / "sluice.toml").string()};
    engine_ = std::make_unique<Engine>("sqlite:" + (folder_.path() / "db").string(), config);
}

void DeployEngine::crash_and_restart() {
    engine_->kill();
    start();
}

void expect_code(const DeployAnswer& answer, int code) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.code, code) << answer.body;
    EXPECT_FALSE(answer.message.empty());
    EXPECT_TRUE(code == 200 || answer.data.is_null()) << answer.body;
}

void expect_stop(const DeployAnswer& answer, const std::string& status) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.code, 409) << answer.body;
    ASSERT_FALSE(answer.data.is_null()) << answer.body;
    EXPECT_EQ(answer.text("status"), status) << answer.body;
}

}  // namespace sluice::e2e
