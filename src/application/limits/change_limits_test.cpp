#include "application/limits/change_limits.hpp"

#include <gtest/gtest.h>

#include <map>

#include "application/limits/pauses.hpp"
#include "application/limits/stored_rules.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace change_limits_test {

using namespace std::chrono_literals;
using Decide = std::function<Result<LimitAnswer>(EntityChanges&)>;

const ChangeReason why{.actor = "ops", .reason = "a test"};

LimitRule at_most(std::int64_t active, LimitScope scope = {}) {
    LimitRule rule;
    rule.scope = std::move(scope);
    rule.max_active = active;
    return rule;
}

LimitRule quota(std::string tenant, std::int64_t active) {
    LimitRule rule = at_most(active, {.tenant = std::move(tenant)});
    rule.kind = LimitKind::quota;
    rule.per = counted_by_of_quota(rule.scope);
    return rule;
}

LimitRule pause(LimitScope scope = {}) {
    LimitRule rule{.kind = LimitKind::throttle};
    rule.scope = std::move(scope);
    rule.paused = true;
    return rule;
}

JobSpec from(std::string source, std::string tenant = "default") {
    JobSpec made = spec();
    made.source = std::move(source);
    made.tenant = std::move(tenant);
    return made;
}

class ChangeOfLimits : public testing::Test {
  protected:
    Told<LimitAnswer> decide(Decide decide, bool dry_run = false) {
        return engine.ask(ChangeLimits{.dry_run = dry_run, .decide = std::move(decide)});
    }
    Told<LimitAnswer> put(const LimitRule& rule, const ChangeReason& reason = why) {
        return decide([=](EntityChanges& changes) { return put_rule(changes, rule, reason); });
    }
    LimitRule added(const LimitRule& rule) {
        const auto answer = put(rule);
        if (!answer) throw std::runtime_error(answer.error().message);
        return answer->rules.front();
    }
    std::string pointer(const LimitRule& rule, const ChangeReason& reason = why) {
        const auto answer = put(rule, reason);
        if (answer) return "no refusal";
        EXPECT_EQ(answer.error().code, ErrorCode::invalid) << answer.error().message;
        return answer.error().pointer;
    }
    std::shared_ptr<const LimitRules> rules() {
        return load_rules(engine.store().reader()->entities());
    }

    TestEngine engine;
};

// ── bad input ──

TEST_F(ChangeOfLimits, NeedsAReason) {
    EXPECT_EQ(pointer(at_most(1), {.actor = "ops"}), "/reason");
    for (const std::string& reason :
         {std::string(257, 'r'), std::string("  \t "), std::string("a\nb"), std::string("a\x7f")}) {
        EXPECT_EQ(pointer(at_most(1), {.actor = "ops", .reason = reason}), "/reason");
    }
    EXPECT_EQ(pointer(at_most(1), {.actor = "ops", .reason = "r", .ticket = std::string(129, 't')}),
              "/ticket");
    const LimitRule rule = added(at_most(1));
    const ChangeReason none{.actor = "ops"};
    const std::vector<Decide> changes = {
        [&](EntityChanges& all) { return lift_rule(all, rule.id, none); },
        [&](EntityChanges& all) { return put_profile(all, "gold", {"acme"}, none); },
        [&](EntityChanges& all) { return put_pause(all, pause(), none); },
        [&](EntityChanges& all) {
            return lift_pauses(
                all, [](const LimitRule&) { return true; }, none, "none");
        },
    };
    for (const Decide& change : changes) EXPECT_EQ(decide(change).error().pointer, "/reason");
    EXPECT_EQ(rules()->all().size(), 1u);
}

