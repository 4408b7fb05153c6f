// Maintenance of the engine and of tenants, and blocked tenants.
#include "e2e/limits_support.hpp"

namespace sluice::e2e {
namespace maintenance_test {

// Engines of its own: maintenance is for all who use one.
class Maintenance : public testing::TestWithParam<const char*> {
  protected:
    Maintenance()
        : engine(std::string(GetParam()) == "memory"
                     ? "memory:"
                     : "sqlite:" + (folder.path() / "s.db").string()),
          api(engine.port(), "default") {}

    TempFolder folder;
    Engine engine;
    Api api;
};
INSTANTIATE_TEST_SUITE_P(Store, Maintenance, testing::Values("memory", "sqlite"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(Maintenance, GivesNoLeaseWhileRunningJobsGoOn) {
    submit_some(api, 2);
    const Json lease = api.claim_one();

    const Json rule = expect_ok(post(api, "/maintenance", {{"reason", "deploy"}}));

    EXPECT_EQ(text(rule, "kind"), "maintenance");
    EXPECT_EQ(number(at(rule, "effect"), "held_back"), 1);
    const Json none = expect_ok(api.http.post("/api/v1/leases", api.claim_text()));
    EXPECT_TRUE(list(none, "leases").empty());
    EXPECT_EQ(text(none, "reason"), "maintenance");
    const std::string later = api.submit_id();
    EXPECT_EQ(api.reasons(later).at(0), "maintenance");
    expect_ok(api.heartbeat(lease));
    expect_ok(api.succeed(lease));
    EXPECT_TRUE(api.claim().empty());
    expect_ok(api.cancel(later));
    const Json ready = expect_ok(api.http.get("/readyz"));
    EXPECT_TRUE(flag(ready, "maintenance"));
    EXPECT_EQ(text(ready, "reason"), "deploy");

    expect_ok(post(api, "/maintenance/end", {}));

    EXPECT_EQ(api.claim().size(), 1u);
    EXPECT_EQ(api.http.get("/readyz").body, R"({"status":"ready"})");
    expect_refused(post(api, "/maintenance/end", {}), 404, "not_found");
}

TEST_P(Maintenance, ItsEndWakesAWaitingClaim) {
    expect_ok(post(api, "/maintenance", {}));
    api.submit();
    Client waiting(engine.port());
    waiting.send(request_text("POST", "/api/v1/leases", api.claim_text({{"wait_ms", 20'000}})));
    EXPECT_FALSE(waiting.receive(Millis(300)));

    expect_ok(post(api, "/maintenance/end", {}));

    const auto answer = waiting.receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(list(expect_ok(*answer), "leases").size(), 1u);
}

TEST_P(Maintenance, MayRefuseSubmits) {
    expect_ok(post(api, "/maintenance", {{"submits", "refuse"}, {"reason", "move"}}));

    const Response refused = api.try_submit({});

    expect_refused(refused, 503, "unavailable");
    EXPECT_EQ(refused.header("Retry-After"), "30") << "it has no end";
    EXPECT_NE(refused.body.find("move"), std::string::npos);
    const auto retry_after_end_in = [&](std::chrono::seconds end) {
        expect_ok(post(api, "/maintenance", {{"submits", "refuse"}, {"until", later_by(end)}}));
        return std::stoi(api.try_submit({}).header("Retry-After"));
    };
    const int minutes = retry_after_end_in(std::chrono::minutes(10));
    EXPECT_GT(minutes, 500);
    EXPECT_LE(minutes, 600);
    EXPECT_EQ(retry_after_end_in(std::chrono::hours(5)), 3600);
    const Json again = expect_ok(post(api, "/maintenance", {{"submits", "take"}}));
    EXPECT_EQ(list(api.get("/api/v1/maintenance"), "maintenance").size(), 1u);
    EXPECT_EQ(number(again, "revision"), 4);
    api.submit();
}

TEST_P(Maintenance, OfATenantLeavesOthersAlone) {
    expect_ok(post(api, "/maintenance", {{"tenant", "acme"}}));
    api.submit({{"tenant", "acme"}});
    api.submit();

    EXPECT_EQ(api.claim().size(), 1u);
    const Json none =
        expect_ok(api.http.post("/api/v1/leases", api.claim_text({{"tenant", "acme"}})));
    EXPECT_TRUE(list(none, "leases").empty());
    EXPECT_EQ(text(none, "reason"), "maintenance");
    EXPECT_EQ(api.http.get("/readyz").body, R"({"status":"ready"})");
}

TEST_P(Maintenance, ADryRunBeginsNothing) {
    api.submit();
    const Json dry = expect_ok(post(api, "/maintenance", {{"dry_run", true}}));
    EXPECT_EQ(number(at(dry, "effect"), "held_back"), 1);
    EXPECT_TRUE(list(api.get("/api/v1/maintenance"), "maintenance").empty());
    EXPECT_EQ(api.claim().size(), 1u);
}

TEST_P(Maintenance, ABlockedTenantMaySubmitAndStartNothing) {
    api.submit({{"tenant", "acme"}});
    const Json lease = api.claim_one({{"tenant", "acme"}});
    const std::string queued = api.submit_id({{"tenant", "acme"}});

    const Json rule = expect_ok(post(api, "/tenants/acme/block", {{"reason", "unpaid"}}));

    EXPECT_EQ(text(rule, "kind"), "block");
    EXPECT_EQ(number(rule, "canceled"), 0);
    const Response refused = api.try_submit({{"tenant", "acme"}});
    expect_refused(refused, 403, "forbidden");
    EXPECT_NE(refused.body.find("unpaid"), std::string::npos);
    EXPECT_TRUE(api.claim({{"tenant", "acme"}}).empty());
    EXPECT_EQ(api.reasons(queued).at(0), "tenant_blocked");
    expect_ok(api.succeed(lease));
    const Json blocked = api.get("/api/v1/tenants/blocked");
    EXPECT_EQ(text(list(blocked, "tenants")[0], "tenant"), "acme");
    api.submit();

    expect_ok(post(api, "/tenants/acme/unblock", {}));

    EXPECT_EQ(job_of(api.claim_one({{"tenant", "acme"}})), queued);
    api.submit({{"tenant", "acme"}});
    expect_refused(post(api, "/tenants/acme/unblock", {}), 404, "not_found");
}

TEST_P(Maintenance, ABlockMayCancelWhatRuns) {
    submit_some(api, 5, {{"tenant", "acme"}});
    EXPECT_EQ(api.claim({{"tenant", "acme"}, {"limit", 4}}).size(), 4u);
    const Fields cancel{{"running", "cancel"}, {"reason", "abuse"}};
    Fields dry = cancel;
    dry["dry_run"] = true;
    EXPECT_EQ(number(expect_ok(post(api, "/tenants/acme/block", dry)), "canceled"), 4);

    EXPECT_EQ(number(expect_ok(post(api, "/tenants/acme/block", cancel)), "canceled"), 4);

    const Json canceled = api.get("/api/v1/jobs?tenant=acme&state=canceled");
    ASSERT_EQ(list(canceled, "jobs").size(), 4u);
    EXPECT_EQ(text(list(canceled, "jobs")[0], "error_message"), "abuse");
    EXPECT_EQ(list(api.get("/api/v1/jobs?tenant=acme&state=queued"), "jobs").size(), 1u);
}

TEST_P(Maintenance, RefusesWhatMakesNoSense) {
    expect_refused(api.http.post("/api/v1/maintenance", "{}"), 422, "invalid", "/reason");
    expect_refused(post(api, "/maintenance", {{"submits", "maybe"}}), 422, "invalid", "/submits");
    expect_refused(post(api, "/maintenance", {{"running", "cancel"}}), 422, "invalid", "/running");
    expect_refused(post(api, "/tenants/@x/block", {}), 422, "invalid");
    expect_refused(post(api, "/tenants/a*/block", {}), 400, "malformed");
    expect_refused(api.http.post("/api/v1/tenants/acme/block", "{}"), 422, "invalid", "/reason");
    const std::string id = text(expect_ok(post(api, "/maintenance", {})), "id");
    expect_refused(post(api, "/limits/" + id, {{"max_active", 1}}), 409, "conflict");
    expect_ok(post(api, "/limits/" + id + "/lift", {}));
}

}  // namespace maintenance_test
}  // namespace sluice::e2e
