// Quotas of tenants and profiles.
#include "e2e/limits_support.hpp"

namespace sluice::e2e {
namespace quotas_test {

class Quotas : public EachStore {
  protected:
    Json quota(Fields fields) { return expect_ok(post(api, "/quotas", std::move(fields)), 201); }
    std::size_t claimed(const std::string& tenant, int limit = 10) {
        return api.claim({{"tenant", tenant}, {"limit", limit}}).size();
    }

    const std::string acme = fresh_name("acme");
    const std::string other = fresh_name("other");
    const std::string type = fresh_name("type");
};
INSTANTIATE_TEST_SUITE_P(Store, Quotas, testing::Values("memory", "sqlite"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(Quotas, BoundATenantAndNoOther) {
    quota({{"tenant", acme}, {"max_active", 2}});
    submit_some(api, 4, {{"tenant", acme}});
    submit_some(api, 4, {{"tenant", other}});

    EXPECT_EQ(claimed(acme), 2u);
    EXPECT_EQ(claimed(other), 4u);
}

TEST_P(Quotas, OfATypeAndOfAllTypesHoldTogether) {
    quota({{"tenant", acme}, {"max_active", 3}});
    quota({{"tenant", acme}, {"type", type}, {"max_active", 1}});
    submit_some(api, 3, {{"tenant", acme}, {"type", type}});
    submit_some(api, 4, {{"tenant", acme}});

    EXPECT_EQ(claimed(acme), 3u);
    const Json jobs = api.get("/api/v1/jobs?state=running&tenant=" + acme + "&type=" + type);
    EXPECT_EQ(list(jobs, "jobs").size(), 1u);
}

TEST_P(Quotas, TheDefaultCountsEachTenantForItselfUntilAnotherReplacesIt) {
    const Json made = quota({{"type", type}, {"max_active", 1}});
    EXPECT_EQ(at(made, "per"), Json(List{"tenant", "type"}));
    quota({{"tenant", acme}, {"type", type}, {"max_active", 3}});
    submit_some(api, 5, {{"tenant", acme}, {"type", type}});
    submit_some(api, 5, {{"tenant", other}, {"type", type}});

    EXPECT_EQ(claimed(acme), 3u);
    EXPECT_EQ(claimed(other), 1u);
}

TEST_P(Quotas, OfAProfileHoldForItsTenants) {
    const std::string profile = fresh_name("profile");
    quota({{"profile", profile}, {"type", type}, {"max_active", 1}});
    const Json set = expect_ok(
        post(api, "/quotas/profiles/" + profile, {{"tenants", List{Json(acme), Json(other)}}}));
    EXPECT_EQ(list(set, "tenants").size(), 2u);
    for (const std::string& tenant : {acme, other}) {
        submit_some(api, 3, {{"tenant", tenant}, {"type", type}});
        EXPECT_EQ(claimed(tenant), 1u);
    }
    EXPECT_NE(serialize(api.get("/api/v1/quotas/profiles")).find(profile), std::string::npos);

    expect_ok(post(api, "/quotas/profiles/" + profile, {{"tenants", List{Json(other)}}}));

    EXPECT_EQ(claimed(acme), 2u);
    EXPECT_EQ(claimed(other), 0u);
}

TEST_P(Quotas, PerHourHaveABurst) {
    const Json made = quota({{"tenant", acme}, {"max_per_hour", 120}});
    EXPECT_EQ(number(made, "max_per_hour"), 120);
    EXPECT_EQ(number(made, "burst"), 2);
    submit_some(api, 4, {{"tenant", acme}});

    EXPECT_EQ(claimed(acme), 2u);
    const Json now = api.get("/api/v1/quotas/" + text(made, "id"));
    EXPECT_EQ(number(list(now, "meters")[0], "started_last_hour"), 2);
    EXPECT_EQ(number(list(now, "meters")[0], "tokens"), 0);

    const Json changed =
        expect_ok(post(api, "/quotas/" + text(made, "id"), {{"max_per_hour", 600}}));
    EXPECT_EQ(number(changed, "burst"), 10);
    EXPECT_EQ(claimed(acme), 2u);
}

TEST_P(Quotas, ASecondOneForTheSameIsAConflict) {
    quota({{"tenant", acme}, {"max_active", 2}});
    expect_refused(post(api, "/quotas", {{"tenant", acme}, {"max_active", 3}}), 409, "conflict");
}

TEST_P(Quotas, ArePausedResumedAndLifted) {
    const std::string path = "/quotas/" + text(quota({{"tenant", acme}, {"max_active", 1}}), "id");
    submit_some(api, 3, {{"tenant", acme}});

    EXPECT_TRUE(flag(expect_ok(post(api, path + "/pause", {})), "paused"));
    EXPECT_EQ(claimed(acme), 0u);
    EXPECT_FALSE(flag(expect_ok(post(api, path + "/resume", {})), "paused"));
    EXPECT_EQ(claimed(acme), 1u);
    expect_ok(post(api, path + "/lift", {}));
    EXPECT_EQ(claimed(acme), 2u);
    expect_refused(api.http.get("/api/v1" + path), 404, "not_found");
    expect_refused(post(api, path + "/leave", {}), 404, "not_found");
}

TEST_P(Quotas, LoweredUnderLoadStopNothingAndHoldFromThenOn) {
    const std::string path = "/quotas/" + text(quota({{"tenant", acme}, {"max_active", 3}}), "id");
    submit_some(api, 6, {{"tenant", acme}});
    const List leases = api.claim({{"tenant", acme}, {"limit", 10}});
    ASSERT_EQ(leases.size(), 3u);

    expect_ok(post(api, path, {{"max_active", 1}}));

    for (std::size_t i = 0; i < 2; ++i) {
        expect_ok(api.succeed(leases[i]));
        EXPECT_EQ(claimed(acme), 0u);
    }
    expect_ok(api.succeed(leases[2]));
    EXPECT_EQ(claimed(acme), 1u);
}

TEST_P(Quotas, TakeTheReasonUnderEitherName) {
    const Response made =
        api.http.post("/api/v1/quotas", serialize(Fields{{"tenant", acme},
                                                         {"max_active", 1},
                                                         {"quota_reason", "plan"},
                                                         {"quota_ticket", "Q-1"}}));
    EXPECT_EQ(text(expect_ok(made, 201), "reason"), "plan");
    EXPECT_EQ(text(parse(made.body), "ticket"), "Q-1");
}

TEST_P(Quotas, RefuseWhatMakesNoSense) {
    const auto refused = [&](Fields fields, const char* pointer) {
        SCOPED_TRACE(serialize(fields));
        expect_refused(post(api, "/quotas", std::move(fields)), 422, "invalid", pointer);
    };
    refused({{"tenant", acme}}, "");
    refused({{"tenant", acme}, {"max_active", 0}}, "/max_active");
    refused({{"tenant", acme}, {"max_per_hour", 0}}, "/max_per_hour");
    refused({{"tenant", acme}, {"max_per_hour", 60}, {"burst", 0}}, "/burst");
    refused({{"tenant", acme}, {"burst", 2}}, "/burst");
    refused({{"tenant", "ac*"}, {"max_active", 1}}, "/tenant");
    refused({{"tenant", acme}, {"profile", "p"}, {"max_active", 1}}, "/profile");
    refused({{"tenant", acme}, {"max_active", 1}, {"queue", "q"}}, "/queue");
    refused({{"tenant", acme}, {"max_active", 1}, {"reason", nullptr}}, "/reason");
    expect_refused(post(api, "/quotas/profiles/p", {{"tenants", List{""}}}), 422, "invalid",
                   "/tenants/0");
}

}  // namespace quotas_test
}  // namespace sluice::e2e