TEST_F(ChangeOfLimits, NeedsNumbersThatLetSomethingStart) {
    EXPECT_EQ(pointer(at_most(0)), "/max_active") << "zero is a pause";
    EXPECT_EQ(pointer(at_most(-1)), "/max_active");
    EXPECT_EQ(pointer(at_most(INT64_MIN)), "/max_active");
    EXPECT_EQ(pointer(at_most(INT64_MAX)), "/max_active");
    const auto of_rate = [&](LimitRate rate, LimitKind kind = LimitKind::limit) {
        LimitRule rule{.kind = kind};
        rule.rate = rate;
        return pointer(rule);
    };
    EXPECT_EQ(of_rate({.count = 0, .period = 1s}), "/rate/count");
    EXPECT_EQ(of_rate({.count = -5, .period = 1s}), "/rate/count");
    EXPECT_EQ(of_rate({.count = 1, .period = 0s}), "/rate/period_ms");
    EXPECT_EQ(of_rate({.count = 1, .period = -1s}), "/rate/period_ms");
    EXPECT_EQ(of_rate({.count = 1, .period = 25h}), "/rate/period_ms");
    EXPECT_EQ(of_rate({.count = 1, .period = 1s, .burst = 0}), "/rate/burst");
    EXPECT_EQ(of_rate({.count = 1, .period = 1s, .burst = INT64_MAX}), "/rate/burst");
    EXPECT_EQ(of_rate({.count = 1, .period = 24h, .burst = 32}), "/rate/burst");
    EXPECT_EQ(of_rate({.count = 0, .period = 1h}, LimitKind::quota), "/max_per_hour");
    EXPECT_EQ(pointer(LimitRule{}), "/max_active") << "it bounds nothing";
    LimitRule nothing{.kind = LimitKind::quota};
    EXPECT_EQ(pointer(nothing), "/max_active");
    EXPECT_TRUE(rules()->empty());
}

TEST_F(ChangeOfLimits, NeedsAScopeThatCanBeMeant) {
    EXPECT_EQ(pointer(at_most(1, {.tenant = "@sluice"})), "/tenant");
    EXPECT_EQ(pointer(at_most(1, {.type = "a*b"})), "/type");
    EXPECT_EQ(pointer(at_most(1, {.queue = "*"})), "/queue");
    EXPECT_EQ(pointer(at_most(1, {.source = "a**"})), "/source");
    EXPECT_EQ(pointer(quota("ac*", 1)), "/tenant");
    LimitRule both = quota("acme", 1);
    both.profile = "gold";
    EXPECT_EQ(pointer(both), "/profile");
    for (const char* field : {"queue", "source"}) {
        LimitRule rule = quota("acme", 1);
        (field[0] == 'q' ? rule.scope.queue : rule.scope.source) = "some";
        EXPECT_EQ(pointer(rule), "/" + std::string(field));
    }
    LimitRule over = at_most(1);
    over.until = engine.now();
    EXPECT_EQ(pointer(over), "/until");
}

TEST_F(ChangeOfLimits, OfARuleThatCoversNothingIsTakenWithAWarning) {
    engine.submit(from("nightly"));
    const auto warnings = [&](const LimitRule& rule) { return put(rule)->warnings.size(); };

    EXPECT_EQ(warnings(at_most(1, {.tenant = "nobody"})), 1u);
    EXPECT_EQ(warnings(at_most(1, {.source = "nobody"})), 1u);
    EXPECT_EQ(warnings(at_most(1, {.source = "night*"})), 0u);
    EXPECT_EQ(warnings(quota("default", 1)), 0u);
    EXPECT_EQ(warnings(quota("", 1)), 1u) << "the tenant has a quota of its own";
}

TEST_F(ChangeOfLimits, ASecondQuotaForTheSameJobsIsAConflict) {
    const LimitRule first = added(quota("acme", 1));
    added(quota("globex", 1));

    EXPECT_EQ(refusal(put(quota("acme", 2))), ErrorCode::conflict);
    LimitRule moved = first;
    moved.scope.tenant = "globex";
    EXPECT_EQ(refusal(put(moved)), ErrorCode::conflict);
    LimitRule changed = first;
    changed.max_active = 9;
    EXPECT_TRUE(put(changed));
}

TEST_F(ChangeOfLimits, OfARuleThatIsNotThereIsRefused) {
    LimitRule rule = added(at_most(1));
    ASSERT_TRUE(decide([&](EntityChanges& all) { return lift_rule(all, rule.id, why); }));

    EXPECT_EQ(refusal(put(rule)), ErrorCode::not_found);
    EXPECT_TRUE(decide([&](EntityChanges& all) { return lift_rule(all, rule.id, why); }))
        << "to lift it again changes nothing";
    EXPECT_EQ(refusal(decide([&](EntityChanges& all) { return lift_rule(all, "none", why); })),
              ErrorCode::not_found);
}

