// "dry_run" of the writes that pause, end and give: nothing changes, and the answer says what
// would. limits_test.cpp has those of rules in general, maintenance_test.cpp the start of
// maintenance.
#include "e2e/limits_support.hpp"

namespace sluice::e2e {
namespace limits_dry_run_test {

// An engine of its own: the whole control history is compared.
class LimitsDryRun : public testing::TestWithParam<const char*> {
  protected:
    LimitsDryRun()
        : engine(std::string(GetParam()) == "memory"
                     ? "memory:"
                     : "sqlite:" + (folder.path() / "s.db").string()),
          api(engine.port(), "default") {
        submit_some(api, 3, {{"tenant", "acme"}, {"source", "nightly"}});
    }

    // All that a write can change, as it is shown.
    std::string everything() {
        std::string all;
        for (const char* path : {"/limits", "/limits/history?limit=1000", "/quotas",
                                 "/quotas/profiles", "/maintenance", "/tenants/blocked"}) {
            all += api.http.get(std::string("/api/v1") + path).body + "\n";
        }
        for (const Json& source : list(api.get("/api/v1/sources"), "sources")) {
            all += flag(source, "paused") ? "paused " : "open ";
        }
        return all;
    }

    // The answer to the write as a dry run, which has changed nothing.
    Json tried(const std::string& path, Fields fields = {}) {
        SCOPED_TRACE(path);
        const std::string before = everything();
        fields["dry_run"] = true;
        const Response response = post(api, path, fields);
        EXPECT_EQ(response.header("ETag"), "");
        Json answer = expect_ok(response);
        EXPECT_TRUE(flag(answer, "dry_run"));
        EXPECT_EQ(everything(), before);
        return answer;
    }
    Json done(const std::string& path, const Fields& fields = {}) {
        Json answer = expect_ok(post(api, path, fields));
        EXPECT_FALSE(flag(answer, "dry_run"));
        return answer;
    }
    std::size_t claimed() { return api.claim({{"tenant", "acme"}, {"limit", 9}}).size(); }

