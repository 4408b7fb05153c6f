#include "application/limits/ended_rules.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "application/limits/change_limits.hpp"
#include "application/limits/stored_rules.hpp"
#include "json/json_values.hpp"
#include "support/faulty_store.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace ended_rules_test {

using namespace std::chrono_literals;

const ChangeReason why{.actor = "ops", .reason = "a test"};

LimitRule pause_until(Timestamp until, std::string source = "") {
    LimitRule rule{.kind = LimitKind::throttle};
    rule.scope.source = std::move(source);
    rule.paused = true;
    rule.until = until;
    return rule;
}

LimitRule put(TestEngine& engine, const LimitRule& rule) {
    const auto answer = engine.ask(ChangeLimits{
        .decide = [=](EntityChanges& changes) { return put_rule(changes, rule, why); }});
    if (!answer) throw std::runtime_error(answer.error().message);
    return answer->rules.front();
}

std::size_t in_force(TestEngine& engine) {
    return load_rules(engine.store().reader()->entities())->all().size();
}

std::vector<EntityEvent> lifts(TestEngine& engine) {
    std::vector<EntityEvent> found =
        engine.store().reader()->entities().events(control_key(), 0, 1000);
    std::erase_if(found, [](const EntityEvent& event) { return event.action != "rule_lifted"; });
    return found;
}

std::vector<DutyRun> runs_of_duty(const Engine::Ran& ran) {
    std::vector<DutyRun> runs = ran.counts.duties;
    std::erase_if(runs, [](const DutyRun& run) { return run.duty != duty::ended_rules.name; });
    return runs;
}

TEST(EndedRules, TheFirstEndIsTheNextOne) {
    EXPECT_EQ(next_end(*LimitRules::none()), never);
    LimitRule later = pause_until(at(20));
    LimitRule sooner = pause_until(at(10));
    later.id = "a";
    sooner.id = "b";
    EXPECT_EQ(next_end(LimitRules(1, {later, sooner, LimitRule{.id = "c"}}, {})), at(10));
}

TEST(EndedRules, AreLiftedByTheEngineAtTheirEnd) {
    TestEngine engine;
    engine.run();
    const std::string id = put(engine, pause_until(at(3600))).id;
    put(engine, pause_until(at(7200), "nightly"));
    EXPECT_EQ(engine.engine().next_due(), at(3600)) << "an idle engine wakes for it";

    engine.advance(3599s);
    EXPECT_EQ(in_force(engine), 2u);
    engine.advance(1s);

    EXPECT_EQ(in_force(engine), 1u);
    const auto events = lifts(engine);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].actor, "engine");
    EXPECT_EQ(events[0].at, at(3600));
    const Attributes detail = json_members(events[0].detail);
    EXPECT_EQ(text_of(detail, "rule"), id);
    EXPECT_EQ(text_of(detail, "reason"), "its end has come");
    EXPECT_EQ(engine.store().reader()->entities().find_one(limit_key(id))->state, "lifted");
    EXPECT_EQ(engine.engine().next_due(), at(7200));
}

TEST(EndedRules, ThatEndTogetherAreAllLiftedBesideCommands) {
    TestEngine engine;
    engine.ask(ChangeLimits{.decide = [](EntityChanges& changes) -> Result<LimitAnswer> {
        LimitAnswer all;
        for (int i = 0; i < 250; ++i) {
            auto one = put_rule(changes, pause_until(at(10), "s" + std::to_string(i)), why);
            if (!one) return one.error();
            all.rules.push_back(one->rules.front());
        }
        return all;
    }});
    ASSERT_EQ(in_force(engine), 250u);
    engine.sleep(10s);
    Batch commands;
    put(commands, submission({spec()}));

    EXPECT_TRUE(engine.engine().wants_a_turn(engine.now()));
    EXPECT_TRUE(runs_of_duty(engine.run(commands)).empty()) << "no command waits for it";
    const auto runs = runs_of_duty(engine.run());
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].items, 100);
    engine.advance(0s);

    EXPECT_EQ(in_force(engine), 0u);
    EXPECT_EQ(lifts(engine).size(), 250u);
    EXPECT_EQ(engine.engine().next_due(), never);
}

TEST(EndedRules, AreLiftedOnceByTwoEngines) {
    TestEngine engine;
    TestEngine other(engine.store());
    put(engine, pause_until(at(10)));
    other.run();
    engine.sleep(10s);
    other.sleep(10s);

    engine.run();
    const auto ran = other.run();

    for (const DutyRun& run : runs_of_duty(ran)) EXPECT_EQ(run.items, 0);
    EXPECT_EQ(lifts(engine).size(), 1u);
}

TEST(EndedRules, AreLeftToTheCommitterThatSweeps) {
    Engine::Options options;
    options.sweeps = false;
    TestEngine engine(options);
    put(engine, pause_until(at(10)));
    engine.sleep(20s);
    engine.run();

    EXPECT_EQ(engine.engine().next_due(), never);
    EXPECT_EQ(in_force(engine), 1u);
}

TEST(EndedRules, ARuleThatWasProlongedStays) {
    TestEngine engine;
    LimitRule rule = put(engine, pause_until(at(10)));
    rule.until = at(20);
    put(engine, rule);

    engine.advance(19s);
    EXPECT_EQ(in_force(engine), 1u);
    engine.advance(1s);
    EXPECT_EQ(in_force(engine), 0u);
}

// A quota that is over would stand in the way of another one for the same jobs.
TEST(EndedRules, AQuotaThatIsOverMakesRoomForAnother) {
    TestEngine engine;
    LimitRule quota{.kind = LimitKind::quota};
    quota.scope.tenant = "acme";
    quota.max_active = 1;
    quota.until = at(10);
    put(engine, quota);
    engine.advance(10s);

    quota.until.reset();
    EXPECT_NO_THROW(put(engine, quota));
    EXPECT_EQ(in_force(engine), 1u);
}

// The default has the tenant's jobs back when its own quota is lifted, and at no moment have they
// none.
TEST(EndedRules, AQuotaHoldsUntilTheDefaultTakesItsPlace) {
    TestEngine engine;
    LimitRule general{.kind = LimitKind::quota};
    general.per = {Dimension::tenant};
    general.max_active = 1;
    put(engine, general);
    LimitRule own = general;
    own.scope.tenant = spec().tenant;
    own.max_active = 50;
    own.paused = true;
    own.until = at(10);
    put(engine, own);
    engine.submit_all({spec(), spec(), spec()});
    const std::vector claims{engine.wait(60s), engine.wait(60s), engine.wait(60s)};

    engine.advance(10s);

    EXPECT_EQ(in_force(engine), 1u);
    const auto served = std::count_if(claims.begin(), claims.end(),
                                      [](const auto& claim) { return claim->has_value(); });
    EXPECT_EQ(served, 1) << "as many as the default permits";
}

TEST(EndedRules, WaitForSpaceOnTheDisk) {
    MemoryStore inner;
    FaultyStore store(inner);
    TestEngine engine(store);
    put(engine, pause_until(at(10)));
    engine.sleep(10s);
    store.set_full(true, 10);
    engine.ask(submission({spec()}));

    EXPECT_TRUE(runs_of_duty(engine.run()).empty());
    EXPECT_GT(engine.engine().next_due(), engine.now());
    store.set_full(false);
    engine.ask(submission({spec()}));
    engine.advance(10s);

    EXPECT_EQ(in_force(engine), 0u);
}

}  // namespace ended_rules_test
}  // namespace sluice
