// What the rules permit, as people are told.
#include "application/limits/limits_now.hpp"

#include <gtest/gtest.h>

#include "application/limits/change_limits.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace limits_now_test {

using namespace std::chrono_literals;

const ChangeReason why{.actor = "ops", .reason = "a test"};

LimitRule at_most(std::int64_t active, LimitScope scope = {}) {
    LimitRule rule;
    rule.scope = std::move(scope);
    rule.max_active = active;
    return rule;
}

LimitRule rate_of(std::int64_t count, Duration period, std::int64_t burst) {
    LimitRule rule;
    rule.rate = LimitRate{.count = count, .period = period, .burst = burst};
    return rule;
}

LimitRule pause(LimitScope scope = {}) {
    LimitRule rule{.kind = LimitKind::throttle};
    rule.scope = std::move(scope);
    rule.paused = true;
    return rule;
}

class LimitsShown : public testing::Test {
  protected:
    Told<LimitAnswer> change(std::function<Result<LimitAnswer>(EntityChanges&)> decide,
                             bool dry_run = false) {
        return engine.ask(ChangeLimits{.dry_run = dry_run, .decide = std::move(decide)});
    }
    LimitEffect tried(const LimitRule& rule) {
        return change([=](EntityChanges& all) { return put_rule(all, rule, why); }, true)->effect;
    }
    LimitRule added(const LimitRule& rule) {
        return change([=](EntityChanges& all) { return put_rule(all, rule, why); })->rules.front();
    }
    LimitEffect lifted(const LimitRule& rule) {
        return change([=](EntityChanges& all) { return lift_rule(all, rule.id, why); }, true)
            ->effect;
    }
    void submit(int count, const std::string& tenant = "default", const std::string& source = "") {
        JobSpec made = spec();
        made.tenant = tenant;
        made.source = source;
        engine.submit_all(std::vector<JobSpec>(static_cast<std::size_t>(count), made));
    }
    // A claim may get fewer jobs than are permitted.
    void run(int count, const std::string& tenant = "default") {
        std::size_t got = 1;
        while (count > 0 && got > 0) {
            got = engine.claim({.tenant = tenant}, count).size();
            count -= static_cast<int>(got);
        }
        EXPECT_EQ(count, 0);
    }
    RuleUse use_of(const LimitRule& rule, AskLimits ask = {}) {
        ask.rule = rule.id;
        const auto limits = engine.ask(ask);
        return limits->rules.at(0);
    }
    std::vector<HeldBy> held_by(const std::string& tenant, Viewer viewer) {
        Lane lane = lane_of(spec());
        lane.tenant = tenant;
        return engine.ask(AskStart{.lane = lane, .viewer = viewer})->held_by;
    }

    TestEngine engine;
};

// ── effects ──

TEST_F(LimitsShown, TheEffectOfALimitIsWhatMayNotStartAtOnceAnyMore) {
    submit(50);

    EXPECT_EQ(tried(at_most(3)).held_back, 47);
    EXPECT_EQ(tried(at_most(60)).held_back, 0);
    EXPECT_EQ(tried(rate_of(1, 1min, 1)).held_back, 49);
    EXPECT_EQ(tried(pause()).held_back, 50);
    EXPECT_EQ(tried(at_most(3, {.type = "other"})).held_back, 0);
}

TEST_F(LimitsShown, TheEffectOfAHigherLimitIsItsNewPlaces) {
    LimitRule rule = added(at_most(3));
    submit(50);
    run(3);

    rule.max_active = 4;
    EXPECT_EQ(tried(rule).let_go, 1);
    rule.max_active = 2;
    EXPECT_EQ(tried(rule).held_back, 0) << "nothing could start before";
    EXPECT_EQ(lifted(rule).let_go, 47);
}

TEST_F(LimitsShown, TheEffectOfARateCountsTheTokensThatItsBucketWillHave) {
    LimitRule rule = added(rate_of(1, 1min, 5));
    submit(30);
    run(5);

    rule.rate->burst = 12;
    EXPECT_EQ(tried(rule).let_go, 7);
    rule.rate = LimitRate{.count = 1, .period = 1s, .burst = 12};
    EXPECT_EQ(tried(rule).let_go, 7) << "it lacks as many tokens of the new rate";
}

TEST_F(LimitsShown, APauseOfWhatIsHeldBackAlreadyTellsWhatItCovers) {
    added(pause());
    submit(3, "default", "nightly");
    submit(2, "default", "other");

    const LimitEffect effect = tried(pause({.source = "nightly"}));

    EXPECT_EQ(effect.held_back, 0);
    EXPECT_EQ(effect.covered, 3);
    EXPECT_FALSE(effect.is_more_covered);
}

TEST_F(LimitsShown, MoreThanIsCountedIsToldAsMore) {
    const LimitRule rule = added(at_most(3));
    submit(1200);

    const LimitEffect effect = tried(pause());
    EXPECT_EQ(effect.held_back, 3);
    EXPECT_FALSE(effect.is_more);
    EXPECT_EQ(effect.covered, 1000);
    EXPECT_TRUE(effect.is_more_covered);
    EXPECT_EQ(lifted(rule).let_go, 997);
    EXPECT_TRUE(lifted(rule).is_more);
    run(3);
    EXPECT_EQ(use_of(rule).waiting, 1000);
    EXPECT_TRUE(use_of(rule).is_more);
    submit(1200, "default", "nightly");
    const auto sources = engine.ask(AskSources{});
    EXPECT_EQ(sources->at(0).queued, 1000);
    EXPECT_TRUE(sources->at(0).is_more);
}

