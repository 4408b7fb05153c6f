// Who may see and change which rules.
#include "e2e/guarded_engine.hpp"
#include "e2e/limits_support.hpp"

namespace sluice::e2e {
namespace limit_rights_test {

class LimitRights : public testing::Test {
  protected:
    std::string token(const char* scope, const char* tenant, bool all_tenants = false) {
        Fields fields{{"name", scope}, {"kind", "user"}, {"scopes", List{scope, "orch:read"}}};
        if (all_tenants) {
            fields["all_tenants"] = true;
        } else {
            fields["tenant"] = tenant;
        }
        return engine.token(fields);
    }
    Response post(const std::string& token, const std::string& path, Fields fields) {
        fields.insert({{"reason", "a test"}});
        return engine.post(token, "/api/v1" + path, fields);
    }
    Response get(const std::string& token, const std::string& path) {
        return engine.get(token, "/api/v1" + path);
    }
    std::size_t seen(const std::string& token, const std::string& path = "/limits") {
        return list(expect_ok(get(token, path)), "limits").size();
    }

    GuardedEngine engine;
    const std::string a = token("orch:quota", "a");
    const std::string b = token("orch:quota", "b");
    const std::string all = token("orch:quota", "", true);
    const std::string admin_of_a = token("orch:admin", "a");
    const std::string operator_of_a = token("orch:operate", "a");
};

TEST_F(LimitRights, ATenantMakesRulesForItselfOnly) {
    const Json own = expect_ok(post(a, "/limits", {{"max_active", 1}}), 201);
    EXPECT_EQ(text(own, "tenant"), "a");
    EXPECT_EQ(text(expect_ok(post(a, "/quotas", {{"max_active", 1}}), 201), "tenant"), "a");
    for (const char* tenant : {"b", "a*", "b*"}) {
        expect_refused(post(a, "/limits", {{"max_active", 1}, {"tenant", tenant}}), 403,
                       "forbidden", "/tenant");
    }
    expect_refused(post(a, "/quotas", {{"max_active", 1}, {"profile", "p"}}), 403, "forbidden");
    expect_refused(post(a, "/quotas/profiles/p", {{"tenants", List{"a"}}}), 403, "forbidden");
    expect_refused(post(a, "/limits/" + text(own, "id"), {{"tenant", nullptr}}), 403, "forbidden");
    expect_refused(post(a, "/limits/" + text(own, "id"), {{"tenant", "b"}}), 403, "forbidden");
    EXPECT_EQ(text(expect_ok(get(a, "/limits/" + text(own, "id"))), "tenant"), "a");
}

// Its own quota counts by the same name from the first request on: a change refills nothing.
TEST_F(LimitRights, AChangeOfATenantsOwnQuotaKeepsWhatItHasCounted) {
    const auto made = expect_ok(post(a, "/quotas", {{"max_per_hour", 2}, {"burst", 2}}), 201);
    const auto started = [&] {
        const Fields job{{"type", "t"}, {"tenant", "a"}};
        for (int i = 0; i < 3; ++i) {
            expect_ok(engine.post(engine.admin(), "/api/v1/jobs", job), 202);
        }
        const Fields claim{{"worker_id", "w"}, {"tenant", "a"}, {"limit", 9}};
        return list(expect_ok(engine.post(engine.admin(), "/api/v1/leases", claim)), "leases")
            .size();
    };
    ASSERT_EQ(started(), 2u);

    expect_ok(post(a, "/quotas/" + text(made, "id"), {{"max_active", 100}}));

    EXPECT_EQ(started(), 0u);
}

TEST_F(LimitRights, ATenantSeesAndChangesNoRuleOfAnother) {
    const std::string id = text(expect_ok(post(a, "/limits", {{"max_active", 1}}), 201), "id");

    EXPECT_EQ(seen(a), 1u);
    EXPECT_EQ(seen(b), 0u);
    EXPECT_EQ(seen(all), 1u);
    EXPECT_EQ(seen(all, "/limits?tenant=b"), 0u);
    expect_refused(get(b, "/limits/" + id), 404, "not_found");
    expect_refused(post(b, "/limits/" + id, {{"max_active", 9}}), 404, "not_found");
    expect_refused(post(b, "/limits/" + id + "/lift", {}), 404, "not_found");
    expect_refused(get(b, "/limits?tenant=a"), 403, "forbidden");
    EXPECT_EQ(get(b, "/limits/history").body.find(id), std::string::npos);
    EXPECT_NE(get(a, "/limits/history").body.find(id), std::string::npos);
    expect_ok(post(all, "/limits/" + id + "/lift", {}));
}

TEST_F(LimitRights, OfARuleForAllATenantSeesNoMetersOfOthers) {
    const std::string id = text(expect_ok(post(all, "/limits", {{"max_active", 5}}), 201), "id");
    const std::string each = text(
        expect_ok(post(all, "/limits", {{"max_active", 5}, {"per", List{"tenant"}}}), 201), "id");
    for (const char* tenant : {"a", "b"}) {
        const std::string submitter = token("orch:operate", tenant);
        const std::string worker =
            engine.token({{"name", "w"}, {"kind", "worker"}, {"tenant", tenant}});
        expect_ok(engine.post(submitter, "/api/v1/jobs", {{"type", "t"}}), 202);
        expect_ok(engine.post(worker, "/api/v1/leases", {{"worker_id", "w"}}));
    }

    const Json rule = expect_ok(get(a, "/limits/" + id));
    EXPECT_EQ(number(rule, "active"), 1);
    EXPECT_TRUE(list(rule, "meters").empty());
    const Json own = expect_ok(get(a, "/limits/" + each));
    ASSERT_EQ(list(own, "meters").size(), 1u);
    EXPECT_EQ(text(list(own, "meters")[0], "meter"), "tenant a");
    EXPECT_EQ(number(expect_ok(get(all, "/limits/" + id)), "active"), 2);
    expect_refused(post(a, "/limits/" + id, {{"max_active", 6}}), 403, "forbidden");
    expect_refused(post(a, "/limits/" + id + "/lift", {}), 403, "forbidden");
}

TEST_F(LimitRights, OperatorsPauseSourcesOfTheirTenant) {
    const Json rule = expect_ok(post(operator_of_a, "/sources/s/pause", {}));
    EXPECT_EQ(text(rule, "tenant"), "a");
    expect_refused(post(operator_of_a, "/sources/s/pause", {{"tenant", "b"}}), 403, "forbidden");
    expect_refused(post(operator_of_a, "/limits", {{"max_active", 1}}), 403, "forbidden");
    expect_refused(post(a, "/sources/s/pause", {}), 403, "forbidden");
    expect_ok(post(operator_of_a, "/sources/s/resume", {}));
    expect_refused(post(operator_of_a, "/sources/pause", {{"source", "s"}, {"tenant", "b"}}), 403,
                   "forbidden", "/tenant");
    EXPECT_EQ(text(expect_ok(post(operator_of_a, "/sources/pause", {{"source", "s/t"}})), "tenant"),
              "a");
}

TEST_F(LimitRights, AnEndOfAPauseIsForTheOwnTenantAndTellsNothingOfOthers) {
    const std::string root = engine.admin();
    expect_ok(post(root, "/sources/s/pause", {{"tenant", "b"}}));
    const auto refused = [&](const std::string& token, const char* path) {
        const Response response = post(token, path, {});
        expect_refused(response, 404, "not_found");
        return text(parse(response.body), "detail");
    };
    EXPECT_EQ(refused(operator_of_a, "/sources/s/resume"), "source s is not paused for tenant a");
    expect_ok(post(root, "/sources/s/pause", {}));
    EXPECT_EQ(refused(operator_of_a, "/sources/s/resume"),
              "source s is not paused for tenant a; it is paused for all tenants");
    expect_ok(post(operator_of_a, "/sources/s/pause", {}));
    EXPECT_EQ(list(expect_ok(post(operator_of_a, "/sources/s/resume", {})), "lifted").size(), 1u);

    expect_ok(post(root, "/maintenance", {{"tenant", "b"}}));
    EXPECT_EQ(refused(admin_of_a, "/maintenance/end"), "tenant a is not in maintenance");
    expect_ok(post(root, "/maintenance", {}));
    EXPECT_EQ(refused(admin_of_a, "/maintenance/end"),
              "tenant a is not in maintenance; the whole engine is");
}

TEST_F(LimitRights, OperatorsReleaseLeasesOfTheirTenantAndSayWhy) {
    const std::string job =
        text(expect_ok(engine.post(operator_of_a, "/api/v1/jobs", {{"type", "t"}}), 202), "id");
    const std::string worker = engine.token({{"name", "w"}, {"kind", "worker"}, {"tenant", "a"}});
    expect_ok(engine.post(worker, "/api/v1/leases", {{"worker_id", "w"}}));
    const std::string path = "/jobs/" + job + "/release-lease";

    expect_refused(post(a, path, {}), 403, "forbidden");
    expect_refused(post(token("orch:operate", "b"), path, {}), 404, "not_found");
    expect_refused(post(operator_of_a, path, {{"reason", ""}}), 422, "invalid", "/reason");
    expect_ok(post(operator_of_a, path, {}));
}

// What each right is for, and that none of the others is enough.
TEST_F(LimitRights, EachKindOfChangeNeedsItsRight) {
    const std::string reader = token("orch:read", "a");
    const std::string id = text(expect_ok(post(a, "/limits", {{"max_active", 1}}), 201), "id");
    const std::string quota = text(expect_ok(post(a, "/quotas", {{"max_active", 1}}), 201), "id");
    const std::string quota_writes[] = {"/limits",
                                        "/limits/" + id,
                                        "/limits/" + id + "/lift",
                                        "/quotas",
                                        "/quotas/" + quota,
                                        "/quotas/" + quota + "/pause",
                                        "/quotas/" + quota + "/lift"};
    for (const std::string& path : quota_writes) {
        SCOPED_TRACE(path);
        expect_refused(post(reader, path, {}), 403, "forbidden");
        expect_refused(post(operator_of_a, path, {}), 403, "forbidden");
    }
    for (const char* path :
         {"/sources/s/pause", "/sources/s/resume", "/sources/pause", "/sources/resume"}) {
        expect_refused(post(reader, path, {}), 403, "forbidden");
        expect_refused(post(a, path, {}), 403, "forbidden");
    }
    for (const char* path : {"/maintenance", "/maintenance/end", "/tenants/a/block"}) {
        expect_refused(post(reader, path, {}), 403, "forbidden");
        expect_refused(post(operator_of_a, path, {}), 403, "forbidden");
        expect_refused(post(a, path, {}), 403, "forbidden");
    }
    expect_refused(engine.post(all, "/api/v1/limits/check", {}), 403, "forbidden");
    expect_ok(engine.post(engine.admin(), "/api/v1/limits/check", {}));
}

TEST_F(LimitRights, MaintenanceIsForAdminsAndOfTheEngineForThoseOfAllTenants) {
    expect_refused(post(all, "/maintenance", {}), 403, "forbidden");
    expect_refused(post(admin_of_a, "/maintenance", {{"tenant", "b"}}), 403, "forbidden");
    const Json own = expect_ok(post(admin_of_a, "/maintenance", {}));
    EXPECT_EQ(text(own, "tenant"), "a");
    expect_refused(post(a, "/limits/" + text(own, "id") + "/lift", {}), 403, "forbidden");

    const Json whole = expect_ok(post(engine.admin(), "/maintenance", {}));
    EXPECT_TRUE(is_null(whole, "tenant"));
    expect_refused(post(admin_of_a, "/limits/" + text(whole, "id") + "/lift", {}), 403,
                   "forbidden");
    expect_ok(post(admin_of_a, "/maintenance/end", {}));
    EXPECT_EQ(list(expect_ok(get(a, "/maintenance")), "maintenance").size(), 1u);
}

TEST_F(LimitRights, ASourceFromATokenThatNoRuleCanNameIsRefusedWithWhatToDo) {
    const std::string service = engine.token(
        {{"name", "ci*"}, {"kind", "service"}, {"tenant", "a"}, {"scopes", List{"orch:operate"}}});

    const Response refused = engine.post(service, "/api/v1/jobs", {{"type", "t"}});

    expect_refused(refused, 422, "invalid", "/source");
    EXPECT_NE(refused.body.find("Give another source"), std::string::npos) << refused.body;
    expect_ok(engine.post(service, "/api/v1/jobs", {{"type", "t"}, {"source", "ci"}}), 202);
}

TEST_F(LimitRights, OnlyAdminsOfAllTenantsBlockAndUnblock) {
    expect_refused(post(admin_of_a, "/tenants/b/block", {}), 403, "forbidden");
    const Json rule = expect_ok(post(engine.admin(), "/tenants/a/block", {}));
    expect_refused(post(admin_of_a, "/tenants/a/unblock", {}), 403, "forbidden");
    expect_refused(post(admin_of_a, "/limits/" + text(rule, "id") + "/lift", {}), 403, "forbidden");
    for (const char* path : {"/tenants/block", "/tenants/unblock"}) {
        expect_refused(post(admin_of_a, path, {{"tenant", "a"}}), 403, "forbidden");
    }
    expect_refused(get(admin_of_a, "/tenants/blocked"), 403, "forbidden");
    expect_ok(post(engine.admin(), "/tenants/a/unblock", {}));
}

}  // namespace limit_rights_test
}  // namespace sluice::e2e
