#include <gtest/gtest.h>

#include <algorithm>

#include "config/config.hpp"
#include "config/show.hpp"

namespace sluice {
namespace config_entities_test {

Result<Config> load(std::string_view toml) {
    return load_config(toml, "sluice.toml", [](const std::string&) { return std::nullopt; });
}

std::string problems(std::string_view toml) {
    const Result<Config> config = load(toml);
    return config ? "none" : config.error().message;
}

constexpr const char* dataset = R"(
[entities.dataset]
initial = "raw"
implicit = true
transitions = [
  {action = "clean", from = ["raw", "clean"], to = "cleaning"},
  {action = "cleaned", from = ["cleaning"], to = "clean"},
  {action = "soiled", from = ["cleaning"], to = "raw"},
  {action = "publish", from = ["clean"], to = "public"},
]
gates = [{action = "publish", job_type = "audit", profiles = "temp"}]
orders = [{action = "publish", job_type = "announce", carries = ["title"]}]
[[entities.dataset.follows]]
job_type = "clean_up"
on_start = "clean"
on_success = "cleaned"
on_failure = "soiled"
on_outcome = {dirty = "soiled"}
)";

TEST(EntityConfig, DeclaresAKind) {
    const Config config = *load(dataset);

    const EntityKind* kind = config.entity_kinds.find("dataset");
    ASSERT_NE(kind, nullptr);
    EXPECT_EQ(kind->initial, "raw");
    EXPECT_TRUE(kind->is_implicit);
    EXPECT_EQ(kind->next_state("clean", "clean"), "cleaning");
    EXPECT_EQ(kind->next_state("raw", "publish"), std::nullopt);
    ASSERT_EQ(kind->gates.size(), 1u);
    EXPECT_EQ(kind->gates[0].profiles, ProfileChoice::temp);
    ASSERT_EQ(kind->orders.size(), 1u);
    EXPECT_EQ(kind->orders[0].carries, std::vector<std::string>{"title"});
    ASSERT_NE(kind->follow("clean_up"), nullptr);
    EXPECT_EQ(kind->follow("clean_up")->on_outcome.at("dirty"), "soiled");
}

TEST(EntityConfig, AddsToAKindThatIsBuiltIn) {
    const Config config = *load(R"(
        [[entities.site.follows]]
        job_type = "reindex"
        on_start = "deploy"
        on_success = "done"
        on_failure = "fail"
    )");

    const EntityKind* site = config.entity_kinds.find("site");
    EXPECT_EQ(site->follow("reindex")->on_start, "deploy");
    EXPECT_NE(site->follow("env_deploy"), nullptr);
    JobSpec reindex;
    reindex.type = "reindex";
    reindex.site_id = "s";
    EXPECT_FALSE(config.entity_kinds.followed_by(reindex).empty());
}

TEST(EntityConfig, NamesEveryProblemWithItsPlace) {
    EXPECT_EQ(problems("[entities.site]\ninitial = \"new\""),
              "sluice.toml:2: entities.site.initial: \"site\" is a built-in kind, whose states are "
              "fixed; leave \"initial\" out, or choose another name");
    EXPECT_EQ(problems("[entities.x]\nimplicit = false"),
              "sluice.toml:1: entities.x.initial: is missing: the state of a new one");
    EXPECT_EQ(problems("[entities.x]\ninitial = \"a\"\n"
                       "transitions = [{action = \"go\", from = [\"aa\"], to = \"b\"}]"),
              "sluice.toml:3: entities.x.transitions[0].from: \"aa\" is a state that nothing leads "
              "to; did you mean \"a\"?");
    EXPECT_EQ(
        problems("[entities.x]\ninitial = \"a\"\n"
                 "transitions = [{action = \"start\", from = [\"a\"], to = \"b\"}]\n"
                 "gates = [{action = \"stort\", job_type = \"t\"}]\n"
                 "orders = [{action = \"start\"}]\n"
                 "follows = [{job_type = \"t\", on_begin = \"start\"}]"),
        "sluice.toml:4: entities.x.gates[0].action: no transition has the action \"stort\"; "
        "did you mean \"start\"?\n"
        "sluice.toml:5: entities.x.orders[0].job_type: is missing: the type of the job\n"
        "sluice.toml:6: unknown key \"entities.x.follows[0].on_begin\"; known here: job_type, "
        "on_start, on_success, on_failure, on_outcome");
    EXPECT_EQ(problems("[entities.site]\nfollows = [{job_type = \"env_deploy\"}]"),
              "sluice.toml:2: entities.site.follows[0].job_type: a site follows jobs of type "
              "\"env_deploy\" already");
    EXPECT_EQ(problems("[entities.x]\ninitial = \"a\"\n"
                       "transitions = [{action = \"start\", from = [\"a\"], to = \"b\"}]\n"
                       "orders = [{action = \"start\", job_type = \"t\"}]\n"
                       "follows = [{job_type = \"u\", on_start = \"start\"}]"),
              "sluice.toml:5: entities.x.follows[0].on_start: this action enqueues jobs (orders), "
              "which the start of a job does not do");
    EXPECT_EQ(problems("[entities.x]\ninitial = \"a\"\ngates = [1]"),
              "sluice.toml:3: entities.x.gates: must be an array of tables, not 1");
}

TEST(EntityConfig, IsShownAsItCouldBeWritten) {
    const Config config = *load(dataset);

    std::string shown = "[entities.dataset]\n";
    const std::string path = "entities.dataset.";
    for (const Setting& setting : settings_of(config, false)) {
        if (!setting.key.starts_with(path)) continue;
        shown += setting.key.substr(path.size()) + " = " + setting.value + "\n";
    }

    const Config again = *load(shown);
    const EntityKind& kind = *again.entity_kinds.find("dataset");
    EXPECT_EQ(kind.transitions.size(), 4u);
    EXPECT_EQ(kind.gates[0].profiles, ProfileChoice::temp);
    EXPECT_EQ(kind.follow("clean_up")->on_outcome.at("dirty"), "soiled");
}

TEST(EntityConfig, ShowsBuiltInKindsOnlyWhenAllIsAskedFor) {
    const auto has_sites = [](const std::vector<Setting>& settings) {
        return std::any_of(settings.begin(), settings.end(), [](const Setting& setting) {
            return setting.key == "entities.site.initial";
        });
    };
    const Config config = *load("");

    EXPECT_FALSE(has_sites(settings_of(config, false)));
    EXPECT_TRUE(has_sites(settings_of(config, true)));
}

TEST(EntityConfig, NamesTheAdmins) {
    EXPECT_EQ(load("admins = [\"ada\", \"grace\"]")->admins,
              (std::vector<std::string>{"ada", "grace"}));
    EXPECT_EQ(load("")->admins, std::vector<std::string>{"admin"});
}

}  // namespace config_entities_test
}  // namespace sluice