TEST_F(ChangeOfLimits, NamesOfRulesInForceAreUnique) {
    LimitRule smtp = at_most(1);
    smtp.name = "smtp";
    const LimitRule first = added(smtp);
    LimitRule throttle = smtp;
    throttle.kind = LimitKind::throttle;
    EXPECT_TRUE(put(throttle)) << "of another kind";
    EXPECT_TRUE(put(at_most(1))) << "none";
    EXPECT_TRUE(put(at_most(2))) << "none, twice";

    const auto second = put(smtp);

    EXPECT_EQ(refusal(second), ErrorCode::conflict);
    EXPECT_NE(second.error().message.find(first.id), std::string::npos) << second.error().message;
    LimitRule renamed = added(at_most(3));
    renamed.name = "smtp";
    EXPECT_EQ(refusal(put(renamed)), ErrorCode::conflict);
    LimitRule changed = first;
    changed.max_active = 9;
    EXPECT_TRUE(put(changed)) << "its own name";
    decide([&](EntityChanges& all) { return lift_rule(all, first.id, why); });
    EXPECT_TRUE(put(smtp)) << "nobody has it now";
}

TEST_F(ChangeOfLimits, ARuleDoesNotGetTheNameOfAConfiguredOne) {
    LimitRule rule = at_most(7);
    rule.name = "relay";
    decide([&](EntityChanges& all) {
        return configure_limits(all, {.revision = 1, .rules = {rule}});
    });
    rule.kind = LimitKind::throttle;

    EXPECT_EQ(refusal(put(rule)), ErrorCode::conflict);
}

TEST_F(ChangeOfLimits, AChangeThatChangesNothingLeavesRuleAndHistoryAsTheyAre) {
    const LimitRule rule = added(at_most(3));
    const std::int64_t version = rules()->version();

    const auto answer = put(rule, {.actor = "another", .reason = "no reason"});

    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->rules.front(), rule);
    EXPECT_EQ(rules()->version(), version);
    EXPECT_EQ(pointer(rule, {.actor = "another"}), "/reason");
    const auto profile = [&] {
        return decide([](EntityChanges& all) { return put_profile(all, "p", {"b", "a"}, why); });
    };
    EXPECT_EQ(profile()->revision, 1);
    EXPECT_EQ(profile()->revision, 1);
    EXPECT_EQ(rules()->version(), version + 1);
}

