// The settings of the store that depend on each other, or that must not be shown as they are.
#include "config/store_url.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "config/config.hpp"
#include "config/show.hpp"

namespace sluice {
namespace config_store_test {

using namespace std::chrono_literals;
using Environment = std::map<std::string, std::string>;

Result<Config> load(std::string_view toml, const Environment& environment = {}) {
    return load_config(toml, "sluice.toml", [&](const std::string& name) {
        const auto found = environment.find(name);
        return found == environment.end() ? std::nullopt : std::optional(found->second);
    });
}

std::string problems(std::string_view toml, const Environment& environment = {}) {
    const Result<Config> config = load(toml, environment);
    return config ? "none" : config.error().message;
}

TEST(StoreSettings, AreJudgedFromTheEnvironmentAsFromTheFile) {
    EXPECT_EQ(problems("", {{"SLUICE_RETENTION", "1h"}}),
              "SLUICE_RETENTION: retention: 1h is shorter than idempotency_hours, which is 24");
    EXPECT_EQ(problems("", {{"SLUICE_RETENTION", "a week"}}),
              "SLUICE_RETENTION: must be a duration such as \"30d\", or \"0s\" to keep jobs for "
              "ever, not \"a week\"");
    EXPECT_EQ(problems("", {{"SLUICE_STORE_DIRECT", "ada:hush@host/d"}}),
              "SLUICE_STORE_DIRECT: must be an address such as \"postgres://HOST:5432/DATABASE\", "
              "not \"host/d\"");
}

TEST(StoreSettings, KeepAReserveOfAnySizeUpToAGigabyteOrNone) {
    EXPECT_EQ(load("store_reserve = 0")->store_reserve, 0);
    EXPECT_EQ(load("store_reserve = 1073741824")->store_reserve, 1 << 30);
    EXPECT_NE(problems("store_reserve = 1073741825"), "none");
    EXPECT_NE(problems("store_reserve = -1"), "none");
}

TEST(StoreSettings, NameTheSchemaInOneWayWhereverTheyStand) {
    EXPECT_EQ(load("")->store_schema.text(), "orchestrator");
    EXPECT_EQ(load("store_schema = \" Team_B \"")->store_schema.text(), "team_b");
    EXPECT_EQ(load("store_schema = \"a\"", {{"SLUICE_STORE_SCHEMA", "B"}})->store_schema.text(),
              "b");
    Config config = *load("store_schema = \"a\"");
    ASSERT_TRUE(set_option(config, "store_schema", " C", "--store-schema"));
    EXPECT_EQ(config.store_schema.text(), "c");
    EXPECT_EQ(config.origins.at("store_schema"), "--store-schema");

    const std::string allowed = std::string("must be ") + postgres::schema_name_form + ", not ";
    EXPECT_EQ(problems("store_schema = \"public\""),
              "sluice.toml:1: store_schema: " + allowed + "\"public\"");
    EXPECT_EQ(problems("", {{"SLUICE_STORE_SCHEMA", "a b"}}),
              "SLUICE_STORE_SCHEMA: " + allowed + "\"a b\"");
}

TEST(StoreSettings, KeepOutcomesForDifferentTimes) {
    const auto config =
        load("[retention_of]\nfailed = \"90d\"\ncanceled = \"0s\"", {{"SLUICE_RETENTION", "30d"}});

    ASSERT_TRUE(config);
    const Retention retention = retention_of(*config);
    EXPECT_EQ(retention.of(JobState::succeeded), 30 * 24h);
    EXPECT_EQ(retention.of(JobState::failed), 90 * 24h);
    EXPECT_EQ(retention.of(JobState::canceled), 0s) << "kept for ever";
    EXPECT_EQ(retention.of(JobState::timed_out), 30 * 24h);
}

TEST(StoreSettings, SayWhatIsWrongWithTheRetentionOfAnOutcome) {
    EXPECT_EQ(
        problems("[retention_of]\nfailed = \"1h\""),
        "sluice.toml:2: retention_of.failed: 1h is shorter than idempotency_hours, which is 24");
    EXPECT_EQ(problems("[retention_of]\nfailed = 7"),
              "sluice.toml:2: retention_of.failed: must be a duration such as \"30s\", \"5m\" or "
              "\"1h30m\", not 7");
    EXPECT_EQ(problems("[retention_of]\ndone = \"7d\""),
              "sluice.toml:2: unknown key \"retention_of.done\"; known here: succeeded, failed, "
              "canceled, timed_out");
}

TEST(StoreSettings, AreShownWithoutTheirSecrets) {
    for (const char* scheme : {"postgres://", "postgresql://"}) {
        const std::string start = scheme;
        for (const char* secret : {"ada:hush@host:5432/d", "ada:hush@host:5432/d?sslmode=require",
                                   "host:5432/d?user=ada&password=hush", "ada:h%40sh@host:5432/d",
                                   "ada:h@sh@host:5432/d"}) {
            EXPECT_EQ(shown_store(start + secret), start + "host:5432/d") << secret;
        }
        EXPECT_EQ(shown_store(start + "ada:hu/sh@host/d"), start + "(hidden)");
        EXPECT_EQ(shown_store(start + "ada:hu?sh@host/d"), start + "(hidden)");
        EXPECT_EQ(shown_store(start + "ada:hu#sh@host/d"), start + "(hidden)");
        EXPECT_EQ(shown_store(start + "a:1,b:2/d"), start + "a:1,b:2/d");
    }
    EXPECT_EQ(shown_store("memory:"), "memory:");
    EXPECT_EQ(shown_store("sqlite:/a@b/c?d.db"), "sqlite:/a@b/c?d.db");
    const Config config = *load(
        "store = \"postgres://ada:hush@h/d\"\n"
        "store_direct = \"postgres://ada:hush@i/d\"");
    for (const Setting& setting : settings_of(config, true)) {
        EXPECT_EQ(setting.value.find("hush"), std::string::npos) << setting.key;
    }
}

}  // namespace config_store_test
}  // namespace sluice
