#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "e2e/api.hpp"

namespace sluice::e2e {

// The contract of apps as one user calls it; without a name, as the operator of the machine. Paths
// are relative to /api/apps. Helper calls throw, with the answer, when they are refused.
class AppsApi {
  public:
    explicit AppsApi(std::uint16_t port, std::string user = {});

    Response get(const std::string& path);
    Response post(const std::string& path, const Fields& body = {});
    Response patch(const std::string& path, const Fields& body);

    // The "data" of a 200, of a 201, and of a 200 that changes something.
    Json read(const std::string& path);
    Json create(const std::string& path, const Fields& body = {});
    Json act(const std::string& path, const Fields& body = {});
    // The whole answer of a list.
    Json list_answer(const std::string& path);
    List list_of(const std::string& path);
    std::int64_t total(const std::string& path);

  private:
    Headers headers() const;

    Client http_;
    std::string user_;
};

// Expects {"error":{code, message, request_id}}, and returns the message.
std::string expect_error(const Response& response, int status, std::string_view code);

// The ids of the items of a list.
std::vector<std::string> ids_of(const List& items);

// An engine of its own, an app with a member of each role, and a worker.
class AppsTest : public testing::Test {
  protected:
    explicit AppsTest(const std::string& config = {});

    std::string path(const std::string& rest = {}) const { return "/" + app + rest; }
    std::string changeset_path(const Json& changeset, const std::string& action = {}) const;
    std::string release_path(const Json& release, const std::string& action = {}) const;

    // ── jobs ──
    Json job(const std::string& id) { return operator_.read(path("/jobs/" + id)); }
    std::string job_state(const std::string& id) { return text(job(id), "state"); }
    // Enqueues a job for the app by the native API, with these fields.
    std::string enqueue(const std::string& type, Fields fields = {});
    // Claims the next job of a type, which must exist.
    Json claim(const std::string& type);
    bool is_claimable(const std::string& type);
    // Claims the next job and reports; returns its id.
    std::string succeed(const std::string& type, const Fields& result = {});
    std::string fail(const std::string& type, bool retryable = false);

    // ── the flow, up to each step ──
    Json draft(const Fields& fields = {});
    Json submitted(const std::string& head_sha = "abc123");
    Json checked(const std::string& head_sha = "abc123");  // msuite_submit has succeeded
    Json approved(const std::string& head_sha = "abc123");
    Json queued(const std::string& head_sha = "abc123");  // its msuite_merge has succeeded
    Json assembling();
    Json validated();  // its own msuite_merge has not run
    Json published();
    Json environment(const Fields& fields = {});
    Json deploy(const Json& environment, const Json& release);
    Json profile(const std::string& kind, const Fields& fields = {});

    TempFolder folder;
    std::unique_ptr<Engine> engine;
    AppsApi operator_;
    AppsApi author;    // ada, a user
    AppsApi reviewer;  // rex
    AppsApi manager;   // mia, a config_manager
    AppsApi admin;     // zoe, an app_admin
    AppsApi stranger;  // no member
    Api worker;
    std::string app;

  private:
    std::unique_ptr<Engine> start(const std::string& config);
};

}  // namespace sluice::e2e
