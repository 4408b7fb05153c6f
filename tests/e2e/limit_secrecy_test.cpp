// What one tenant learns of limits that it shares with others.
#include "e2e/guarded_engine.hpp"
#include "e2e/limits_support.hpp"

namespace sluice::e2e {
namespace limit_secrecy_test {

class LimitSecrecy : public testing::Test {
  protected:
    void make(const Fields& rule) {
        Fields fields = rule;
        fields.insert({{"reason", "few scanners"}});
        expect_ok(engine.post(engine.admin(), "/api/v1/limits", fields), 201);
    }
    std::string submit(const std::string& tenant) {
        const Fields job{{"type", "scan"}, {"tenant", tenant}};
        return text(expect_ok(engine.post(engine.admin(), "/api/v1/jobs", job), 202), "id");
    }
    void run(const std::string& tenant, int count) {
        for (int i = 0; i < count; ++i) {
            submit(tenant);
            const Json claimed = expect_ok(
                engine.post(engine.admin(), "/api/v1/leases",
                            {{"worker_id", "w"}, {"types", List{"scan"}}, {"tenant", tenant}}));
            ASSERT_EQ(list(claimed, "leases").size(), 1u);
        }
    }
    std::string detail(const std::string& token, const std::string& path, const char* reasons) {
        return text(list(expect_ok(engine.get(token, path)), reasons)[0], "detail");
    }

    GuardedEngine engine;
    const std::string beta = engine.token({{"name", "beta"},
                                           {"kind", "user"},
                                           {"tenant", "beta"},
                                           {"scopes", List{"orch:quota", "orch:operate"}}});
};

TEST_F(LimitSecrecy, NoNumbersOfUseAreToldOfWhatIsShared) {
    make({{"type", "sc*"}, {"max_active", 3}});
    run("acme", 2);
    run("beta", 1);
    const std::string start = "/api/v1/limits/can-start?type=scan";
    const std::string explain = "/api/v1/jobs/" + submit("beta") + "/explain";

    for (const std::string& told :
         {detail(beta, start, "held_by"), detail(beta, explain, "reasons")}) {
        EXPECT_TRUE(told.starts_with("all 3 permits for type sc* are taken (limit by ")) << told;
        EXPECT_NE(told.find("few scanners"), std::string::npos);
        EXPECT_EQ(told.find("active"), std::string::npos);
    }
    for (const std::string& told : {detail(engine.admin(), start + "&tenant=beta", "held_by"),
                                    detail(engine.admin(), explain, "reasons")}) {
        EXPECT_TRUE(told.starts_with("3 of 3 active for type sc*")) << told;
    }
}

TEST_F(LimitSecrecy, WhatWaitsAndWhatAChangeDoesAreTheSameWhateverOthersUse) {
    make({{"type", "sc*"}, {"max_active", 3}});
    for (int i = 0; i < 6; ++i) submit("beta");
    const auto told = [&] {
        const Json limits = expect_ok(engine.get(beta, "/api/v1/limits"));
        const Json tried = expect_ok(engine.post(
            beta, "/api/v1/limits", {{"max_active", 2}, {"reason", "a test"}, {"dry_run", true}}));
        return std::to_string(number(list(limits, "limits")[0], "waiting")) + " " +
               std::to_string(number(at(tried, "effect"), "held_back"));
    };
    const std::string alone = told();

    run("acme", 2);

    EXPECT_EQ(told(), alone);
}

TEST_F(LimitSecrecy, AQuotaOfAProfileIsSeenByTheTenantsThatHaveIt) {
    expect_ok(engine.post(engine.admin(), "/api/v1/quotas/profiles/gold",
                          {{"tenants", List{"globex"}}, {"reason", "a contract"}}));
    const std::string id =
        text(expect_ok(engine.post(engine.admin(), "/api/v1/quotas",
                                   {{"profile", "gold"}, {"max_active", 9}, {"reason", "9M"}}),
                       201),
             "id");
    const auto seen = [&] {
        return list(expect_ok(engine.get(beta, "/api/v1/quotas")), "quotas").size() +
               list(expect_ok(engine.get(beta, "/api/v1/limits/history")), "events").size();
    };
    const auto change = [&] {
        return engine.post(beta, "/api/v1/limits/" + id + "/lift", {{"reason", "a test"}});
    };
    EXPECT_EQ(seen(), 0u);
    expect_refused(change(), 404, "not_found");

    expect_ok(engine.post(engine.admin(), "/api/v1/quotas/profiles/gold",
                          {{"tenants", List{"beta"}}, {"reason", "a contract"}}));

    EXPECT_EQ(seen(), 2u) << "the quota, and that it was added";
    expect_refused(change(), 403, "forbidden");
}

TEST_F(LimitSecrecy, NamesAreThoseOfATenant) {
    make({{"tenant", "globex"}, {"name", "merger"}, {"max_active", 1}});
    make({{"name", "relay"}, {"max_active", 1}});
    const auto add = [&](const char* name) {
        return engine.post(beta, "/api/v1/limits",
                           {{"name", name}, {"max_active", 1}, {"reason", "a test"}});
    };

    for (const char* name : {"merger", "relay"}) {
        expect_ok(add(name), 201);
        expect_refused(add(name), 409, "conflict");
    }
}

TEST_F(LimitSecrecy, OfARuleThatWasMovedEachTenantIsToldItsOwnPart) {
    const std::string id = text(
        expect_ok(engine.post(engine.admin(), "/api/v1/limits",
                              {{"tenant", "globex"}, {"max_active", 7}, {"reason", "a test"}}),
                  201),
        "id");
    expect_ok(engine.post(engine.admin(), "/api/v1/limits/" + id,
                          {{"tenant", "beta"}, {"max_active", 5}, {"reason", "a test"}}));

    const Json history = expect_ok(engine.get(beta, "/api/v1/limits/history"));

    ASSERT_EQ(list(history, "events").size(), 1u);
    const Json& detail = at(list(history, "events")[0], "detail");
    EXPECT_TRUE(at(detail, "before").is_null());
    EXPECT_EQ(number(at(detail, "after"), "max_active"), 5);
}

TEST_F(LimitSecrecy, OfItsOwnLimitATenantIsToldTheNumbers) {
    make({{"type", "sc*"}, {"max_active", 1}, {"per", List{"tenant"}}});
    run("beta", 1);

    const std::string told = detail(beta, "/api/v1/limits/can-start?type=scan", "held_by");

    EXPECT_TRUE(told.starts_with("1 of 1 active for tenant beta")) << told;
}

}  // namespace limit_secrecy_test
}  // namespace sluice::e2e
