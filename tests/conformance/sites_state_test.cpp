// State synchronization of seed 001: sites and environments move with their jobs.
#include "conformance/sites.hpp"

namespace sluice::e2e {
namespace sites_state_test {

class SitesState : public SitesTest {
  protected:
    // The events of the site, as "action from to" lines.
    std::vector<std::string> steps(const std::string& site) {
        std::vector<std::string> all;
        for (const Json& event :
             list(api().get("/api/v1/entities/site/" + site + "/events"), "events")) {
            all.push_back(text(event, "action") + " " + text(event, "from") + " " +
                          text(event, "to"));
        }
        return all;
    }
};

TEST_F(SitesState, TheStartOfAJobMovesItsSite) {
    serve();

    for (const SiteType& type : site_types()) {
        const std::string site = fresh_name("site");
        const Json lease = start(type.name, site);
        if (*type.state != '\0') {
            EXPECT_EQ(site_state(site), type.state) << type.name;
        } else {
            EXPECT_EQ(api().http.get("/api/v1/sites/" + site).status, 404) << type.name;
        }
        expect_ok(api().succeed(lease));
        if (*type.state == '\0') continue;
        EXPECT_EQ(site_state(site), "active") << type.name;
    }
}

TEST_F(SitesState, TheStartOfAJobMovesItsEnvironment) {
    serve();
    const Fields about{{"entity_type", "environment"}, {"entity_id", "staging"}};

    const Json lease = start("env_create", "shop", about);

    EXPECT_EQ(text(entity("environment", "staging"), "state"), "cloning");
    EXPECT_EQ(site_state("shop"), "cloning");
    expect_ok(api().report(lease, failure(false)));
    EXPECT_EQ(text(entity("environment", "staging"), "state"), "failed");
    EXPECT_EQ(site_state("shop"), "failed");
    expect_ok(post("/api/v1/environments/staging/reset", {}));
    EXPECT_EQ(text(entity("environment", "staging"), "state"), "active");
}

TEST_F(SitesState, ASiteWaitsAsActiveUntilTheJobStarts) {
    serve();
    expect_ok(post("/api/v1/sites", {{"id", "shop"}}), 201);
    api().submit(on_site("env_deploy", "shop"));

    EXPECT_EQ(site_state("shop"), "active");
    api().claim_one();
    EXPECT_EQ(site_state("shop"), "deploying");
}

TEST_F(SitesState, ARetryKeepsTheInProgressState) {
    serve();
    const Json first = start("env_restore", "shop", {{"backoff", "none"}});

    expect_ok(api().report(first, failure()));
    EXPECT_EQ(site_state("shop"), "restoring") << "while the retry waits";
    const Json second = api().claim_one();
    EXPECT_EQ(site_state("shop"), "restoring") << "while it runs";
    expect_ok(api().succeed(second));

    EXPECT_EQ(site_state("shop"), "active");
    EXPECT_EQ(steps("shop"),
              (std::vector<std::string>{"created  active", "restore active restoring",
                                        "done restoring active"}));
}

TEST_F(SitesState, ALastFailureFailsTheSite) {
    serve();
    for (int attempt = 1; attempt <= 3; ++attempt) {
        const Json lease =
            attempt == 1 ? start("env_update", "shop", {{"backoff", "none"}}) : api().claim_one();
        EXPECT_EQ(site_state("shop"), "deploying");
        expect_ok(api().report(lease, failure()));
    }

    EXPECT_EQ(site_state("shop"), "failed");
}

TEST_F(SitesState, CancellingARunningJobFailsTheSite) {
    serve();
    const Json lease = start("env_deploy", "shop");

    expect_ok(api().cancel(job_of(lease)));

    EXPECT_EQ(site_state("shop"), "failed");
}

TEST_F(SitesState, CancellingAQueuedJobLeavesTheSiteAlone) {
    serve();
    expect_ok(post("/api/v1/sites", {{"id", "shop"}}), 201);
    const std::string id = api().submit_id(on_site("env_deploy", "shop"));

    expect_ok(api().cancel(id));

    EXPECT_EQ(site_state("shop"), "active");
    EXPECT_EQ(steps("shop").size(), 1u);
}

TEST_F(SitesState, CancellingAJobThatWaitsForItsRetryFailsTheSite) {
    serve();
    const Json lease = start("env_deploy", "shop");
    expect_ok(api().report(lease, failure()));

    expect_ok(api().cancel(job_of(lease)));

    EXPECT_EQ(site_state("shop"), "failed");
}

TEST_F(SitesState, AJobOnAFailedSiteIsRefused) {
    serve();
    fail_for_good("shop");

    expect_refused(api().try_submit(on_site("env_deploy", "shop")), 409, "resource_failed");
    api().submit(on_site("health_check", "shop"));  // does not change the site
}

TEST_F(SitesState, AJobThatWasQueuedWhenItsSiteFailedFailsWhenItIsTaken) {
    serve();
    const Json first = start("env_deploy", "shop");
    const std::string second = api().submit_id(on_site("env_update", "shop"));
    expect_ok(api().report(first, failure(false)));

    EXPECT_TRUE(api().claim().empty());

    ASSERT_TRUE(api().reaches(second, "failed"));
    EXPECT_EQ(text(api().job(second), "error_code"), "RESOURCE_FAILED");
    EXPECT_FALSE(text(api().job(second), "error_message").empty());
    EXPECT_EQ(site_state("shop"), "failed");
}

TEST_F(SitesState, OnlyAnAdminResetsAFailedSite) {
    serve("admins = [\"ada\"]");
    fail_for_good("shop");

    expect_refused(post("/api/v1/sites/shop/reset", {}, as("eve")), 403, "forbidden");
    expect_refused(post("/api/v1/entities/site/shop", {{"action", "reset"}}, as("eve")), 403,
                   "forbidden");
    EXPECT_EQ(site_state("shop"), "failed");
    const Json site = expect_ok(post("/api/v1/sites/shop/reset", {}, as("ada")));

    EXPECT_EQ(text(site, "state"), "active");
    api().submit(on_site("env_deploy", "shop"));
}

TEST_F(SitesState, OnlyAFailedSiteIsReset) {
    serve();
    expect_ok(post("/api/v1/sites", {{"id", "idle"}}), 201);
    start("env_deploy", "busy");

    expect_refused(post("/api/v1/sites/idle/reset", {}), 409, "resource_not_failed");
    expect_refused(post("/api/v1/sites/busy/reset", {}), 409, "resource_not_failed");
    expect_refused(post("/api/v1/sites/nowhere/reset", {}), 404, "not_found");
    EXPECT_EQ(site_state("busy"), "deploying");
}

TEST_F(SitesState, StatesFollowJobsAndAreNotSetByHand) {
    serve();
    const Json lease = start("env_deploy", "shop");

    for (const char* action : {"done", "fail", "deploy", "clone", "restore"}) {
        expect_refused(post("/api/v1/entities/site/shop", {{"action", action}}), 403, "forbidden");
    }
    expect_refused(post("/api/v1/entities/site/shop", {{"attributes", {{"job_id", "x"}}}}), 422,
                   "invalid", "/attributes/job_id");
    EXPECT_EQ(site_state("shop"), "deploying");
    expect_ok(api().succeed(lease));
    EXPECT_EQ(site_state("shop"), "active");
}

// The site's event names the job, and both happened at the same moment: they were written together.
TEST_F(SitesState, TheSiteMovesInTheTransactionOfItsJob) {
    serve();
    const Json lease = start("env_deploy", "shop");
    expect_ok(api().succeed(lease));

    const Json job = api().job(job_of(lease));
    const List events = list(api().get("/api/v1/entities/site/shop/events"), "events");
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(text(events[1], "action"), "deploy");
    EXPECT_EQ(text(events[2], "action"), "done");
    for (const std::size_t i : {1u, 2u}) EXPECT_EQ(text(events[i], "job_id"), job_of(lease));
    EXPECT_EQ(text(events[1], "at"), text(at(lease, "job"), "started_at"));
    EXPECT_EQ(text(events[2], "at"), text(job, "completed_at"));
}

}  // namespace sites_state_test
}  // namespace sluice::e2e
