// What requests that change the rules about what may run do, refuse and leave as it is.
#include <set>

#include "e2e/limits_support.hpp"

namespace sluice::e2e {
namespace limits_writes_test {

// Engines of its own: maintenance and names of rules are for all who use one.
class LimitWrites : public testing::TestWithParam<const char*> {
  protected:
    LimitWrites()
        : engine(std::string(GetParam()) == "memory"
                     ? "memory:"
                     : "sqlite:" + (folder.path() / "s.db").string()),
          api(engine.port(), "default") {}

    Json ok(const std::string& path, Fields fields, const Headers& headers = {}) {
        return expect_ok(post(api, path, std::move(fields), headers));
    }
    List history() { return list(api.get("/api/v1/limits/history"), "events"); }

    TempFolder folder;
    Engine engine;
    Api api;
};
INSTANTIATE_TEST_SUITE_P(Store, LimitWrites, testing::Values("memory", "sqlite"),
                         [](const auto& tested) { return std::string(tested.param); });

const Headers stale{{"If-Match", "\"7\""}};
const Headers first{{"If-Match", "\"1\""}};

std::string detail_of(const Response& response) {
    return text(parse(response.body), "detail");
}

// ── If-Match ──

TEST_P(LimitWrites, IfMatchHoldsForPausesMaintenanceAndBlocks) {
    struct Pair {
        const char* begin;
        const char* end;
    };
    for (const auto& [begin, end] : {Pair{"/sources/glob/pause", "/sources/glob/resume"},
                                     Pair{"/maintenance", "/maintenance/end"},
                                     Pair{"/tenants/acme/block", "/tenants/acme/unblock"}}) {
        SCOPED_TRACE(begin);
        expect_refused(post(api, begin, {}, stale), 412, "changed_meanwhile");
        expect_refused(post(api, begin, {}, {{"If-Match", "*"}}), 412, "changed_meanwhile");
        const Response made = post(api, begin, {});
        EXPECT_EQ(made.header("ETag"), "\"1\"");
        for (const bool dry : {true, false}) {
            expect_refused(post(api, begin, {{"dry_run", dry}}, stale), 412, "changed_meanwhile");
            expect_refused(post(api, end, {{"dry_run", dry}}, stale), 412, "changed_meanwhile");
        }
        ok(begin, {{"reason", "another"}}, first);
        expect_refused(post(api, end, {}, first), 412, "changed_meanwhile");
        ok(end, {{"dry_run", true}}, {{"If-Match", "\"2\""}});
        ok(end, {}, {{"If-Match", "\"2\""}});
        expect_refused(post(api, begin, {}, {{"If-Match", "3"}}), 400, "malformed");
    }
}

TEST_P(LimitWrites, IfMatchHoldsForProfiles) {
    const Fields tenants{{"tenants", List{"acme"}}};
    const Response made = post(api, "/quotas/profiles/gold", tenants);
    EXPECT_EQ(made.header("ETag"), "\"1\"");
    const Fields more{{"tenants", List{"acme", "globex"}}};
    for (const bool dry : {true, false}) {
        Fields change = more;
        change["dry_run"] = dry;
        expect_refused(post(api, "/quotas/profiles/gold", change, stale), 412, "changed_meanwhile");
    }
    EXPECT_EQ(number(ok("/quotas/profiles/gold", more, first), "revision"), 2);
    const Json profile = list(api.get("/api/v1/quotas/profiles"), "profiles")[0];
    EXPECT_EQ(number(profile, "revision"), 2);
    expect_refused(post(api, "/quotas/profiles/other", tenants, first), 412, "changed_meanwhile");
}

// ── what is not named stays ──

TEST_P(LimitWrites, MaintenanceThatIsBegunAgainKeepsWhatIsNotNamed) {
    const std::string until = later_by(std::chrono::hours(1));
    ok("/maintenance", {{"submits", "refuse"}, {"until", until}, {"ticket", "OPS-7"}});

    const Json again = ok("/maintenance", {{"reason", "it takes longer"}});

    EXPECT_TRUE(flag(again, "refuses_submits"));
    EXPECT_EQ(text(again, "until"), until);
    EXPECT_EQ(text(again, "ticket"), "OPS-7");
    EXPECT_EQ(text(again, "reason"), "it takes longer");
    expect_refused(api.try_submit({}), 503, "unavailable");
    const Json open = ok("/maintenance", {{"submits", "take"}});
    EXPECT_FALSE(flag(open, "refuses_submits"));
    EXPECT_EQ(text(open, "until"), until);
    EXPECT_TRUE(is_null(ok("/maintenance", {{"until", nullptr}}), "until"));
}

TEST_P(LimitWrites, APauseAndABlockThatAreMadeAgainKeepTheirEnd) {
    const std::string until = later_by(std::chrono::hours(1));
    for (const char* path : {"/sources/glob/pause", "/tenants/acme/block"}) {
        SCOPED_TRACE(path);
        ok(path, {{"until", until}});
        EXPECT_EQ(text(ok(path, {{"reason", "another"}}), "until"), until);
        EXPECT_TRUE(is_null(ok(path, {{"until", nullptr}}), "until"));
    }
}

// ── dry runs ──

TEST_P(LimitWrites, ADryRunOfAPauseGivesNoIdOfARuleThatIsNotThere) {
    for (const char* path : {"/sources/glob/pause", "/maintenance", "/tenants/acme/block"}) {
        SCOPED_TRACE(path);
        EXPECT_TRUE(is_null(ok(path, {{"dry_run", true}}), "id"));
        const std::string id = text(ok(path, {}), "id");
        EXPECT_EQ(text(ok(path, {{"dry_run", true}}), "id"), id);
    }
}

// ── profiles ──

TEST_P(LimitWrites, AProfileIsNotRemovedByARequestThatForgotItsTenants) {
    ok("/quotas/profiles/gold", {{"tenants", List{"acme"}}});
    expect_refused(post(api, "/quotas/profiles/gold", {}), 422, "invalid", "/tenants");
    expect_refused(post(api, "/quotas/profiles/gold", {{"tenants", nullptr}}), 422, "invalid",
                   "/tenants");
    expect_refused(post(api, "/quotas/profiles/gold", {{"tenants", List{"a", "ac*"}}}), 422,
                   "invalid", "/tenants/1");
    EXPECT_EQ(list(api.get("/api/v1/quotas/profiles"), "profiles").size(), 1u);

    const Json removed = ok("/quotas/profiles/gold", {{"tenants", List{}}});

    EXPECT_TRUE(is_null(removed, "revision"));
    EXPECT_TRUE(list(api.get("/api/v1/quotas/profiles"), "profiles").empty());
    ok("/quotas/profiles/gold", {{"tenants", List{"globex"}}});
    const Json event = history().back();
    EXPECT_TRUE(is_null(at(event, "detail"), "before")) << "it was not there";
    EXPECT_EQ(list(at(at(event, "detail"), "after"), "tenants").size(), 1u);
}

// ── ends of pauses ──

TEST_P(LimitWrites, AnEndOfAPauseIsForExactlyThoseThatItNames) {
    ok("/sources/glob/pause", {{"tenant", "acme"}});
    ok("/sources/glob/pause", {{"tenant", "globex"}});

    const Response none = post(api, "/sources/glob/resume", {});

    expect_refused(none, 404, "not_found");
    EXPECT_EQ(detail_of(none),
              "source glob is not paused for all tenants; it is paused for "
              "tenants acme, globex");
    ok("/sources/glob/pause", {});
    EXPECT_EQ(list(ok("/sources/glob/resume", {}), "lifted").size(), 1u);
    EXPECT_EQ(list(ok("/sources/glob/resume", {{"tenant", "acme"}}), "lifted").size(), 1u);
    EXPECT_EQ(list(api.get("/api/v1/limits"), "limits").size(), 1u);

    ok("/maintenance", {{"tenant", "acme"}});
    const Response whole = post(api, "/maintenance/end", {});
    expect_refused(whole, 404, "not_found");
    EXPECT_EQ(detail_of(whole), "the engine is not in maintenance; tenant acme is");
    ok("/maintenance/end", {{"tenant", "acme"}});
}

// ── bad input ──

TEST_P(LimitWrites, RefusesReasonsThatSayNothing) {
    const auto with = [&](Fields fields) {
        fields.insert({{"max_active", 1}});
        return api.http.post("/api/v1/quotas", serialize(fields));
    };
    expect_refused(with({}), 422, "invalid", "/reason");
    for (const char* reason : {"", "   ", "\t\n", "a\nb", "a\x01"}) {
        SCOPED_TRACE(reason);
        expect_refused(with({{"reason", reason}}), 422, "invalid", "/reason");
        expect_refused(with({{"quota_reason", reason}}), 422, "invalid", "/quota_reason");
    }
    expect_refused(with({{"reason", "r"}, {"ticket", "a\nb"}}), 422, "invalid", "/ticket");
    expect_refused(with({{"reason", std::string(257, 'r')}}), 422, "invalid", "/reason");
    const Response differ =
        api.http.post("/api/v1/quotas", R"({"max_active":1,"reason":"one","quota_reason":"two"})");
    expect_refused(differ, 422, "invalid", "/quota_reason");
    expect_ok(
        api.http.post("/api/v1/quotas", R"({"max_active":1,"reason":"one","quota_reason":"one"})"),
        201);
}

TEST_P(LimitWrites, EachRefusalPointsAtAField) {
    const std::string long_name(201, 'n');
    expect_refused(post(api, "/limits", {}), 422, "invalid", "/max_active");
    expect_refused(post(api, "/quotas", {}), 422, "invalid", "/max_active");
    expect_refused(post(api, "/limits", {{"max_active", 1}, {"name", long_name}}), 422, "invalid",
                   "/name");
    expect_refused(post(api, "/limits", {{"max_active", 1}, {"tenant", long_name}}), 422, "invalid",
                   "/tenant");
    expect_refused(post(api, "/maintenance", {{"tenant", long_name}}), 422, "invalid", "/tenant");
    expect_refused(post(api, "/quotas/profiles/p", {{"tenants", List(10'001, Json("a"))}}), 422,
                   "invalid", "/tenants");
    const std::string id = text(expect_ok(post(api, "/limits", {{"max_active", 1}}), 201), "id");
    expect_refused(post(api, "/limits/" + id, {{"max_active", nullptr}}), 422, "invalid",
                   "/max_active");
}

TEST_P(LimitWrites, TellsOneRangeOfPeriods) {
    std::set<std::string> details;
    for (const std::int64_t period :
         {std::int64_t{INT64_MIN}, std::int64_t{-5}, std::int64_t{0}, std::int64_t{9},
          std::int64_t{86'400'001}, std::int64_t{INT64_MAX}}) {
        Response refused =
            api.http.post("/api/v1/limits", R"({"reason":"r","rate":{"count":1,"period_ms":)" +
                                                std::to_string(period) + "}}");
        expect_refused(refused, 422, "invalid", "/rate/period_ms");
        details.insert(detail_of(refused));
    }
    EXPECT_EQ(details, std::set<std::string>{"must be between 10 and 86400000 (a day)"});
}

// ── names, and changes that change nothing ──

TEST_P(LimitWrites, OfARateWhatIsNotNamedStays) {
    const Json made =
        limit(api, {{"rate", Fields{{"count", 20}, {"period_ms", 60'000}, {"burst", 20}}}});
    const auto changed = [&](Fields rate) {
        return at(expect_ok(post(api, "/limits/" + text(made, "id"), {{"rate", std::move(rate)}})),
                  "rate");
    };

    const Json slower = changed({{"count", 6}});
    EXPECT_EQ(number(slower, "period_ms"), 60'000);
    EXPECT_EQ(number(slower, "burst"), 20);
    EXPECT_EQ(number(changed({{"burst", 10}}), "count"), 6);
    EXPECT_EQ(number(changed({{"burst", nullptr}}), "burst"), 1) << "one second's worth";
    EXPECT_EQ(number(changed({{"count", 600}}), "burst"), 10) << "the usual one follows";
}

TEST_P(LimitWrites, AQuotaForAProfileThatNobodyHasIsMadeWithAWarning) {
    const Json made = expect_ok(
        post(api, "/quotas", {{"profile", "no-such"}, {"max_active", 1}, {"dry_run", true}}));

    ASSERT_EQ(list(made, "warnings").size(), 1u);
    EXPECT_EQ(list(made, "warnings")[0].as_string(), "no tenant is given the profile no-such");
}

TEST_P(LimitWrites, MaintenanceAndPausesAreForOneTenantOrAll) {
    for (const char* path : {"/maintenance", "/sources/nightly/pause"}) {
        expect_refused(post(api, path, {{"tenant", "a*"}}), 422, "invalid", "/tenant");
    }
}

TEST_P(LimitWrites, TwoRulesInForceHaveNotTheSameName) {
    const Json smtp = expect_ok(post(api, "/limits", {{"name", "smtp"}, {"max_active", 1}}), 201);

    const Response second = post(api, "/limits", {{"name", "smtp"}, {"max_active", 2}});

    expect_refused(second, 409, "conflict");
    EXPECT_NE(detail_of(second).find(text(smtp, "id")), std::string::npos);
    ok("/limits/" + text(smtp, "id") + "/lift", {});
    expect_ok(post(api, "/limits", {{"name", "smtp"}, {"max_active", 2}}), 201);
}

TEST_P(LimitWrites, AChangeThatChangesNothingKeepsTheRevisionAndWritesNoEvent) {
    const std::string id = text(expect_ok(post(api, "/limits", {{"max_active", 1}}), 201), "id");
    const std::size_t before = history().size();

    const Response same =
        post(api, "/limits/" + id, {{"max_active", 1}, {"reason", "another reason"}});

    EXPECT_EQ(number(expect_ok(same), "revision"), 1);
    EXPECT_EQ(same.header("ETag"), "\"1\"");
    EXPECT_EQ(history().size(), before);
    expect_refused(api.http.post("/api/v1/limits/" + id, R"({"max_active":1})"), 422, "invalid",
                   "/reason");
}

// ── names that are no part of a path ──

TEST_P(LimitWrites, SourcesWithASlashArePausedByTheBody) {
    const std::string id = api.submit_id({{"source", "team/nightly"}});
    expect_refused(post(api, "/sources/pause", {}), 422, "invalid", "/source");
    expect_refused(post(api, "/sources/pause", {{"source", "te*"}}), 422, "invalid", "/source");

    const Json rule = ok("/sources/pause", {{"source", "team/nightly"}, {"ticket", "T-1"}});

    EXPECT_EQ(text(rule, "source"), "team/nightly");
    EXPECT_EQ(api.reasons(id).at(0), "paused");
    expect_refused(post(api, "/sources/resume", {{"source", "team"}}), 404, "not_found");
    EXPECT_EQ(list(ok("/sources/resume", {{"source", "team/nightly"}}), "lifted").size(), 1u);
    EXPECT_EQ(api.claim().size(), 1u);
    ok("/sources/pause", {{"source", "s"}, {"tenant", "acme"}});
    ok("/sources/s/resume", {{"tenant", "acme"}});
}

TEST_P(LimitWrites, TenantsWithASlashAreBlockedByTheBody) {
    expect_refused(post(api, "/tenants/block", {}), 422, "invalid", "/tenant");
    expect_refused(post(api, "/tenants/block", {{"tenant", "a*"}}), 422, "invalid", "/tenant");
    expect_refused(post(api, "/tenants/block", {{"tenant", "@x"}}), 422, "invalid", "/tenant");

    const Json rule = ok("/tenants/block", {{"tenant", "team/a"}, {"running", "cancel"}});

    EXPECT_EQ(text(rule, "tenant"), "team/a");
    EXPECT_EQ(number(rule, "canceled"), 0);
    expect_refused(api.try_submit({{"tenant", "team/a"}}), 403, "forbidden");
    ok("/tenants/unblock", {{"tenant", "team/a"}});
    api.submit({{"tenant", "team/a"}});
}

TEST_P(LimitWrites, ASourceThatNoRuleCanNameIsRefusedAtItsSubmit) {
    expect_refused(api.try_submit({{"source", "glob*"}}), 422, "invalid", "/source");
    expect_refused(api.try_batch({{{"type", "t"}}, {{"type", "t"}, {"source", "glob*"}}}), 422,
                   "invalid", "/jobs/1/source");
}

}  // namespace limits_writes_test
}  // namespace sluice::e2e
