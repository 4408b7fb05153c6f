// Limits and throttles: what they hold back, how they are changed, and what they say.
#include "e2e/limits_support.hpp"
#include "e2e/process.hpp"

#include <atomic>
#include <set>

namespace sluice::e2e {
namespace limits_test {

using SteadyClock = std::chrono::steady_clock;

ON_EACH_STORE(Limits);

TEST_P(Limits, HoldUnderConcurrentClaims) {
    limit(api, {{"max_active", 3}});
    submit_some(api, 20);
    std::atomic<int> got = 0;

    in_parallel(4, [&](int) {
        Api mine(engine.port(), api.queue());
        for (int i = 0; i < 5; ++i) got += static_cast<int>(mine.claim({{"limit", 2}}).size());
    });

    EXPECT_EQ(got, 3);
}

TEST_P(Limits, GiveAPlaceBackWhenAJobEnds) {
    limit(api, {{"max_active", 1}});
    submit_some(api, 3);

    for (int i = 0; i < 3; ++i) {
        const Json lease = api.claim_one();
        EXPECT_TRUE(api.claim().empty());
        expect_ok(api.succeed(lease));
    }
    EXPECT_TRUE(api.claim().empty());
}

TEST_P(Limits, ARaisedOneWakesAWaitingClaimAtOnce) {
    const std::string id = text(limit(api, {{"max_active", 1}}), "id");
    submit_some(api, 2);
    api.claim_one();
    Client waiting(engine.port());
    waiting.send(request_text("POST", "/api/v1/leases", api.claim_text({{"wait_ms", 20'000}})));
    EXPECT_FALSE(waiting.receive(Millis(300)));

    expect_ok(post(api, "/limits/" + id, {{"max_active", 2}}));
    const auto answer = waiting.receive();

    ASSERT_TRUE(answer);
    EXPECT_EQ(list(expect_ok(*answer), "leases").size(), 1u);
}

TEST_P(Limits, OfAPrefixCountEachTypeApart) {
    limit(api, {{"type", "scan.*"}, {"per", List{"type"}}, {"max_active", 1}});
    for (const char* type : {"scan.a", "scan.a", "scan.b", "other", "other"}) {
        api.submit({{"type", type}});
    }

    std::multiset<std::string> types;
    for (const Json& lease : api.claim({{"limit", 10}})) {
        types.insert(text(at(lease, "job"), "type"));
    }

    EXPECT_EQ(types, (std::multiset<std::string>{"other", "other", "scan.a", "scan.b"}));
}

TEST_P(Limits, ARateIsMetAndSaysWhenTheNextOneStarts) {
    limit(api, {{"rate", Fields{{"count", 1}, {"period_ms", 4000}}}});
    submit_some(api, 3);

    EXPECT_EQ(api.claim({{"limit", 3}}).size(), 1u);
    const std::string id =
        text(list(api.get("/api/v1/jobs?state=queued&queue=" + api.queue()), "jobs")[0], "id");
    EXPECT_FALSE(text(api.job(id), "next_eligible_at").empty());
    EXPECT_EQ(api.reasons(id).at(0), "rate_limit");
    EXPECT_TRUE(text(list(api.explain(id), "reasons")[0], "detail")
                    .starts_with("the rate of 1 start per 4000 ms (1 at once) is used up for"));
    const auto start = SteadyClock::now();
    EXPECT_EQ(api.claim({{"wait_ms", 10'000}}).size(), 1u);
    EXPECT_LT(SteadyClock::now() - start, Millis(9000));
    EXPECT_GT(SteadyClock::now() - start, Millis(500));
}

TEST_P(Limits, ShowTheirUse) {
    const Json made = limit(api, {{"max_active", 2}, {"name", "few"}, {"ticket", "OPS-7"}});
    submit_some(api, 5);
    api.claim({{"limit", 5}});

    const Json rule = rule_of(api, text(made, "id"));

    EXPECT_EQ(text(rule, "kind"), "limit");
    EXPECT_EQ(text(rule, "name"), "few");
    EXPECT_EQ(text(rule, "queue"), api.queue());
    EXPECT_TRUE(is_null(rule, "tenant"));
    EXPECT_EQ(number(rule, "active"), 2);
    EXPECT_EQ(number(rule, "waiting"), 3);
    EXPECT_FALSE(flag(rule, "waiting_more"));
    EXPECT_EQ(text(rule, "actor"), "anonymous");
    EXPECT_EQ(text(rule, "ticket"), "OPS-7");
    EXPECT_EQ(number(rule, "revision"), 1);
    ASSERT_EQ(number(rule, "meter_count"), 1);
    const Json meter = list(rule, "meters")[0];
    EXPECT_EQ(number(meter, "active"), 2);
    EXPECT_FALSE(flag(meter, "open"));
    EXPECT_TRUE(is_null(meter, "tokens"));
}

TEST_P(Limits, ExplainNamesTheRuleAndItsNumbers) {
    const std::string rule =
        text(limit(api, {{"max_active", 1}, {"reason", "slow scanner"}}), "id");
    submit_some(api, 1);
    api.claim_one();
    const std::string id = api.submit_id();

    const Json reason = list(api.explain(id), "reasons")[0];

    EXPECT_EQ(text(reason, "code"), "limit");
    EXPECT_EQ(text(at(reason, "blocker"), "kind"), "limit");
    EXPECT_EQ(text(at(reason, "blocker"), "id"), rule);
    EXPECT_NE(text(reason, "detail").find("1 of 1 active"), std::string::npos);
    EXPECT_NE(text(reason, "detail").find("slow scanner"), std::string::npos);
    EXPECT_TRUE(is_null(api.job(id), "next_eligible_at"));
    const Json start = api.get("/api/v1/limits/can-start?type=task&queue=" + api.queue());
    EXPECT_FALSE(flag(start, "can_start"));
    EXPECT_EQ(text(list(start, "held_by")[0], "rule"), rule);
    EXPECT_TRUE(
        flag(api.get("/api/v1/limits/can-start?queue=" + fresh_name("queue")), "can_start"));
}

TEST_P(Limits, APauseSaysWhenItEnds) {
    const std::string until = later_by(std::chrono::hours(1));
    limit(api, {{"kind", "throttle"}, {"paused", true}, {"until", until}});
    const std::string id = api.submit_id();
    const Json delayed = api.submit({{"delay_ms", 7'200'000}});

    EXPECT_TRUE(api.claim().empty());
    EXPECT_EQ(text(api.job(id), "next_eligible_at"), until);
    EXPECT_EQ(text(delayed, "next_eligible_at"), text(delayed, "run_after"));
    EXPECT_EQ(text(api.job(text(delayed, "id")), "next_eligible_at"), text(delayed, "run_after"));
    for (const Json& job : list(api.get("/api/v1/jobs?queue=" + api.queue()), "jobs")) {
        EXPECT_FALSE(is_null(job, "next_eligible_at"));
    }
    EXPECT_EQ(api.reasons(id).at(0), "paused");
}

TEST_P(Limits, APauseEndsByItself) {
    limit(api, {{"paused", true}, {"until", later_by(std::chrono::seconds(3))}});
    api.submit();

    EXPECT_TRUE(api.claim().empty());
    EXPECT_EQ(api.claim({{"wait_ms", 20'000}}).size(), 1u);
}

TEST_P(Limits, OneThatIsOverIsLiftedByTheEngine) {
    const std::string id =
        text(limit(api, {{"paused", true}, {"until", later_by(std::chrono::seconds(3))}}), "id");

    EXPECT_TRUE(eventually([&] { return api.http.get("/api/v1/limits/" + id).status == 404; }));
    EXPECT_EQ(api.http.get("/metrics").body.find("rule=\"" + id), std::string::npos);
}

TEST_P(Limits, AChangeReplacesWhatIsGivenAndNullRemoves) {
    const std::string id =
        text(limit(api, {{"max_active", 2}, {"rate", Fields{{"count", 5}}}, {"name", "n"}}), "id");

    const Json changed =
        expect_ok(post(api, "/limits/" + id, {{"max_active", nullptr}, {"reason", "second"}}));

    EXPECT_TRUE(is_null(changed, "max_active"));
    EXPECT_EQ(number(at(changed, "rate"), "count"), 5);
    EXPECT_EQ(number(at(changed, "rate"), "burst"), 5);
    EXPECT_EQ(text(changed, "name"), "n");
    EXPECT_EQ(text(changed, "reason"), "second");
    EXPECT_EQ(number(changed, "revision"), 2);
    expect_refused(post(api, "/limits/" + id, {{"rate", nullptr}}), 422, "invalid");
    EXPECT_EQ(number(rule_of(api, id), "revision"), 2);
}

TEST_P(Limits, TheSecondOfTwoWritersIsRefusedByTheETag) {
    const Response made = post(api, "/limits", {{"queue", api.queue()}, {"max_active", 1}});
    const std::string path = made.header("Location").substr(std::string("/api/v1").size());
    const std::string tag = made.header("ETag");
    EXPECT_EQ(tag, "\"1\"");
    EXPECT_EQ(api.http.get("/api/v1" + path).header("ETag"), tag);

    const Response first = post(api, path, {{"max_active", 2}}, {{"If-Match", tag}});
    EXPECT_EQ(first.header("ETag"), "\"2\"");
    expect_refused(post(api, path, {{"max_active", 3}}, {{"If-Match", tag}}), 412,
                   "changed_meanwhile");
    expect_refused(post(api, path, {{"max_active", 3}}, {{"If-Match", "W/\"2\""}}), 412,
                   "changed_meanwhile");
    expect_refused(post(api, path + "/lift", {}, {{"If-Match", tag}}), 412, "changed_meanwhile");
    expect_refused(post(api, path, {{"max_active", 3}}, {{"If-Match", "2"}}), 400, "malformed");
    expect_ok(post(api, path, {{"max_active", 4}}, {{"If-Match", "\"1\", \"2\""}}));
    expect_ok(post(api, path, {{"max_active", 5}}, {{"If-Match", "*"}}));
    EXPECT_EQ(number(api.get("/api/v1" + path), "max_active"), 5);
}

TEST_P(Limits, ADryRunChangesNothingAndTellsTheEffect) {
    submit_some(api, 4);
    const Json dry = expect_ok(
        post(api, "/limits", {{"queue", api.queue()}, {"paused", true}, {"dry_run", true}}));

    EXPECT_TRUE(flag(dry, "dry_run"));
    EXPECT_TRUE(is_null(dry, "id"));
    EXPECT_EQ(number(at(dry, "effect"), "held_back"), 4);
    EXPECT_EQ(number(at(dry, "effect"), "let_go"), 0);
    EXPECT_EQ(api.claim().size(), 1u);

    const Json real = limit(api, {{"paused", true}});
    EXPECT_EQ(number(at(real, "effect"), "held_back"), 3);
    EXPECT_TRUE(api.claim().empty());
    const std::string lift = "/limits/" + text(real, "id") + "/lift";
    EXPECT_EQ(number(at(expect_ok(post(api, lift, {{"dry_run", true}})), "effect"), "let_go"), 3);
    EXPECT_TRUE(api.claim().empty());
    expect_ok(post(api, lift, {}));
    EXPECT_EQ(api.claim().size(), 1u);
}

TEST_P(Limits, ALiftedOneIsGoneAndLetsGo) {
    const std::string id = text(limit(api, {{"paused", true}}), "id");
    api.submit();
    EXPECT_TRUE(api.claim().empty());

    expect_ok(post(api, "/limits/" + id + "/lift", {{"reason", "done"}}));

    EXPECT_EQ(api.claim().size(), 1u);
    expect_refused(api.http.get("/api/v1/limits/" + id), 404, "not_found");
    expect_refused(post(api, "/limits/" + id, {{"max_active", 1}}), 404, "not_found");
    expect_ok(post(api, "/limits/" + id + "/lift", {}));
}

TEST_P(Limits, EachChangeIsInTheControlHistory) {
    const Json made = limit(api, {{"max_active", 1}, {"reason", "why"}, {"ticket", "T-1"}});
    const std::string id = text(made, "id");
    expect_ok(post(api, "/limits/" + id, {{"max_active", 2}}));
    expect_ok(post(api, "/limits/" + id + "/lift", {{"reason", "over"}}));

    std::vector<std::string> actions;
    std::int64_t after = 0;
    Json added;
    for (;;) {
        const Json page =
            api.get("/api/v1/limits/history?limit=100&after=" + std::to_string(after));
        for (const Json& event : list(page, "events")) {
            EXPECT_GT(number(event, "seq"), after);
            after = number(event, "seq");
            EXPECT_EQ(text(event, "hash").size(), 64u);
            const Json& detail = at(event, "detail");
            if (!detail.is_object() || !detail.as_object().contains("rule")) continue;
            if (text(detail, "rule") != id) continue;
            actions.push_back(text(event, "action"));
            if (actions.size() == 1) added = event;
        }
        if (list(page, "events").empty()) break;
    }

    EXPECT_EQ(actions, (std::vector<std::string>{"rule_added", "rule_changed", "rule_lifted"}));
    EXPECT_EQ(text(added, "actor"), "anonymous");
    EXPECT_EQ(text(at(added, "detail"), "reason"), "why");
    EXPECT_EQ(text(at(added, "detail"), "ticket"), "T-1");
    EXPECT_TRUE(is_null(at(added, "detail"), "before"));
    EXPECT_EQ(number(at(at(added, "detail"), "after"), "max_active"), 1);
}

TEST_P(Limits, WarnOfAScopeThatCoversNothing) {
    const Json made = limit(api, {{"max_active", 1}});
    EXPECT_EQ(list(made, "warnings").size(), 1u);
}

TEST_P(Limits, RefuseWhatMakesNoSense) {
    const auto refused = [&](Fields fields, const char* pointer) {
        SCOPED_TRACE(serialize(fields));
        expect_refused(post(api, "/limits", std::move(fields)), 422, "invalid", pointer);
    };
    refused({{"max_active", 0}}, "/max_active");
    refused({{"max_active", -1}}, "/max_active");
    refused({{"max_active", "1"}}, "/max_active");
    refused({{"rate", Fields{{"count", 0}}}}, "/rate/count");
    refused({{"rate", Fields{{"count", 1}, {"period_ms", 0}}}}, "/rate/period_ms");
    refused({{"rate", Fields{{"count", 1}, {"burst", 0}}}}, "/rate/burst");
    refused({{"rate", Fields{{"count", 1}, {"per", 1}}}}, "/rate/per");
    refused({{"per", List{"color"}}, {"max_active", 1}}, "/per/0");
    refused({{"kind", "quota"}, {"max_active", 1}}, "/kind");
    refused({{"type", "a*b"}, {"max_active", 1}}, "/type");
    refused({{"tenant", "@sluice"}, {"max_active", 1}}, "/tenant");
    refused({{"max_active", 1}, {"reason", ""}}, "/reason");
    refused({{"max_active", 1}, {"reason", std::string(257, 'r')}}, "/reason");
    refused({{"max_active", 1}, {"ticket", std::string(129, 't')}}, "/ticket");
    refused({{"max_active", 1}, {"until", "2020-01-01T00:00:00Z"}}, "/until");
    refused({{"max_active", 1}, {"maximum", 2}}, "/maximum");
    refused({{"name", "bounds nothing"}}, "");
    expect_refused(api.http.get("/api/v1/limits?kind=x"), 400, "malformed");
    expect_refused(api.http.get("/api/v1/limits/65f000000000000000000000"), 404, "not_found");
    expect_refused(post(api, "/limits/65f000000000000000000000/lift", {}), 404, "not_found");
}

TEST_P(Limits, AreInTheMetrics) {
    const std::string id = text(limit(api, {{"max_active", 1}, {"name", "a \"b\""}}), "id");
    submit_some(api, 2);
    api.claim_one();

    const std::string page = api.http.get("/metrics").body;

    const std::string labels = "{rule=\"" + id + "\",kind=\"limit\",name=\"a \\\"b\\\"\"} ";
    EXPECT_NE(page.find("\nsluice_limit_active" + labels + "1\n"), std::string::npos) << page;
    EXPECT_NE(page.find("\nsluice_limit_max" + labels + "1\n"), std::string::npos);
    EXPECT_NE(page.find("\nsluice_limit_waiting" + labels + "1\n"), std::string::npos);
    EXPECT_NE(page.find("\nsluice_limit_closed" + labels + "1\n"), std::string::npos);
    EXPECT_NE(page.find("\nsluice_limit_closed_seconds_total" + labels), std::string::npos);
    EXPECT_EQ(page.find("\nsluice_limit_rate_max" + labels), std::string::npos);
    EXPECT_NE(page.find("\nsluice_limit_rules_left_out "), std::string::npos);
}

TEST_P(Limits, TheMetersAgreeWithTheLeases) {
    limit(api, {{"max_active", 5}});
    submit_some(api, 5);
    api.claim({{"limit", 3}});

    const Json found = expect_ok(api.http.post("/api/v1/limits/check", "{}"));

    EXPECT_TRUE(list(found, "differences").empty());
    EXPECT_FALSE(flag(found, "repaired"));
}

}  // namespace limits_test
}  // namespace sluice::e2e
