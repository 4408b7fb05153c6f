// The settings of the store that depend on each other, or that must not be shown as they are.
#include "main/config_store_url.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "main/config.hpp"
#include "main/config_show.hpp"

namespace sluice {
namespace {

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

TEST(StoreSettings, RefuseARetentionThatTheStoreCannotKeep) {
    Config config = *load("store = \"sqlite:x.db\"\nretention = \"30d\"");

    const auto refused = check_store_settings(config);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message,
              "sluice.toml:2: retention works on PostgreSQL stores only, and the store is "
              "sqlite:x.db");
    ASSERT_TRUE(set_option(config, "store", "postgres://h/d", "--store"));
    EXPECT_TRUE(check_store_settings(config));
    EXPECT_TRUE(check_store_settings(*load("retention = \"0s\"")));
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

}  // namespace
}  // namespace sluice