TEST_F(ChangeOfLimits, AProfileHasNamesOfTenants) {
    const auto pointer_of = [&](std::vector<std::string> tenants) {
        const auto answer =
            decide([&](EntityChanges& all) { return put_profile(all, "p", tenants, why); });
        EXPECT_EQ(refusal(answer), ErrorCode::invalid);
        return answer.error().pointer;
    };
    EXPECT_EQ(pointer_of({"a", "b*"}), "/tenants/1");
    EXPECT_EQ(pointer_of({"a", ""}), "/tenants/1");
    EXPECT_EQ(pointer_of({"@sluice"}), "/tenants/0");
    EXPECT_EQ(pointer_of({std::string(201, 'a')}), "/tenants/0");
    EXPECT_EQ(pointer_of(std::vector<std::string>(10'001, "a")), "/tenants");
}

TEST_F(ChangeOfLimits, ATicketThatIsNotGivenStaysAndAnEmptyOneRemovesIt) {
    LimitRule rule = put(at_most(1), {.actor = "a", .reason = "r", .ticket = "T-1"})->rules[0];
    rule.max_active = 2;
    rule = put(rule, {.actor = "b", .reason = "r"})->rules[0];
    EXPECT_EQ(rule.ticket, "T-1");

    rule = put(rule, {.actor = "b", .reason = "r", .ticket = ""})->rules[0];

    EXPECT_EQ(rule.ticket, "");
}

// ── meters ──

TEST_F(ChangeOfLimits, ARepairWithoutDifferencesWritesNothing) {
    added(at_most(1));
    const std::int64_t version = rules()->version();

    EXPECT_TRUE(engine.ask(CheckMeters{.repair = true, .actor = "ops"})->empty());

    EXPECT_EQ(rules()->version(), version);
}

// ── dry runs ──

TEST_F(ChangeOfLimits, ADryRunOfEachTellsTheEffectAndChangesNothing) {
    const LimitRule few = added(at_most(1, {.source = "a"}));
    added(quota("", 1));
    added(pause({.source = "b"}));
    LimitRule gold{.kind = LimitKind::quota};
    gold.profile = "gold";
    gold.max_active = 5;
    added(gold);
    for (const char* source : {"a", "a", "b", "c", "c", "c"}) engine.submit(from(source));
    engine.claim({}, 1);  // of source a, by which the default quota is full, too
    const std::int64_t version = rules()->version();
    LimitRule more = few;
    more.max_active = 2;

    struct Case {
        const char* what;
        std::int64_t held_back;
        std::int64_t let_go;
        Decide change;
    };
    const std::vector<Case> cases = {
        {"a profile with more room", 0, 3,
         [](EntityChanges& all) { return put_profile(all, "gold", {"default"}, why); }},
        {"a higher limit under a full quota", 0, 0,
         [&](EntityChanges& all) { return put_rule(all, more, why); }},
        {"a limit that is lifted", 0, 0,
         [&](EntityChanges& all) { return lift_rule(all, few.id, why); }},
        {"a pause of a source", 0, 0,
         [](EntityChanges& all) { return put_pause(all, pause({.source = "c"}), why); }},
        {"the end of one", 0, 0,
         [](EntityChanges& all) {
             return lift_pauses(
                 all, [](const LimitRule&) { return true; }, why, "none");
         }},
        {"a configuration", 0, 0,
         [](EntityChanges& all) {
             LimitRule rule = at_most(7);
             rule.name = "n";
             return configure_limits(all, {.revision = 1, .rules = {rule}});
         }},
    };
    for (const Case& one : cases) {
        SCOPED_TRACE(one.what);
        const auto answer = decide(one.change, true);
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->effect.held_back, one.held_back);
        EXPECT_EQ(answer->effect.let_go, one.let_go);
        EXPECT_EQ(rules()->version(), version);
    }
    EXPECT_TRUE(engine.claim({}, 9).empty());
    ASSERT_TRUE(decide(cases.front().change));
    EXPECT_EQ(engine.claim({}, 9).size(), 3u) << "and so it is";
}

// ── submits ──

TEST_F(ChangeOfLimits, ABlockedTenantGetsNoJobByAnyRequest) {
    const Job ended = engine.start(from("s"));
    engine.report(ended, Outcome::succeeded);
    LimitRule block = pause({.tenant = "default"});
    block.kind = LimitKind::block;
    block.refuses_submits = true;
    added(block);

    const auto submitted = engine.ask(submission({from("s")}));
    const auto replayed = engine.replay(ended.spec->id);
    const auto acted = engine.ask(EntityAction{.decide = [](EntityChanges& changes) {
        auto made = changes.create({.key = {"default", "node", "n"}});
        EXPECT_TRUE(changes.submit_for(*made, NewJob{.type = "work"}));
        return Result(EntityAnswer{.entity = *made});
    }});

    ASSERT_FALSE(submitted);
    ASSERT_FALSE(replayed);
    ASSERT_FALSE(acted);
    for (const Error& error : {submitted.error(), replayed.error(), acted.error()}) {
        EXPECT_EQ(error.code, ErrorCode::forbidden);
        EXPECT_NE(error.message.find("a test"), std::string::npos) << error.message;
    }
    EXPECT_EQ(engine.count_jobs(), 1u);
    EXPECT_TRUE(engine.ask(submission({from("s", "another")})));
}

// ── sources ──

TEST_F(ChangeOfLimits, ATenantHasABoundedNumberOfSources) {
    std::vector<JobSpec> jobs;
    for (int i = 0; i < limits::sources_of_tenant - 1; ++i) jobs.push_back(from(std::to_string(i)));
    ASSERT_TRUE(engine.ask(submission(jobs)));

    const auto two_more = engine.ask(submission({from("last"), from("too many")}));
    ASSERT_FALSE(two_more);
    EXPECT_EQ(two_more.error().code, ErrorCode::invalid);
    EXPECT_NE(two_more.error().pointer.find("/source"), std::string::npos);

    EXPECT_TRUE(engine.ask(submission({from("last")})));
    EXPECT_FALSE(engine.ask(submission({from("one more")})));
    EXPECT_TRUE(engine.ask(submission({from("17")}))) << "a known one";
    EXPECT_TRUE(engine.ask(submission({from("one more", "another")}))) << "of another tenant";
    EXPECT_TRUE(engine.ask(submission({from("")}))) << "of none";
}

TEST_F(ChangeOfLimits, ASourceThatNoRuleCanNameIsRefused) {
    for (const char* source : {"glob*", "a*b", "*"}) {
        const auto refused = engine.ask(submission({from(source)}));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::invalid);
        EXPECT_NE(refused.error().pointer.find("/source"), std::string::npos);
    }
}

}  // namespace change_limits_test
}  // namespace sluice
