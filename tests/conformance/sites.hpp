#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "e2e/api.hpp"

// Seed 001: sites and nodes, over the native API.
namespace sluice::e2e {

// An engine of the test's own, on a store of its own.
class SitesTest : public testing::Test {
  protected:
    // Starts the engine with this configuration. Again on the same store when it was stopped.
    void serve(const std::string& config = "");

    Engine& engine() { return *engine_; }
    Api& api() { return *api_; }
    std::string file(const std::string& name, const std::string& content, bool runs = false);

    // The fields of a job on a site and a node of its own, changed by `more`.
    static Fields on_site(const std::string& type, const std::string& site,
                          const Fields& more = {});

    Json entity(const std::string& kind, const std::string& id);
    std::string site_state(const std::string& id) { return text(entity("site", id), "state"); }

    // A job of this type on the site that a worker has claimed.
    Json start(const std::string& type, const std::string& site, const Fields& more = {});
    // A job on the site that has failed for good.
    void fail_for_good(const std::string& site);

    Response post(const std::string& path, const Fields& body, const Headers& headers = {});
    static Headers as(const std::string& user) { return {{"X-Sluice-User", user}}; }

  private:
    TempFolder folder_;
    std::unique_ptr<Engine> engine_;
    std::unique_ptr<Api> api_;
};

// The job types of the seed, each with the state in which it keeps its site; empty: none.
struct SiteType {
    const char* name;
    const char* state;
};
const std::vector<SiteType>& site_types();

// A failure without a reason; the job may be tried again.
inline Fields failure(bool is_retryable = true) {
    return {{"outcome", "failed"},
            {"error_code", "ANSIBLE_HOST_FAILED"},
            {"error_message", "the disk is full"},
            {"retryable", is_retryable}};
}

}  // namespace sluice::e2e
