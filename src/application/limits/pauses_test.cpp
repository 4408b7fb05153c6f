#include "application/limits/pauses.hpp"

#include <gtest/gtest.h>

#include "application/limits/stored_rules.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace pauses_test {

using namespace std::chrono_literals;
using Decide = std::function<Result<LimitAnswer>(EntityChanges&)>;

const ChangeReason why{.actor = "ops", .reason = "a test"};

LimitRule pause(LimitKind kind, LimitScope scope = {}) {
    LimitRule rule{.kind = kind};
    rule.scope = std::move(scope);
    return rule;
}

class Pauses : public testing::Test {
  protected:
    Told<LimitAnswer> decide(Decide decide) {
        return engine.ask(ChangeLimits{.decide = std::move(decide)});
    }
    std::shared_ptr<const LimitRules> rules() {
        return load_rules(engine.store().reader()->entities());
    }

    TestEngine engine;
};

TEST_F(Pauses, OfAPauseInForceStaysWhatIsNotNamed) {
    LimitRule maintenance{.kind = LimitKind::maintenance};
    maintenance.refuses_submits = true;
    maintenance.until = engine.now() + 1h;
    decide([&](EntityChanges& all) { return put_pause(all, maintenance, why); });
    LimitRule again{.kind = LimitKind::maintenance};
    const auto put_again = [&](NamedOfPause named, const char* reason) {
        const auto answer = decide([&](EntityChanges& all) {
            return put_pause(all, again, {.actor = "ops", .reason = reason}, named);
        });
        return answer->rules.front();
    };

    const LimitRule kept = put_again({.until = false, .submits = false}, "longer");
    EXPECT_TRUE(kept.refuses_submits);
    EXPECT_EQ(kept.until, maintenance.until);
    EXPECT_EQ(kept.reason, "longer");
    EXPECT_EQ(kept.revision, 2);
    EXPECT_EQ(put_again({.until = false, .submits = false}, "longer").revision, 2);
    const LimitRule open = put_again({.until = true, .submits = true}, "longer");
    EXPECT_FALSE(open.refuses_submits);
    EXPECT_EQ(open.until, std::nullopt);
}

TEST_F(Pauses, OfAPauseWhoseEndHasComeNothingStays) {
    LimitRule maintenance{.kind = LimitKind::maintenance};
    maintenance.refuses_submits = true;
    maintenance.until = engine.now() + 1s;
    decide([&](EntityChanges& all) { return put_pause(all, maintenance, why); });
    engine.advance(2s);

    const auto answer = decide([&](EntityChanges& all) {
        return put_pause(all, LimitRule{.kind = LimitKind::maintenance}, why,
                         {.until = false, .submits = false});
    });

    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->rules.front().refuses_submits);
    EXPECT_EQ(answer->rules.front().until, std::nullopt);
}

TEST_F(Pauses, AnEndOfAPauseIsForExactlyItsTenantsAndElseSaysWhatIsTheCase) {
    const auto paused = [&](LimitKind kind, LimitScope scope) {
        const LimitRule rule = pause(kind, std::move(scope));
        ASSERT_TRUE(decide([&](EntityChanges& all) { return put_pause(all, rule, why); }));
    };
    std::string seen_tenant;
    const auto end = [&](WhichPause which) -> std::string {
        const auto sees = [&](const std::string& tenant) {
            return seen_tenant.empty() || tenant == seen_tenant;
        };
        const auto answer =
            decide([&](EntityChanges& all) { return end_pauses(all, which, why, sees); });
        return answer ? "" : answer.error().message;
    };
    const LimitKind throttle = LimitKind::throttle;
    EXPECT_EQ(end({throttle, "glob", ""}), "source glob is not paused");
    EXPECT_EQ(end({throttle, "glob", "acme"}), "source glob is not paused for tenant acme");
    paused(throttle, {.tenant = "globex", .source = "glob"});
    EXPECT_EQ(end({throttle, "glob", ""}),
              "source glob is not paused for all tenants; it is paused for tenant globex");
    paused(throttle, {.tenant = "acme", .source = "glob"});
    EXPECT_EQ(end({throttle, "glob", ""}),
              "source glob is not paused for all tenants; it is paused for tenants acme, globex");
    EXPECT_EQ(end({throttle, "glob", "zeta"}),
              "source glob is not paused for tenant zeta; it is paused for tenants acme, globex");
    seen_tenant = "zeta";
    EXPECT_EQ(end({throttle, "glob", "zeta"}), "source glob is not paused for tenant zeta");
    seen_tenant.clear();
    EXPECT_EQ(end({throttle, "glob", "acme"}), "");
    paused(throttle, {.source = "glob"});
    EXPECT_EQ(end({throttle, "glob", "acme"}),
              "source glob is not paused for tenant acme; it is paused for all tenants");
    EXPECT_EQ(end({throttle, "glob", ""}), "");
    EXPECT_EQ(rules()->all().size(), 1u) << "the pause of globex stays";

    const LimitKind maintenance = LimitKind::maintenance;
    EXPECT_EQ(end({maintenance, "", ""}), "the engine is not in maintenance");
    EXPECT_EQ(end({maintenance, "", "acme"}), "tenant acme is not in maintenance");
    paused(maintenance, {.tenant = "acme"});
    EXPECT_EQ(end({maintenance, "", ""}), "the engine is not in maintenance; tenant acme is");
    paused(maintenance, {});
    EXPECT_EQ(end({maintenance, "", "globex"}),
              "tenant globex is not in maintenance; the whole engine is");
    EXPECT_EQ(end({maintenance, "", ""}), "");
    EXPECT_EQ(end({maintenance, "", "acme"}), "");
    paused(LimitKind::block, {.tenant = "mallory"});
    EXPECT_EQ(end({LimitKind::block, "", "acme"}), "tenant acme is not blocked; tenant mallory is");
}

}  // namespace pauses_test
}  // namespace sluice
