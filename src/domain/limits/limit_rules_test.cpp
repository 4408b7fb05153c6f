#include "domain/limits/limit_rules.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sluice {
namespace limit_rules_test {

using namespace std::chrono_literals;

constexpr Timestamp now = from_micros(1'767'225'600'000'000);

LimitRule rule(std::string id, LimitScope scope = {}) {
    LimitRule made{.id = std::move(id)};
    made.scope = std::move(scope);
    made.max_active = 1;
    return made;
}

LimitRule quota(std::string id, std::string tenant, std::string type, std::string profile = "") {
    LimitRule made = rule(std::move(id), {.tenant = std::move(tenant), .type = std::move(type)});
    made.kind = LimitKind::quota;
    made.profile = std::move(profile);
    made.per = {Dimension::tenant};
    return made;
}

Lane lane(std::string tenant, std::string type = "scan", std::string source = "") {
    return {.tenant = std::move(tenant),
            .queue = "default",
            .type = std::move(type),
            .labels = {},
            .source = std::move(source)};
}

using Ids = std::set<std::string>;

Ids ids_for(const LimitRules& rules, const Lane& covered) {
    Ids ids;
    for (const Permit& permit : rules.permits_of(covered)) ids.insert(permit.rule->id);
    return ids;
}

TEST(LimitRules, APatternCoversANameABeginningOrAll) {
    EXPECT_TRUE(covers("", "x"));
    EXPECT_TRUE(covers("", ""));
    EXPECT_TRUE(covers("scan.*", "scan.image"));
    EXPECT_TRUE(covers("scan.*", "scan."));
    EXPECT_FALSE(covers("scan.*", "scan"));
    EXPECT_FALSE(covers("scan.*", "rescan.image"));
    EXPECT_TRUE(covers("scan", "scan"));
    EXPECT_FALSE(covers("scan", "scan.image"));
    EXPECT_TRUE(covers("*", "anything"));
}

TEST(LimitRules, ALaneNeedsAPermitOfEachRuleWhoseFieldsAllCoverIt) {
    const LimitRules rules(
        1,
        {rule("all"), rule("acme", {.tenant = "acme"}), rule("ac", {.tenant = "ac*"}),
         rule("scan", {.type = "scan*"}), rule("both", {.tenant = "acme", .source = "nightly"}),
         rule("queue", {.queue = "other"})},
        {});

    EXPECT_EQ(ids_for(rules, lane("acme")), (Ids{"all", "acme", "ac", "scan"}));
    EXPECT_EQ(ids_for(rules, lane("acme", "build", "nightly")), (Ids{"all", "acme", "ac", "both"}));
    EXPECT_EQ(ids_for(rules, lane("zeta", "scanner")), (Ids{"all", "scan"}));
    EXPECT_EQ(ids_for(rules, lane("zeta", "build", "nightly")), Ids{"all"});
}

TEST(LimitRules, ATenantsOwnQuotaReplacesThatOfItsProfileWhichReplacesTheDefault) {
    const LimitRules rules(1,
                           {quota("default", "", "scan"), quota("gold", "", "scan", "gold"),
                            quota("acme", "acme", "scan"), quota("total", "", "")},
                           {{"gold", {"acme", "rich"}}});

    EXPECT_EQ(ids_for(rules, lane("acme")), (Ids{"acme", "total"}));
    EXPECT_EQ(ids_for(rules, lane("rich")), (Ids{"gold", "total"}));
    EXPECT_EQ(ids_for(rules, lane("poor")), (Ids{"default", "total"}));
    EXPECT_EQ(ids_for(rules, lane("poor", "build")), Ids{"total"});
}

TEST(LimitRules, QuotasOfATypeOfABeginningAndOfAllTypesApplyTogether) {
    const LimitRules rules(1,
                           {quota("one", "acme", "scan.image"), quota("many", "acme", "scan.*"),
                            quota("total", "acme", "")},
                           {});

    EXPECT_EQ(ids_for(rules, lane("acme", "scan.image")), (Ids{"one", "many", "total"}));
    EXPECT_EQ(ids_for(rules, lane("acme", "scan.code")), (Ids{"many", "total"}));
    EXPECT_EQ(ids_for(rules, lane("zeta", "scan.image")), Ids{});
}

TEST(LimitRules, PermitsComeInTheOrderInWhichPeopleAreTold) {
    LimitRule maintenance = rule("zz");
    maintenance.kind = LimitKind::maintenance;
    LimitRule throttle = rule("yy", {.tenant = "acme"});
    throttle.kind = LimitKind::throttle;
    const LimitRules rules(1, {rule("aa"), throttle, quota("bb", "acme", ""), maintenance}, {});

    std::vector<std::string> ids;
    for (const Permit& permit : rules.permits_of(lane("acme"))) ids.push_back(permit.rule->id);

    EXPECT_EQ(ids, (std::vector<std::string>{"zz", "yy", "bb", "aa"}));
}

TEST(LimitRules, AMeterIsThatOfARuleAndOfTheValuesByWhichItCountsApart) {
    LimitRule apart = rule("r");
    apart.per = {Dimension::tenant, Dimension::source};
    const LimitRules rules(1, {apart, rule("s")}, {});
    const auto meters = [&](const Lane& of) {
        std::vector<MeterId> ids;
        for (const Permit& permit : rules.permits_of(of)) ids.push_back(permit.meter);
        return ids;
    };

    const auto first = meters(lane("acme", "scan", "x"));
    EXPECT_EQ(first, meters(lane("acme", "build", "x")));
    EXPECT_NE(first[0], meters(lane("acme", "scan", "y"))[0]);
    EXPECT_NE(first[0], meters(lane("zeta", "scan", "x"))[0]);
    EXPECT_EQ(first[1], meters(lane("zeta", "scan", "y"))[1]);
    EXPECT_NE(first[0], first[1]);
    EXPECT_NE(meters(lane("ab", "t", "c"))[0], meters(lane("a", "t", "bc"))[0]);
    EXPECT_EQ(meter_name(apart, lane("acme", "scan", "")), "tenant acme, source (none)");
}

TEST(LimitRules, AMeterStaysTheSameWhenItsRuleChanges) {
    LimitRule changed = rule("r");
    changed.max_active = 9;
    changed.rate = LimitRate{.count = 1, .period = 1s};
    const LimitRules before(1, {rule("r")}, {});
    const LimitRules after(2, {changed}, {});

    EXPECT_EQ(before.permits_of(lane("acme"))[0].meter, after.permits_of(lane("acme"))[0].meter);
}

TEST(LimitRules, ALaneIsClosedByTheFirstRuleThatHasNoRoom) {
    LimitRule pause = rule("p");
    pause.kind = LimitKind::throttle;
    pause.max_active.reset();
    pause.paused = true;
    pause.until = now + 1h;
    LimitRule two = rule("q");
    two.max_active = 2;
    const LimitRules rules(1, {two, pause}, {});
    const std::vector<Permit> permits = rules.permits_of(lane("acme"));
    MeterState none;
    MeterState one{.active = 1};
    const std::vector<const MeterState*> meters = {&none, &one};

    const Admission closed = admission_of(permits, meters, now);
    EXPECT_EQ(closed.count, 0);
    EXPECT_EQ(permits[closed.closed_by].rule->id, "p");
    EXPECT_EQ(closed.look_again, now + 1h);

    EXPECT_EQ(admission_of(permits, meters, now + 1h).count, 1);
    EXPECT_EQ(admission_of({}, {}, now).count, unbounded);
}

TEST(LimitRules, EveryRuleThatHoldsALaneBackIsNamed) {
    LimitRule pause = rule("p");
    pause.kind = LimitKind::throttle;
    pause.paused = true;
    pause.max_active.reset();
    const LimitRules rules(1, {rule("q"), pause}, {});
    const std::vector<Permit> permits = rules.permits_of(lane("acme"));
    const std::vector<MeterState> meters = {{}, {.active = 1}};

    const auto closed = closed_permits(lane("acme"), permits, meters, now);

    ASSERT_EQ(closed.size(), 2u);
    EXPECT_EQ(code_of(closed[0]), "paused");
    EXPECT_EQ(code_of(closed[1]), "limit");
    EXPECT_FALSE(next_eligible_at(closed));
}

// docs/limits.md shows the same texts.
TEST(LimitRules, SayWhatIsClosedWhoseItIsAndWhatOpensIt) {
    constexpr Timestamp moment = from_micros(1'794'751'200'000'000);  // 2026-11-15T14:00:00Z
    const auto told = [&](LimitRule why, const MeterState& state) {
        const Lane of = lane("acme", why.scope.type.empty() ? "scan" : "mail.send", "nightly");
        const std::vector<Permit> permits{permit_of(why, of)};
        const auto closed = closed_permits(of, permits, {{state}}, moment);
        return std::string(code_of(closed.at(0))) + ": " + text_of(closed[0]);
    };
    LimitRule eight = quota("q", "acme", "");
    eight.per = {Dimension::tenant, Dimension::type};
    eight.max_active = 8;
    eight.actor = "ada";
    eight.ticket = "OPS-12";
    eight.reason = "as agreed";
    EXPECT_EQ(told(eight, {.active = 8}),
              "quota: 8 of 8 active for tenant acme, type scan (quota by ada, ticket OPS-12: as "
              "agreed); opens when one of them ends");

    LimitRule relay = rule("r", {.type = "mail.*"});
    relay.name = "relay";
    relay.configured = true;
    relay.max_active.reset();
    relay.rate = LimitRate{.count = 100, .period = 1min, .burst = 1};
    MeterState spent;
    note_start(relay, spent, moment);
    EXPECT_EQ(
        told(relay, spent),
        "rate_limit: the rate of 100 starts per minute (1 at once) is used up for type mail.* "
        "(limit \"relay\" of the configuration); opens at 2026-11-15T14:00:00.600Z");
    relay.max_active = 1;
    spent.active = 1;
    EXPECT_EQ(
        told(relay, spent),
        "rate_limit: the rate of 100 starts per minute (1 at once) is used up for type mail.* "
        "(limit \"relay\" of the configuration); does not open before 2026-11-15T14:00:00.600Z");

    LimitRule pause = rule("p", {.source = "nightly"});
    pause.kind = LimitKind::throttle;
    pause.max_active.reset();
    pause.paused = true;
    pause.actor = "ops";
    pause.ticket = "OPS-7";
    pause.reason = "it floods the queue";
    pause.until = moment + 2h;
    EXPECT_EQ(told(pause, {}),
              "paused: source nightly is paused (throttle by ops, ticket OPS-7, until "
              "2026-11-15T16:00:00.000Z: it floods the queue); opens at 2026-11-15T16:00:00.000Z");

    LimitRule maintenance = rule("m");
    maintenance.kind = LimitKind::maintenance;
    maintenance.max_active.reset();
    maintenance.paused = true;
    maintenance.actor = "ops";
    maintenance.reason = "a new database";
    EXPECT_EQ(told(maintenance, {}),
              "maintenance: all jobs are paused (maintenance by ops: a new database); opens when "
              "it is lifted");

    LimitRule block = rule("b", {.tenant = "acme"});
    block.kind = LimitKind::block;
    block.max_active.reset();
    block.paused = true;
    block.configured = true;
    EXPECT_EQ(told(block, {}),
              "tenant_blocked: tenant acme is blocked (block of the configuration); opens when it "
              "is lifted");
}

TEST(LimitRules, SayNothingOfTheUseOfOthersToAViewerOfOneTenant) {
    const auto told = [&](const LimitRule& why) {
        const Lane of = lane("beta", "scan");
        const auto closed = closed_permits(of, {{permit_of(why, of)}}, {{{.active = 3}}}, now);
        return text_of(closed.at(0), Viewer::one_tenant);
    };
    LimitRule shared = rule("r", {.type = "sc*"});
    shared.max_active = 3;
    EXPECT_EQ(told(shared),
              "all 3 permits for type sc* are taken (limit); opens when one is given back");
    shared.max_active = 1;
    EXPECT_EQ(told(shared),
              "the only permit for type sc* is taken (limit); opens when one is given back");
    LimitRule prefix = rule("r", {.tenant = "be*"});
    EXPECT_EQ(told(prefix).find("active"), std::string::npos);

    LimitRule own = rule("r", {.tenant = "beta"});
    own.max_active = 3;
    EXPECT_EQ(told(own), "3 of 3 active for tenant beta (limit); opens when one of them ends");
    LimitRule each = rule("r", {.type = "sc*"});
    each.per = {Dimension::tenant};
    each.max_active = 2;
    EXPECT_EQ(told(each), "3 of 2 active for tenant beta (limit); opens when 2 of them have ended");
}

TEST(LimitRules, MaintenanceAndBlocksRefuseWhatTheySay) {
    LimitRule maintenance = rule("m", {.tenant = "acme"});
    maintenance.kind = LimitKind::maintenance;
    LimitRule block = rule("b", {.tenant = "zeta"});
    block.kind = LimitKind::block;
    block.refuses_submits = true;
    block.until = now + 1h;
    const LimitRules rules(1, {block, maintenance}, {});

    EXPECT_NE(rules.maintenance("acme", now), nullptr);
    EXPECT_EQ(rules.maintenance("zeta", now), nullptr);
    EXPECT_EQ(rules.refuses_submits("acme", now), nullptr);
    EXPECT_NE(rules.refuses_submits("zeta", now), nullptr);
    EXPECT_EQ(rules.refuses_submits("zeta", now + 1h), nullptr);
}

}  // namespace limit_rules_test
}  // namespace sluice
