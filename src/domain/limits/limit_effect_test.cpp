// What a change of rules does to the jobs that wait.
#include "domain/limits/limit_effect.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "domain/limits/limit_rules.hpp"

namespace sluice {
namespace limit_effect_test {

using namespace std::chrono_literals;

constexpr Timestamp now = from_micros(1'767'225'600'000'000);

struct Waiting {
    Lane lane;
    std::int64_t count = 0;
    bool is_more = false;
};

using Meters = std::map<std::pair<std::string, MeterId>, MeterState>;

std::vector<PermitNow> permits_in(const LimitRules& rules, const Lane& lane, Meters& meters) {
    std::vector<PermitNow> permits;
    for (const Permit& permit : rules.permits_of(lane)) {
        permits.push_back({permit.rule, &meters[{permit.rule->id, permit.meter}]});
    }
    return permits;
}

LimitEffect effect(const std::vector<Waiting>& waiting, const std::vector<LimitRule>& before,
                   const std::vector<LimitRule>& after, const Meters& used = {}) {
    const LimitRules rules_before(1, before, {}), rules_after(2, after, {});
    Meters meters_before = used, meters_after = used;
    std::vector<WaitingJobs> jobs;
    for (const Waiting& one : waiting) {
        jobs.push_back({.count = one.count,
                        .is_more = one.is_more,
                        .before = permits_in(rules_before, one.lane, meters_before),
                        .after = permits_in(rules_after, one.lane, meters_after)});
    }
    return effect_on(jobs, now);
}

LimitRule at_most(std::int64_t active, LimitScope scope = {}, CountedBy per = {}) {
    LimitRule rule{.id = "r"};
    rule.scope = std::move(scope);
    rule.per = per;
    rule.max_active = active;
    return rule;
}

LimitRule pause(LimitScope scope = {}) {
    LimitRule rule{.id = "p"};
    rule.scope = std::move(scope);
    rule.paused = true;
    return rule;
}

Lane lane(std::string type, std::string source = "") {
    return {.tenant = "t", .queue = "q", .type = std::move(type), .source = std::move(source)};
}

TEST(LimitEffect, OfAFirstLimitIsWhatWaitsBeyondIt) {
    const LimitEffect few = effect({{lane("a"), 50}}, {}, {at_most(3)});
    EXPECT_EQ(few.held_back, 47);
    EXPECT_EQ(few.let_go, 0);
    EXPECT_FALSE(few.is_more);
    EXPECT_EQ(effect({{lane("a"), 2}}, {}, {at_most(3)}).held_back, 0);
    EXPECT_EQ(effect({{lane("a"), 5}, {lane("b"), 5}}, {}, {at_most(3)}).held_back, 7);
    EXPECT_EQ(
        effect({{lane("a"), 5}, {lane("b"), 5}}, {}, {at_most(3, {}, {Dimension::type})}).held_back,
        4);
}

TEST(LimitEffect, OfARaisedLimitIsItsNewPlaces) {
    const Meters used = {{{"r", permit_of(at_most(3), lane("a")).meter}, {.active = 3}}};
    const std::vector<Waiting> waiting = {{lane("a"), 47}};

    EXPECT_EQ(effect(waiting, {at_most(3)}, {at_most(4)}, used).let_go, 1);
    EXPECT_EQ(effect(waiting, {at_most(3)}, {at_most(4)}, used).held_back, 0);
    EXPECT_EQ(effect(waiting, {at_most(4)}, {at_most(3)}, used).held_back, 1);
    EXPECT_EQ(effect(waiting, {at_most(3)}, {at_most(2)}, used).held_back, 0);
    EXPECT_EQ(effect(waiting, {at_most(3)}, {}, used).let_go, 47);
}

TEST(LimitEffect, OfARateIsWhatItsBucketLacks) {
    LimitRule rate{.id = "r"};
    rate.rate = LimitRate{.count = 1, .period = 1min, .burst = 1};
    EXPECT_EQ(effect({{lane("a"), 300}}, {}, {rate}).held_back, 299);
    rate.rate->burst = 20;
    EXPECT_EQ(effect({{lane("a"), 300}}, {}, {rate}).held_back, 280);
    rate.rate = hourly_rate(100, 500);
    EXPECT_EQ(effect({{lane("a"), 300}}, {}, {rate}).held_back, 200);
}

TEST(LimitEffect, OfAPauseIsWhatOthersDidNotHoldBack) {
    const std::vector<Waiting> waiting = {{lane("a", "s"), 3}, {lane("a", "o"), 2}};
    LimitRule wide = pause();
    wide.id = "w";

    EXPECT_EQ(effect(waiting, {}, {pause({.source = "s"})}).held_back, 3);
    EXPECT_EQ(effect(waiting, {wide}, {wide, pause({.source = "s"})}).held_back, 0);
    EXPECT_EQ(effect(waiting, {wide, pause({.source = "s"})}, {wide}).let_go, 0);
}

TEST(LimitEffect, OfARuleThatMovesHasBothSides) {
    const LimitEffect moved =
        effect({{lane("a"), 5}, {lane("b"), 7}}, {pause({.type = "a"})}, {pause({.type = "b"})});
    EXPECT_EQ(moved.held_back, 7);
    EXPECT_EQ(moved.let_go, 5);
}

TEST(LimitEffect, SaysWhenItMayBeLarger) {
    const std::vector<Waiting> many = {{lane("a"), 1000, true}};

    EXPECT_TRUE(effect(many, {}, {pause()}).is_more);
    EXPECT_EQ(effect(many, {}, {pause()}).held_back, 1000);
    const LimitEffect few = effect(many, {}, {at_most(3)});
    EXPECT_EQ(few.held_back, 997);
    EXPECT_TRUE(few.is_more);
    EXPECT_FALSE(effect(many, {at_most(3)}, {pause()}).is_more) << "3, whatever waits";
    EXPECT_TRUE(effect(many, {}, {at_most(5000)}).is_more);
    EXPECT_FALSE(effect(many, {}, {}).is_more);
}

TEST(LimitEffect, TellsHowManyAreCovered) {
    WaitingJobs jobs{.count = 3, .is_covered = true};
    WaitingJobs others{.count = 1000, .is_more = true};
    const std::vector<WaitingJobs> waiting = {jobs, others, jobs};

    EXPECT_EQ(effect_on(waiting, now).covered, 6);
    EXPECT_FALSE(effect_on(waiting, now).is_more_covered);
    others.is_covered = true;
    EXPECT_TRUE(effect_on(std::vector{others}, now).is_more_covered);
}

TEST(LimitEffect, ManyStartsCountLikeOneAfterTheOther) {
    for (const bool is_hourly : {false, true}) {
        LimitRule rule = at_most(9);
        rule.rate = is_hourly ? hourly_rate(20, 12) : LimitRate{7, 3s, 12};
        MeterState together, apart;
        note_starts(rule, together, now, 5);
        for (int i = 0; i < 5; ++i) note_start(rule, apart, now);
        EXPECT_EQ(together, apart);
        note_starts(rule, together, now, 0);
        EXPECT_EQ(together, apart);
    }
}

// ── what is true of any ──

class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}

