#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/show.hpp"

namespace sluice {
namespace config_governance_test {

using namespace std::chrono_literals;

Result<Config> load(std::string_view toml) {
    return load_config(toml, "sluice.toml", [](const std::string&) { return std::nullopt; });
}

std::string problems(std::string_view toml) {
    const Result<Config> config = load(toml);
    return config ? "none" : config.error().message;
}

// Of one rule in a section that is sound otherwise.
std::string problems_of(std::string_view rule) {
    return problems("[governance]\nrevision = 1\n" + std::string(rule));
}

constexpr const char* everything = R"(
[governance]
revision = 4
[[governance.quota]]
name = "acme scans"
tenant = "acme"
type = "scan"
max_active = 8
max_per_hour = 5000
burst = 100
reason = "as agreed"
[[governance.quota]]
name = "gold"
profile = "gold"
max_active = 50
[[governance.limit]]
name = "smtp"
type = "mail.*"
per = ["tenant"]
rate = {count = 100, period_ms = 60000}
[[governance.limit]]
name = "no backups"
queue = "backup"
source = "nightly"
paused = true
[[governance.profile]]
name = "gold"
tenants = ["globex", "acme"]
[governance.maintenance]
reason = "a new database"
submits = "refuse"
)";

TEST(GovernanceConfig, DeclaresEveryKindOfRule) {
    const ConfiguredLimits governance = load(everything)->governance;

    EXPECT_EQ(governance.revision, 4);
    ASSERT_EQ(governance.rules.size(), 5u);
    const LimitRule& quota = governance.rules[0];
    EXPECT_EQ(quota.kind, LimitKind::quota);
    EXPECT_EQ(quota.scope, (LimitScope{.tenant = "acme", .type = "scan"}));
    EXPECT_EQ(quota.max_active, 8);
    EXPECT_EQ(quota.rate,
              (LimitRate{.count = 5000, .period = 1h, .burst = 100, .whole_hour = true}));
    EXPECT_EQ(governance.rules[1].profile, "gold");
    const LimitRule& limit = governance.rules[2];
    EXPECT_EQ(limit.kind, LimitKind::limit);
    EXPECT_EQ(limit.scope.type, "mail.*");
    EXPECT_EQ(limit.per, CountedBy{Dimension::tenant});
    EXPECT_EQ(limit.rate, (LimitRate{.count = 100, .period = 1min, .burst = 1}));
    EXPECT_TRUE(governance.rules[3].paused);
    const LimitRule& maintenance = governance.rules[4];
    EXPECT_EQ(maintenance.kind, LimitKind::maintenance);
    EXPECT_TRUE(maintenance.paused);
    EXPECT_TRUE(maintenance.refuses_submits);
    EXPECT_EQ(governance.profiles.at("gold"), (std::vector<std::string>{"acme", "globex"}));
}

TEST(GovernanceConfig, SaysNothingWithoutTheSection) {
    EXPECT_EQ(load("")->governance.revision, 0);
    EXPECT_TRUE(load("[governance]\nrevision = 7")->governance.rules.empty());
}

TEST(GovernanceConfig, NamesEveryProblemWithItsPlace) {
    EXPECT_EQ(problems("[governance]"),
              "sluice.toml:1: governance.revision: is missing: raise it with each change of the "
              "rules");
    EXPECT_EQ(problems_of("[[governance.quota]]\nmax_active = 1"),
              "sluice.toml:3: governance.quota[0].name: is missing: by which later revisions know "
              "the rule");
    EXPECT_EQ(problems_of("[[governance.quota]]\nname = \"a\"\nmax_active = 0"),
              "sluice.toml:5: governance.quota[0].max_active: must be at least 1; to let nothing "
              "start, pause instead: \"paused\": true");
    EXPECT_EQ(problems_of("[[governance.limit]]\nname = \"a\"\nrate = {count = 0}"),
              "sluice.toml:5: governance.limit[0].rate: count must be at least 1; to stop all "
              "starts, pause instead");
    EXPECT_EQ(problems_of("[[governance.limit]]\nname = \"a\""),
              "sluice.toml:4: governance.limit[0].name: the rule bounds nothing: give max_active, "
              "rate, or paused");
    EXPECT_EQ(
        problems_of("[[governance.limit]]\nname = \"a\"\nmax_active = 1\nper = [\"tenants\"]"),
        "sluice.toml:6: governance.limit[0].per: \"tenants\" is nothing that rules count by; "
        "did you mean \"tenant\"?");
    EXPECT_EQ(problems_of("[[governance.limit]]\nname = \"a\"\nmax_active = 1\nsource = \"a*b\""),
              "sluice.toml:6: governance.limit[0].source: may have a * at its end only, for all "
              "names that begin so");
    EXPECT_EQ(problems_of("[[governance.quota]]\nname = \"a\"\nmax_active = 1\ntenant = \"t\"\n"
                          "profile = \"p\""),
              "sluice.toml:7: governance.quota[0].profile: and tenant cannot both be given: a "
              "profile has its own tenants");
    EXPECT_EQ(problems_of("[[governance.quota]]\nname = \"a\"\nmax_activ = 1\npaused = true"),
              "sluice.toml:5: unknown key \"governance.quota[0].max_activ\"; did you mean "
              "\"max_active\"?");
    EXPECT_EQ(problems_of("[governance.maintenance]\nsubmits = \"drop\""),
              "sluice.toml:3: governance.maintenance.reason: is missing: say why, for those who "
              "wonder why nothing runs\n"
              "sluice.toml:4: governance.maintenance.submits: must be \"take\" or \"refuse\", not "
              "\"drop\"");
}

TEST(GovernanceConfig, AProfileHasNamesOfTenants) {
    const std::string profile = "[[governance.profile]]\nname = \"p\"\ntenants = ";
    EXPECT_EQ(problems_of(profile + "[\"acme\", \"glob*\"]"),
              "sluice.toml:5: governance.profile[0].tenants: 1 must not end with *: rules take "
              "that for the beginning of names");
    EXPECT_EQ(problems_of(profile + "[\"@sluice\"]"),
              "sluice.toml:5: governance.profile[0].tenants: 0 must not begin with @: such names "
              "are the engine's own");
}

TEST(GovernanceConfig, RefusesTwoOfTheSame) {
    const std::string quota = "[[governance.quota]]\nmax_active = 1\n";
    EXPECT_EQ(problems_of(quota + "name = \"a\"\n" + quota + "tenant = \"t\"\nname = \"a\""),
              "sluice.toml:9: governance.quota[1].name: another rule is \"a\" already");
    EXPECT_EQ(problems_of(quota + "name = \"a\"\n" + quota + "name = \"b\""),
              "sluice.toml:8: governance.quota[1].name: \"a\" is a quota for the same jobs: give "
              "one for each tenant or profile, and type");
    EXPECT_EQ(problems_of(quota + "name = \"maintenance\""),
              "sluice.toml:5: governance.quota[0].name: is the one of [governance.maintenance]: "
              "choose another");
    EXPECT_EQ(problems_of("[[governance.profile]]\nname = \"p\"\ntenants = []\n"
                          "[[governance.profile]]\nname = \"p\"\ntenants = []"),
              "sluice.toml:7: governance.profile[1].name: another profile is \"p\" already");
}

TEST(GovernanceConfig, IsShownAsItCouldBeWritten) {
    const Config config = *load(everything);

    std::string shown = "[governance]\n";
    const std::string path = "governance.";
    for (const Setting& setting : settings_of(config, false)) {
        if (!setting.key.starts_with(path)) continue;
        shown += setting.key.substr(path.size()) + " = " + setting.value + "\n";
    }

    const Result<Config> again = load(shown);
    ASSERT_TRUE(again) << again.error().message << "\n" << shown;
    EXPECT_EQ(again->governance.rules, config.governance.rules);
    EXPECT_EQ(again->governance.profiles, config.governance.profiles);
    EXPECT_EQ(again->governance.digest(), config.governance.digest());
}

}  // namespace config_governance_test
}  // namespace sluice