// ── use ──

TEST_F(LimitsShown, WhatWaitsForARuleIsWhatItDoesNotPermit) {
    const LimitRule rule = added(at_most(3));
    const LimitRule rate = added(rate_of(1, 1min, 10));
    LimitRule each = at_most(2);
    each.per = {Dimension::source};
    each = added(each);
    submit(5, "default", "a");
    submit(4, "default", "b");

    EXPECT_EQ(use_of(rule).waiting, 6);
    EXPECT_EQ(use_of(rate).waiting, 0);
    EXPECT_EQ(use_of(each).waiting, 5);
    run(3);
    EXPECT_EQ(use_of(rule).waiting, 6);
    EXPECT_FALSE(use_of(rule).is_more);
}

TEST_F(LimitsShown, AMeterCountsWhatRunsAlsoWithoutALimitOfIt) {
    const LimitRule rule = added(rate_of(5, 1min, 5));
    submit(4);
    run(3);

    const RuleUse use = use_of(rule);

    EXPECT_EQ(use.active, 3);
    ASSERT_EQ(use.meters.size(), 1u);
    EXPECT_EQ(use.meters[0].active, 3);
    EXPECT_EQ(use.rate_used, 3);
    EXPECT_EQ(use.rate_max, 5);
}

// ── a caller of one tenant ──

TEST_F(LimitsShown, OneTenantLearnsNothingOfTheUseOfOthers) {
    const LimitRule shared = added(at_most(3));
    const AskLimits by_beta{.tenant = "beta", .only_own = true};
    submit(2, "acme");
    submit(6, "beta");
    run(1, "acme");
    EXPECT_EQ(use_of(shared).waiting, 5);
    EXPECT_EQ(use_of(shared, by_beta).waiting, 3) << "as if others used nothing";
    run(1, "acme");
    run(1, "beta");

    EXPECT_EQ(use_of(shared, by_beta).active, 1);
    EXPECT_EQ(use_of(shared, by_beta).waiting, 5);
    EXPECT_TRUE(use_of(shared, by_beta).meters.empty());
    EXPECT_NE(held_by("beta", Viewer::any_tenant).at(0).detail.find("3 of 3 active"),
              std::string::npos);
    const std::string told = held_by("beta", Viewer::one_tenant).at(0).detail;
    EXPECT_TRUE(told.starts_with("all 3 permits for all jobs are taken")) << told;
    JobSpec further = spec();
    further.tenant = "beta";
    const Job waiting = engine.submit(further);
    const auto explained = engine.ask(
        ExplainJob{.job = waiting.spec->id, .tenant = "beta", .viewer = Viewer::one_tenant});
    EXPECT_EQ(explained->reasons.at(0).detail, told);
}

TEST_F(LimitsShown, TheEffectOfAChangeTellsOneTenantNothingOfOthers) {
    added(at_most(3));
    submit(2, "acme");
    submit(6, "beta");
    const auto effect_for = [&](const std::string& tenant) {
        const LimitRule rule = pause({.tenant = "beta"});
        const auto answer = engine.ask(
            ChangeLimits{.dry_run = true,
                         .decide = [=](EntityChanges& all) { return put_rule(all, rule, why); },
                         .only_tenant = tenant});
        return answer->effect.held_back;
    };
    const std::int64_t by_itself = effect_for("beta");
    run(2, "acme");

    EXPECT_EQ(by_itself, 6);
    EXPECT_EQ(effect_for("beta"), by_itself);
    EXPECT_EQ(effect_for(""), 1);
    run(1, "beta");
    EXPECT_EQ(effect_for("beta"), 0);
}

TEST_F(LimitsShown, OneTenantSeesTheUseOfItsOwnMeters) {
    const LimitRule own = added(at_most(1, {.tenant = "beta"}));
    submit(2, "beta");
    run(1, "beta");

    EXPECT_EQ(use_of(own, {.tenant = "beta", .only_own = true}).meters.size(), 1u);
    EXPECT_TRUE(held_by("beta", Viewer::one_tenant).at(0).detail.starts_with("1 of 1 active"));
}

// ── sources ──

TEST_F(LimitsShown, APausedSourceIsListedBeforeItHasJobs) {
    added(pause({.source = "nightly"}));
    added(pause({.tenant = "acme", .source = "weekly"}));
    added(pause({.source = "x*"}));
    LimitRule limited = pause({.source = "limited"});
    limited.paused = false;
    limited.max_active = 1;
    added(limited);

    const auto listed = [&](const std::string& tenant) {
        std::vector<std::pair<std::string, std::string>> names;
        const auto sources = engine.ask(AskSources{.tenant = tenant});
        for (const SourceNow& source : *sources) {
            EXPECT_TRUE(source.pause);
            names.emplace_back(source.last_day.tenant, source.last_day.source);
        }
        return names;
    };
    using Names = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(listed(""), (Names{{"", "nightly"}, {"acme", "weekly"}}));
    EXPECT_EQ(listed("beta"), (Names{{"beta", "nightly"}}));
    EXPECT_EQ(listed("acme"), (Names{{"acme", "nightly"}, {"acme", "weekly"}}));
    submit(1, "beta", "nightly");
    submit(1, "beta", "xyz");
    EXPECT_EQ(listed(""), (Names{{"acme", "weekly"}, {"beta", "nightly"}, {"beta", "xyz"}}));
}

}  // namespace limits_now_test
}  // namespace sluice