    std::int64_t below(std::int64_t end) {
        return std::uniform_int_distribution<std::int64_t>(0, end - 1)(engine_);
    }
    std::string name() { return std::string(1, static_cast<char>('a' + below(3))); }
    std::string pattern() { return below(2) == 0 ? "" : name(); }

    LimitRule rule(int id) {
        LimitRule rule{.id = "rule " + std::to_string(id)};
        rule.scope = {.tenant = pattern(), .type = pattern(), .queue = {}, .source = pattern()};
        for (const Dimension dimension : all_dimensions) {
            if (below(4) == 0) rule.per.add(dimension);
        }
        if (below(2) == 0) rule.max_active = 1 + below(8);
        if (below(2) == 0) rule.rate = LimitRate{1 + below(5), 1min, 1 + below(9)};
        if (below(4) == 0) rule.rate = hourly_rate(1 + below(9), 1 + below(9));
        rule.paused = below(5) == 0;
        return rule;
    }
    std::vector<LimitRule> rules() {
        std::vector<LimitRule> all;
        for (auto left = below(6); left > 0; --left) all.push_back(rule(static_cast<int>(left)));
        return all;
    }
    std::vector<Waiting> waiting() {
        std::vector<Waiting> all;
        for (auto left = below(9); left > 0; --left) {
            const Lane lane{.tenant = name(), .queue = name(), .type = name(), .source = name()};
            all.push_back({lane, below(12)});
        }
        return all;
    }
    // Meters that other jobs use.
    Meters used(const std::vector<Waiting>& waiting, const std::vector<LimitRule>& rules) {
        Meters meters;
        const LimitRules all(1, rules, {});
        for (const Waiting& one : waiting) {
            for (const PermitNow& permit : permits_in(all, one.lane, meters)) {
                note_starts(*permit.rule, *permit.meter, now - 10s, below(4));
            }
        }
        return meters;
    }

