#include <gtest/gtest.h>

#include "application/limits/change_limits.hpp"
#include "application/limits/stored_rules.hpp"
#include "json/json_values.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace configure_limits_test {

LimitRule limit(std::string name, std::int64_t max_active) {
    LimitRule rule{.name = std::move(name)};
    rule.max_active = max_active;
    return rule;
}

LimitRule quota(std::string name, std::string tenant, std::int64_t max_active) {
    LimitRule rule = limit(std::move(name), max_active);
    rule.kind = LimitKind::quota;
    rule.scope.tenant = std::move(tenant);
    rule.per = counted_by_of_quota(rule.scope);
    return rule;
}

class ConfigureLimits : public testing::Test {
  protected:
    Told<LimitAnswer> configure(std::int64_t revision, std::vector<LimitRule> rules,
                                LimitRules::Profiles profiles = {}) {
        const ConfiguredLimits wanted{revision, std::move(rules), std::move(profiles)};
        return engine.ask(ChangeLimits{
            .decide = [=](EntityChanges& changes) { return configure_limits(changes, wanted); }});
    }

    Told<LimitAnswer> by_hand(const LimitRule& rule) {
        return engine.ask(ChangeLimits{.decide = [=](EntityChanges& changes) {
            return put_rule(changes, rule, {.actor = "ops", .reason = "a test", .ticket = ""});
        }});
    }

    std::shared_ptr<const LimitRules> rules() {
        return load_rules(engine.store().reader()->entities());
    }
    std::vector<std::string> names() {
        std::vector<std::string> names;
        const auto all = rules();
        for (const LimitRule& rule : all->all()) names.push_back(rule.name);
        std::sort(names.begin(), names.end());
        return names;
    }

    std::vector<EntityEvent> events() {
        const std::int64_t created = 1;  // the event that begins the history
        return engine.store().reader()->entities().events(control_key(), created, 1000);
    }

    TestEngine engine;
};

using Names = std::vector<std::string>;

TEST_F(ConfigureLimits, WritesNothingWithoutASection) {
    const auto answer = configure(0, {});

    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->warnings.empty());
    EXPECT_EQ(rules()->version(), 0);
}

TEST_F(ConfigureLimits, AddsItsRulesOnce) {
    ASSERT_TRUE(configure(1, {limit("a", 1), limit("b", 2)}));
    const std::int64_t version = rules()->version();
    ASSERT_TRUE(configure(1, {limit("b", 2), limit("a", 1)})) << "the order does not matter";

    EXPECT_EQ(names(), (Names{"a", "b"}));
    EXPECT_EQ(rules()->version(), version) << "the second node has changed nothing";
    const auto all = rules();
    EXPECT_TRUE(all->all().front().configured);
    EXPECT_EQ(all->all().front().actor, "");
}

TEST_F(ConfigureLimits, AHigherRevisionReplacesWhatTheFormerOneHad) {
    configure(1, {limit("a", 1), limit("b", 2)}, {{"gold", {"acme"}}, {"tin", {"initech"}}});
    const std::string id = rules()->all().front().id;

    ASSERT_TRUE(configure(2, {limit("a", 5), limit("c", 3)}, {{"gold", {"globex"}}}));

    EXPECT_EQ(names(), (Names{"a", "c"}));
    EXPECT_EQ(rules()->profiles(), (LimitRules::Profiles{{"gold", {"globex"}}}));
    EXPECT_TRUE(id == rules()->all()[0].id || id == rules()->all()[1].id)
        << "a name keeps its rule, and so its meters";
}

TEST_F(ConfigureLimits, ASectionWithoutRulesLiftsThem) {
    configure(1, {limit("a", 1)}, {{"gold", {"acme"}}});

    ASSERT_TRUE(configure(2, {}));
    EXPECT_TRUE(rules()->empty());
    EXPECT_TRUE(rules()->profiles().empty());

    ASSERT_TRUE(configure(3, {limit("a", 1)}));
    EXPECT_EQ(names(), Names{"a"}) << "and a later one brings them back";
}

TEST_F(ConfigureLimits, ProfilesAloneAreReplacedToo) {
    configure(1, {}, {{"gold", {"acme"}}});
    ASSERT_EQ(rules()->profiles().size(), 1u);

    ASSERT_TRUE(configure(2, {}));

    EXPECT_TRUE(rules()->profiles().empty());
}

TEST_F(ConfigureLimits, ARevisionWithoutRulesIsRememberedToo) {
    ASSERT_TRUE(configure(5, {}));

    EXPECT_EQ(refusal(configure(5, {limit("a", 1)})), ErrorCode::conflict);
}

TEST_F(ConfigureLimits, ALowerRevisionAdoptsWhatIsThere) {
    configure(2, {limit("a", 1)});

    const auto lower = configure(1, {limit("b", 1)});
    const auto without = configure(0, {});

    ASSERT_TRUE(lower && without);
    EXPECT_EQ(lower->warnings,
              Names{"the rules of the configuration have revision 1, and the store has revision 2 "
                    "already, which holds: raise governance.revision to replace them"});
    EXPECT_EQ(
        without->warnings,
        Names{"the configuration has no [governance], and the rules of its revision 2 stay in "
              "force: to lift them, give [governance] with a higher revision and no rules"});
    EXPECT_EQ(names(), Names{"a"});
}

