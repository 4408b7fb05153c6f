// Cancellation of seed 001.
#include "conformance/sites.hpp"
#include "e2e/work_process.hpp"

namespace sluice::e2e {
namespace sites_cancel_test {

class SitesCancel : public SitesTest {
  protected:
    Response cancel(const std::string& id, const Headers& headers) {
        return post("/api/v1/jobs/" + id + "/cancel", {{"reason", "no longer needed"}}, headers);
    }
};

TEST_F(SitesCancel, OnlyAdminsCancel) {
    serve("admins = [\"ada\"]");
    for (const SiteType& type : site_types()) {
        const std::string id = api().submit_id(on_site(type.name, fresh_name("site")));

        expect_refused(cancel(id, as("eve")), 403, "forbidden");
        EXPECT_EQ(api().state(id), "queued") << type.name;
        const Json job = expect_ok(cancel(id, as("ada")));
        EXPECT_EQ(text(job, "state"), "canceled") << type.name;
    }
    // The document spells it with two l, so clients may filter by that.
    EXPECT_EQ(list(api().get("/api/v1/jobs?state=cancelled"), "jobs").size(), site_types().size());
    const std::string other = api().submit_id({{"type", "greet"}});
    expect_ok(cancel(other, as("eve")));
}

TEST_F(SitesCancel, AJobThatHasEndedIsNotCancellable) {
    serve();
    const Json done = start("health_check", "a");
    expect_ok(api().succeed(done));
    const Json failed = start("health_check", "b");
    expect_ok(api().report(failed, failure(false)));

    for (const Json& lease : {done, failed}) {
        expect_refused(cancel(job_of(lease), {}), 409, "job_not_cancellable");
    }
    EXPECT_EQ(api().state(job_of(done)), "succeeded");
    EXPECT_EQ(api().state(job_of(failed)), "failed");
}

TEST_F(SitesCancel, CancellingAgainChangesNothing) {
    serve();
    const std::string id = api().submit_id(on_site("env_deploy", "shop"));

    const Json first = expect_ok(cancel(id, {}));
    const Json second = expect_ok(cancel(id, {}));

    EXPECT_EQ(first, second);
}

TEST_F(SitesCancel, NothingIsRolledBack) {
    serve();
    const Json lease = start("env_deploy", "shop");

    expect_ok(cancel(job_of(lease), {}));

    EXPECT_EQ(list(api().get("/api/v1/jobs"), "jobs").size(), 1u) << "no job that undoes it";
    EXPECT_EQ(api().state(job_of(lease)), "canceled");
    EXPECT_EQ(site_state("shop"), "failed");
}

TEST_F(SitesCancel, ARunningJobIsToldToStopSafely) {
    serve();
    const Json lease = start("env_deploy", "shop");

    expect_ok(cancel(job_of(lease), {}));

    EXPECT_TRUE(flag(expect_ok(api().heartbeat(lease)), "cancel_requested"));
    expect_ok(post("/api/v1/sites/shop/reset", {}));
    api().submit(on_site("env_deploy", "shop"));
    EXPECT_TRUE(api().claim().empty()) << "the site is taken until the worker has stopped";
    expect_ok(api().report(lease, {{"outcome", "canceled"}}));
    EXPECT_EQ(api().claim().size(), 1u);
}

TEST_F(SitesCancel, ARunningCommandGetsTheTimeToStop) {
    serve();
    const std::string marker = file("marker", "");
    const std::string id = api().submit_id(on_site("health_check", "shop"));
    WorkProcess worker(api(),
                       "trap 'echo stopped > " + marker +
                           "; exit 0' TERM; echo started; while :; do sleep 0.05; done",
                       {"--lease", "1s"});
    ASSERT_TRUE(eventually([&] { return !api().logs(id).empty(); }));

    expect_ok(cancel(id, {}));

    EXPECT_TRUE(eventually([&] {
        std::ifstream in(marker);
        std::string word;
        return in >> word && word == "stopped";
    }));
}

}  // namespace sites_cancel_test
}  // namespace sluice::e2e
