#pragma once

#include <memory>
#include <string>
#include <vector>

#include "e2e/api.hpp"

namespace sluice::e2e {

// An answer of the deploy contract: {"code","message","data"}.
struct DeployAnswer {
    int status = 0;  // of HTTP
    int code = 0;
    std::string message{};
    Json data{};
    std::string body{};

    std::string text(std::string_view member) const { return e2e::text(data, member); }
    std::string id() const { return text("id"); }
};

DeployAnswer deploy_answer(const Response& response);

// The deploy contract as its users call it. The jobs that it creates carry a label of its own,
// which its runners have, so that tests which share an engine do not meet. One thread.
class DeployApi {
  public:
    explicit DeployApi(std::uint16_t port, Headers headers = {})
        : http(port), port_(port), headers_(std::move(headers)), label_(fresh_name("test")) {}

    Client http;

    std::uint16_t port() const { return port_; }
    const std::string& label() const { return label_; }
    void use_label(std::string label) { label_ = std::move(label); }

    DeployAnswer get(const std::string& path);
    DeployAnswer post(const std::string& path, const Fields& body = {});

    // A BUILD_AND_DEPLOY with this payload, unless the fields say otherwise.
    DeployAnswer create(const Fields& payload = {}, const Fields& fields = {});
    DeployAnswer job(const std::string& id) { return get("/deploy/jobs/" + id); }
    std::string status(const std::string& id) { return job(id).text("status"); }
    bool reaches(const std::string& id, const std::string& status);

    DeployAnswer claim(const std::string& runner, const Fields& fields = {});
    DeployAnswer heartbeat(const std::string& id, const std::string& runner,
                           const Fields& fields = {});
    DeployAnswer report(const std::string& id, const std::string& runner, const std::string& status,
                        const Fields& fields = {});
    DeployAnswer cancel(const std::string& id) { return post("/deploy/jobs/" + id + "/cancel"); }
    DeployAnswer transition(const std::string& id, const std::string& status);

    // A job that this runner has claimed.
    DeployAnswer running(const std::string& runner, const Fields& payload = {},
                         const Fields& claim_fields = {});

    // A runtime node that is alive.
    DeployAnswer beat(const std::string& node);

  private:
    std::uint16_t port_;
    Headers headers_;
    std::string label_;
};

// An engine of its own with this [deploy] section.
class DeployEngine {
  public:
    explicit DeployEngine(const std::string& section = "");

    Engine& engine() { return *engine_; }
    std::uint16_t port() const { return engine_->port(); }
    // Ends it as a power cut would, and starts it on the same store.
    void crash_and_restart();

  private:
    void start();

    TempFolder folder_;
    std::unique_ptr<Engine> engine_;
};

// A refusal in the envelope, over HTTP 200.
void expect_code(const DeployAnswer& answer, int code);

// Code 409 over HTTP 200, with the job and its status in the data.
void expect_stop(const DeployAnswer& answer, const std::string& status);

// The base of every test of jobs: an engine that they share.
class DeployTest : public testing::Test {
  protected:
    DeployApi api{shared_engine("sqlite").port()};
};

}  // namespace sluice::e2e