TEST_F(ConfigureLimits, TheSameRevisionWithOtherRulesIsRefused) {
    configure(1, {limit("a", 1)});

    const auto other = configure(1, {limit("a", 2)});

    ASSERT_EQ(refusal(other), ErrorCode::conflict);
    EXPECT_EQ(other.error().message,
              "the rules of the configuration differ from those that the store has of the same "
              "revision 1: raise governance.revision");
    EXPECT_EQ(rules()->all().front().max_active, 1);
}

TEST_F(ConfigureLimits, LeavesAloneWhatWasMadeByHand) {
    by_hand(limit("mine", 1));
    configure(1, {limit("a", 1)});
    configure(2, {});

    EXPECT_EQ(names(), Names{"mine"});
}

TEST_F(ConfigureLimits, TakesThePlaceOfAQuotaForTheSameJobs) {
    by_hand(quota("", "acme", 3));
    by_hand(quota("", "globex", 4));

    const auto answer = configure(1, {quota("acme", "acme", 8)});

    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->warnings.size(), 1u);
    EXPECT_NE(answer->warnings.front().find("is lifted"), std::string::npos);
    EXPECT_EQ(names(), (Names{"", "acme"}));
}

TEST_F(ConfigureLimits, ADryRunChangesNothing) {
    const ConfiguredLimits wanted{1, {limit("a", 1)}, {}};
    ASSERT_TRUE(engine.ask(ChangeLimits{.dry_run = true, .decide = [=](EntityChanges& changes) {
                                            return configure_limits(changes, wanted);
                                        }}));

    EXPECT_TRUE(rules()->empty());
}

TEST_F(ConfigureLimits, ItsRulesAndProfilesAreNotChangedByHand) {
    configure(1, {limit("a", 1)}, {{"gold", {"acme"}}});
    LimitRule rule = rules()->all().front();
    rule.max_active = 9;

    EXPECT_EQ(refusal(by_hand(rule)), ErrorCode::conflict);
    const auto profile = engine.ask(ChangeLimits{.decide = [](EntityChanges& changes) {
        return put_profile(changes, "gold", {"globex"},
                           {.actor = "ops", .reason = "a test", .ticket = ""});
    }});
    EXPECT_EQ(refusal(profile), ErrorCode::conflict);
}

// ── the control history ──

// "rule_changed 3 -> 5" of each event, with the number of the rule before and after.
std::vector<std::string> told(const std::vector<EntityEvent>& events) {
    std::vector<std::string> texts;
    for (const EntityEvent& event : events) {
        const Attributes detail = json_members(event.detail);
        const auto side = [&](const char* name) -> std::string {
            const auto found = detail.find(name);
            if (found == detail.end() || found->second == "null") return "-";
            const Attributes members = json_members(found->second);
            const auto active = integer_of(members, "max_active");
            return active ? std::to_string(*active) : members.at("tenants");
        };
        texts.push_back(event.action == "configured"
                            ? event.action
                            : event.action + " " + side("before") + " " + side("after"));
    }
    return texts;
}

TEST_F(ConfigureLimits, EachRuleAndProfileThatItChangesIsAnEntryOfTheControlHistory) {
    configure(1, {limit("a", 1), limit("b", 2)}, {{"gold", {"acme"}}, {"tin", {"initech"}}});
    const std::size_t before = events().size();
    by_hand(quota("", "acme", 9));

    configure(20, {limit("a", 5), limit("b", 2), quota("mine", "acme", 3)}, {{"gold", {"globex"}}});

    std::vector<EntityEvent> all = events();
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before) + 1);  // by hand, too
    EXPECT_EQ(told(all), (Names{"rule_changed 1 5", "rule_lifted 9 -", "rule_added - 3",
                                R"(profile_changed ["acme"] ["globex"])",
                                R"(profile_changed ["initech"] -)", "configured"}))
        << "the rule that stays as it is has none";
    for (const EntityEvent& event : all) {
        EXPECT_EQ(event.actor, "configuration");
        if (event.action == "configured") continue;
        EXPECT_EQ(text_of(json_members(event.detail), "reason"),
                  "revision 20 of the configuration");
    }
}

TEST_F(ConfigureLimits, ARuleThatALaterRevisionEndsIsLiftedInTheControlHistory) {
    configure(1, {limit("a", 4)});
    const std::string id = rules()->all().front().id;

    configure(2, {});

    const auto all = events();
    EXPECT_EQ(told(all), (Names{"rule_added - 4", "configured", "rule_lifted 4 -", "configured"}));
    EXPECT_EQ(text_of(json_members(all[2].detail), "rule"), id);
    configure(3, {limit("a", 7)});
    EXPECT_EQ(told(events())[4], "rule_added - 7") << "there was none in force";
}

TEST_F(ConfigureLimits, AProfileThatARevisionRemovedWasNotThereBeforeItIsMadeAgain) {
    configure(1, {}, {{"gold", {"acme"}}});
    configure(2, {});
    engine.ask(ChangeLimits{.decide = [](EntityChanges& changes) {
        return put_profile(changes, "gold", {"globex"}, {.actor = "ops", .reason = "a test"});
    }});

    EXPECT_EQ(told(events()).back(), R"(profile_changed - ["globex"])");
}

TEST_F(ConfigureLimits, WarnsOfARuleOfItsNameThatWasMadeByHand) {
    by_hand(limit("smtp", 1));

    const auto answer = configure(1, {limit("smtp", 2)});

    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->warnings.size(), 1u);
    EXPECT_NE(answer->warnings.front().find("\"smtp\""), std::string::npos);
    EXPECT_EQ(rules()->all().size(), 2u);
}

}  // namespace configure_limits_test
}  // namespace sluice
