// The texts that a runner and a control plane of the contract deploy exchange with the engine.
#pragma once

#include "bench/http.hpp"

namespace sluice::bench {

// Adds a runtime node that is healthy for the next minute, so that claims have an app to place.
inline void add_runtime_node(int port) {
    sluice::bench::exchange(port,
                            post_text("/internal/runtime-nodes/heartbeat",
                                      R"({"nodeName":"bench","agentBaseUrl":"http://127.0.0.1:1",)"
                                      R"("gatewayBaseUrl":"http://127.0.0.1:2"})"));
}

// This contract refuses by a code in the body.
inline void demand_deploy_success(const Answer& answer) {
    if (answer.body.starts_with(R"({"code":200,)")) return;
    die("the server answered: " + std::string(answer.body.substr(0, 500)));
}

// The requests of one connection. It creates jobs of apps of its own, and claims the first jobs of
// any.
class DeployTexts {
  public:
    explicit DeployTexts(std::uint32_t connection)
        : connection_(std::to_string(connection)),
          claim_(post_text("/deploy/jobs/claim",
                           R"({"runnerId":"runner-)" + connection_ + R"(","leaseSeconds":30})")) {}

    // An app has one active deployment at the most, so each create is of the next app.
    const std::string& create() {
        const std::string app = connection_ + "-" + std::to_string(created_++ % apps);
        create_ = post_text("/deploy/jobs",
                            R"({"type":"BUILD_AND_DEPLOY","payload":{"appId":"app-)" + app +
                                R"(","repoUrl":"https://git.example.org/shop.git",)"
                                R"("commit":"9fceb02d0ae598e95dc970b74767f193",)"
                                R"("env":"prod"}})");
        return create_;
    }

    const std::string& claim() const { return claim_; }

    // Writes the report of the job that was claimed; false when there was none.
    bool write_report(std::string& out, std::string_view claimed) const {
        static constexpr std::string_view mark = R"("data":{"id":")";
        const std::size_t at = claimed.find(mark);
        if (at == std::string_view::npos) return false;
        const std::size_t id = at + mark.size();
        const std::string_view job = claimed.substr(id, claimed.find('"', id) - id);
        out = post_text("/deploy/jobs/" + std::string(job) + "/report",
                        R"({"runnerId":"runner-)" + connection_ + R"(","status":"SUCCEEDED"})");
        return true;
    }

  private:
    static constexpr std::uint64_t apps = 500;

    std::string connection_;
    std::string claim_;
    std::string create_{};
    std::uint64_t created_ = 0;
};

}  // namespace sluice::bench