    const TempFolder folder;
    Engine engine;
    Api api;
};
INSTANTIATE_TEST_SUITE_P(Store, LimitsDryRun, testing::Values("memory", "sqlite"),
                         [](const auto& tested) { return std::string(tested.param); });

void expect_effect(const Json& answer, std::int64_t held_back, std::int64_t let_go) {
    EXPECT_EQ(number(at(answer, "effect"), "held_back"), held_back);
    EXPECT_EQ(number(at(answer, "effect"), "let_go"), let_go);
    EXPECT_FALSE(flag(at(answer, "effect"), "more"));
}

void expect_lifts(const Json& answer, const Json& rule) {
    ASSERT_EQ(list(answer, "lifted").size(), 1u);
    EXPECT_EQ(text(list(answer, "lifted")[0], "id"), text(rule, "id"));
}

TEST_P(LimitsDryRun, APauseOfASourceIsTold) {
    const Json pause =
        tried("/sources/nightly/pause", {{"until", later_by(std::chrono::hours(1))}});

    expect_effect(pause, 3, 0);
    EXPECT_EQ(text(pause, "kind"), "throttle");
    EXPECT_EQ(text(pause, "source"), "nightly");
    EXPECT_EQ(claimed(), 3u);
}

TEST_P(LimitsDryRun, AResumeOfASourceIsTold) {
    const Json pause = done("/sources/nightly/pause");

    const Json resume = tried("/sources/nightly/resume");

    expect_effect(resume, 0, 3);
    expect_lifts(resume, pause);
    EXPECT_EQ(claimed(), 0u);
    done("/sources/nightly/resume");
    EXPECT_EQ(claimed(), 3u);
}

TEST_P(LimitsDryRun, ThePauseOfAQuotaIsTold) {
    const Json quota =
        expect_ok(post(api, "/quotas", {{"tenant", "acme"}, {"max_active", 9}}), 201);

    const Json pause = tried("/quotas/" + text(quota, "id") + "/pause");

    expect_effect(pause, 3, 0);
    EXPECT_TRUE(flag(pause, "paused"));
    EXPECT_EQ(claimed(), 3u);
}

TEST_P(LimitsDryRun, ResumeAndLiftOfAQuotaAreTold) {
    const Json quota = expect_ok(
        post(api, "/quotas", {{"tenant", "acme"}, {"max_active", 2}, {"paused", true}}), 201);
    const std::string path = "/quotas/" + text(quota, "id");

    const Json resume = tried(path + "/resume");
    const Json lift = tried(path + "/lift");

    EXPECT_GE(number(at(resume, "effect"), "let_go"), 2);
    EXPECT_FALSE(flag(resume, "paused"));
    expect_effect(lift, 0, 3);
    EXPECT_EQ(text(lift, "id"), text(quota, "id"));
    EXPECT_EQ(claimed(), 0u);
    done(path + "/resume");
    EXPECT_EQ(claimed(), 2u);
}

TEST_P(LimitsDryRun, TheChangeOfAQuotaIsTold) {
    expect_effect(tried("/quotas", {{"tenant", "acme"}, {"paused", true}}), 3, 0);
    const Json quota =
        expect_ok(post(api, "/quotas", {{"tenant", "acme"}, {"max_active", 9}}), 201);

    expect_effect(tried("/quotas/" + text(quota, "id"), {{"paused", true}}), 3, 0);

    EXPECT_EQ(claimed(), 3u);
}

TEST_P(LimitsDryRun, AProfileThatIsGivenIsTold) {
    expect_ok(post(api, "/quotas", {{"profile", "gold"}, {"paused", true}}), 201);

    const Json given = tried("/quotas/profiles/gold", {{"tenants", List{"acme"}}});

    expect_effect(given, 3, 0);
    EXPECT_EQ(text(given, "name"), "gold");
    EXPECT_EQ(list(given, "tenants"), (List{"acme"}));
    done("/quotas/profiles/gold", {{"tenants", List{"acme"}}});
    expect_effect(tried("/quotas/profiles/gold", {{"tenants", List{}}}), 0, 3);
    EXPECT_EQ(claimed(), 0u);
}

TEST_P(LimitsDryRun, TheEndOfMaintenanceIsTold) {
    const Json rule = done("/maintenance");

    const Json end = tried("/maintenance/end");

    expect_effect(end, 0, 3);
    expect_lifts(end, rule);
    EXPECT_EQ(claimed(), 0u);
    EXPECT_TRUE(flag(parse(api.http.get("/readyz").body), "maintenance"));
    done("/maintenance/end");
    EXPECT_EQ(claimed(), 3u);
}

TEST_P(LimitsDryRun, TheBlockOfATenantIsToldAndTakesItsSubmits) {
    EXPECT_EQ(api.claim({{"tenant", "acme"}}).size(), 1u);

    const Json block = tried("/tenants/acme/block", {{"running", "cancel"}});

    expect_effect(block, 2, 0);
    EXPECT_EQ(number(block, "canceled"), 1);
    EXPECT_EQ(list(api.get("/api/v1/jobs?tenant=acme&state=running"), "jobs").size(), 1u);
    api.submit({{"tenant", "acme"}});
    EXPECT_EQ(claimed(), 3u);
}

TEST_P(LimitsDryRun, TheEndOfABlockIsTold) {
    const Json block = done("/tenants/acme/block");

    const Json end = tried("/tenants/acme/unblock");

    expect_effect(end, 0, 3);
    expect_lifts(end, block);
    EXPECT_EQ(claimed(), 0u);
    expect_refused(api.try_submit({{"tenant", "acme"}}), 403, "forbidden");
}

TEST_P(LimitsDryRun, IsRefusedAsTheWriteWouldBe) {
    const Fields dry{{"dry_run", true}};
    for (const char* path : {"/sources/other/resume", "/maintenance/end", "/tenants/acme/unblock",
                             "/quotas/65f000000000000000000000/pause"}) {
        expect_refused(post(api, path, dry), 404, "not_found");
    }
    for (const char* path : {"/sources/nightly/pause", "/tenants/acme/block"}) {
        expect_refused(api.http.post(std::string("/api/v1") + path, serialize(dry)), 422, "invalid",
                       "/reason");
    }
    EXPECT_EQ(claimed(), 3u);
}

}  // namespace limits_dry_run_test
}  // namespace sluice::e2e
