#pragma once

#include <string>
#include <vector>

#include "conformance/deploy.hpp"
#include "support/scripted_server.hpp"

namespace sluice::e2e {

// The agent of a runtime node, on a socket: sends the configured answer, and keeps the requests.
class RuntimeAgent {
  public:
    explicit RuntimeAgent(std::string answer = R"({"stopped":true,"container":"rt-1"})",
                          std::string status = "200 OK")
        : server_([answer = std::move(answer), status = std::move(status)](const std::string&) {
              if (status.empty()) return std::string();
              return client::answer_text(status, "Content-Type: application/json\r\n", answer);
          }) {}

    std::string url() const { return server_.url(); }
    // Whole requests, in order.
    std::vector<std::string> requests() const { return server_.requests(); }

  private:
    client::ScriptedServer server_;
};

// Registers the node as its agent does, with the agent's own request.
inline DeployAnswer register_agent(DeployApi& api, const std::string& name,
                                   const std::string& agent_url) {
    return deploy_answer(api.http.post(
        "/internal/runtime-nodes/heartbeat",
        R"({"nodeName":")" + name + R"(","agentBaseUrl":")" + agent_url +
            R"(","gatewayBaseUrl":"https://apps.example.com","diskFreePct":61.25,)"
            R"("diskFreeBytes":53687091200,"containerCount":3,"agentVersion":"2.4.1"})"));
}

}  // namespace sluice::e2e