  private:
    std::mt19937 engine_;
};

std::int64_t all_of(const std::vector<Waiting>& waiting) {
    std::int64_t all = 0;
    for (const Waiting& one : waiting) all += one.count;
    return all;
}

constexpr unsigned seeds = 3000;

TEST(LimitEffectProperties, AFurtherRuleNeverLetsGoAndOneThatIsLiftedNeverHoldsBack) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const std::vector<LimitRule> fewer = random.rules();
        std::vector<LimitRule> more = fewer;
        more.push_back(random.rule(7));
        const std::vector<Waiting> waiting = random.waiting();
        const Meters used = random.used(waiting, more);

        const LimitEffect added = effect(waiting, fewer, more, used);
        const LimitEffect lifted = effect(waiting, more, fewer, used);

        ASSERT_EQ(added.let_go, 0);
        ASSERT_GE(added.held_back, 0);
        ASSERT_LE(added.held_back, all_of(waiting));
        ASSERT_EQ(lifted.held_back, 0);
        ASSERT_EQ(lifted.let_go, added.held_back);
    }
}

TEST(LimitEffectProperties, ARuleThatCoversNothingAndAChangeOfNothingChangeNothing) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const std::vector<LimitRule> rules = random.rules();
        std::vector<LimitRule> more = rules;
        more.push_back(random.rule(7));
        more.back().scope.queue = "nobody";
        const std::vector<Waiting> waiting = random.waiting();
        const Meters used = random.used(waiting, rules);

        for (const auto& after : {rules, more}) {
            const LimitEffect none = effect(waiting, rules, after, used);
            ASSERT_EQ(none.held_back, 0);
            ASSERT_EQ(none.let_go, 0);
        }
    }
}

TEST(LimitEffectProperties, AnyChangeHoldsBackAndLetsGoNoMoreThanWaits) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const std::vector<LimitRule> before = random.rules(), after = random.rules();
        const std::vector<Waiting> waiting = random.waiting();
        const Meters used = random.used(waiting, before);

        const LimitEffect there = effect(waiting, before, after, used);
        const LimitEffect back = effect(waiting, after, before, used);

        ASSERT_GE(there.held_back, 0);
        ASSERT_GE(there.let_go, 0);
        ASSERT_LE(there.held_back + there.let_go, all_of(waiting));
        ASSERT_EQ(there.held_back, back.let_go);
        ASSERT_EQ(there.let_go, back.held_back);
    }
}

// With one meter for all, it is the difference of what may start before and after.
TEST(LimitEffectProperties, OfOneLimitForAllIsTheDifferenceOfItsPlaces) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const std::vector<Waiting> waiting = random.waiting();
        const std::int64_t all = all_of(waiting);
        const std::int64_t before = 1 + random.below(30), after = 1 + random.below(30);

        const LimitEffect change = effect(waiting, {at_most(before)}, {at_most(after)});

        const std::int64_t more = std::min(all, after) - std::min(all, before);
        ASSERT_EQ(change.let_go, std::max<std::int64_t>(0, more));
        ASSERT_EQ(change.held_back, std::max<std::int64_t>(0, -more));
    }
}

}  // namespace limit_effect_test
}  // namespace sluice
