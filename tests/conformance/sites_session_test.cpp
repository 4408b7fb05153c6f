// Seed 001: one session of a control plane and the worker of its node, from the node's record to a
// site that runs again.
#include "conformance/sites.hpp"

namespace sluice::e2e {
namespace sites_session_test {

class SitesSession : public SitesTest {
  protected:
    Json take(const std::string& type) {
        return api().claim_one({{"types", List{Json(type)}}, {"worker_id", "node-7:4711"}});
    }
    Response send(const std::string& path, const std::string& body, const std::string& user) {
        return api().http.post("/api/v1" + path, body, as(user));
    }
};

TEST_F(SitesSession, OfAControlPlaneAndTheWorkerOfItsNode) {
    serve("admins = [\"ada\"]");
    expect_ok(send("/nodes",
                   R"({"id":"node-7","attributes":{"hostname":"node-7.example.com","port":22,)"
                   R"("user":"deploy","key_file":"/etc/keys/node-7"}})",
                   "ada"),
              201);
    expect_ok(send("/sites", R"({"id":"shop"})", "ada"), 201);

    // The site is made; a second job on it waits, however many workers claim.
    const std::string on_shop = R"(,"site_id":"shop","node_id":"node-7"})";
    const Json created = expect_ok(
        send("/jobs", R"({"type":"site_create","payload":{"domain":"shop.example.com"})" + on_shop,
             "eve"),
        202);
    const Json toggled = expect_ok(
        send("/jobs", R"({"type":"env_cache_toggle","payload":{"enabled":true})" + on_shop, "eve"),
        202);
    const Json making = take("site_create");
    EXPECT_EQ(job_of(making), text(created, "id"));
    EXPECT_EQ(text(api().job(job_of(making)), "locked_by"), "node-7:4711");
    EXPECT_EQ(site_state("shop"), "deploying");
    EXPECT_TRUE(api().claim().empty());
    expect_ok(api().heartbeat(making, {{"progress", 50}, {"message", "packages"}}));
    expect_ok(api().succeed(making));
    EXPECT_EQ(site_state("shop"), "active");

    // A failure has a reason, and is tried again after a minute; meanwhile an admin cancels it.
    const Json toggling = take("env_cache_toggle");
    EXPECT_EQ(job_of(toggling), text(toggled, "id"));
    EXPECT_EQ(api().report(toggling, {{"outcome", "failed"}}).status, 422);
    const Json again = expect_ok(api().report(toggling, failure()));
    EXPECT_EQ(text(again, "state"), "queued");
    EXPECT_EQ(text(again, "error_code"), "ANSIBLE_HOST_FAILED");
    EXPECT_EQ(site_state("shop"), "deploying");
    const std::string cancel = "/jobs/" + job_of(toggling) + "/cancel";
    expect_refused(send(cancel, R"({"reason":"wrong site"})", "eve"), 403, "forbidden");
    expect_ok(send(cancel, R"({"reason":"wrong site"})", "ada"));
    EXPECT_EQ(site_state("shop"), "failed") << "nothing is rolled back";
    expect_refused(send("/jobs", R"({"type":"env_deploy")" + on_shop, "eve"), 409,
                   "resource_failed");

    // After the admin's reset the site is deployed again.
    expect_ok(send("/sites/shop/reset", "{}", "ada"));
    expect_ok(send("/jobs", R"({"type":"env_deploy","payload":{"release":"r2"})" + on_shop, "eve"),
              202);
    expect_ok(api().succeed(take("env_deploy")));
    EXPECT_EQ(site_state("shop"), "active");
    EXPECT_EQ(list(api().get("/api/v1/jobs?site_id=shop&state=succeeded"), "jobs").size(), 2u);
}

}  // namespace sites_session_test
}  // namespace sluice::e2e
