#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/show.hpp"

namespace sluice {
namespace config_deploy_test {

using namespace std::chrono_literals;

Result<Config> load(std::string_view toml) {
    return load_config(toml, "sluice.toml", [](const std::string&) { return std::nullopt; });
}

std::string problem(std::string_view toml) {
    const auto config = load(toml);
    return config ? "none" : config.error().message;
}

constexpr const char* everything = R"(
    [deploy]
    shared_secret = "hush"
    open_runners = true
    runner_tokens = ["one", "two"]
    node_token = "rt"
    admin_token = "root"
    agent_token = "agent"
    requeue_lost = false
    max_running = "2h"
    node_health = "90s"
    runner_health = "5s"
    placement = "disk-aware"
)";

TEST(ConfigDeploy, ReadsEverySetting) {
    const http::deploy::Settings deploy = load(everything)->deploy;

    EXPECT_EQ(deploy.shared_secret, "hush");
    EXPECT_TRUE(deploy.open_runners);
    EXPECT_EQ(deploy.runner_tokens, (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(deploy.node_token, "rt");
    EXPECT_EQ(deploy.admin_token, "root");
    EXPECT_EQ(deploy.agent_token, "agent");
    EXPECT_EQ(deploy.placement, sluice::deploy::PlacementStrategy::disk_aware);
    EXPECT_FALSE(deploy.requeue_lost);
    EXPECT_EQ(deploy.max_running, 2h);
    EXPECT_EQ(deploy.node_health, 90s);
    EXPECT_EQ(deploy.runner_health, 5s);
}

TEST(ConfigDeploy, TellsWhereAMistakeIsAndNeverRepeatsWhatWasMeantAsASecret) {
    EXPECT_EQ(problem("[deploy]\nshared_secret = 12345"),
              "sluice.toml:2: deploy.shared_secret: must be a text of 1 to 1000 bytes");
    EXPECT_EQ(problem("[deploy]\nadmin_token = \"\""),
              "sluice.toml:2: deploy.admin_token: must be a text of 1 to 1000 bytes");
    EXPECT_EQ(problem("[deploy]\nrunner_tokens = [\"hush\", 5]"),
              "sluice.toml:2: deploy.runner_tokens: must be an array of up to 1000 texts of 1 to "
              "1000 bytes");
    EXPECT_EQ(problem("[deploy]\nmax_running = 30"),
              "sluice.toml:2: deploy.max_running: must be a duration such as \"30s\", \"5m\" or "
              "\"1h30m\", not 30");
    EXPECT_EQ(problem("[deploy]\nrequeue_lots = true"),
              "sluice.toml:2: unknown key \"deploy.requeue_lots\"; did you mean \"requeue_lost\"?");
}

TEST(ConfigDeploy, IsShownWithoutItsSecrets) {
    std::string shown;
    for (const Setting& setting : settings_of(*load(everything), false)) {
        if (setting.key.starts_with("deploy.")) shown += setting.key + "=" + setting.value + "\n";
    }

    EXPECT_EQ(shown,
              "deploy.shared_secret=(hidden)\n"
              "deploy.open_runners=true\n"
              "deploy.runner_tokens=(hidden)\n"
              "deploy.node_token=(hidden)\n"
              "deploy.admin_token=(hidden)\n"
              "deploy.agent_token=(hidden)\n"
              "deploy.requeue_lost=false\n"
              "deploy.max_running=\"2h\"\n"
              "deploy.node_health=\"1m30s\"\n"
              "deploy.runner_health=\"5s\"\n"
              "deploy.placement=\"disk-aware\"\n");
}

TEST(ConfigDeploy, TakesTheNamesOfTheControlPlanesOwnConfiguration) {
    const auto config = load(R"(
        [deploy.proxy-auth]
        enabled = true
        shared-secret = "hush"
        [deploy.runtime-agent]
        token = "agent"
        [deploy.job]
        max-running-seconds = 7200
    )");

    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->deploy.shared_secret, "hush");
    EXPECT_EQ(config->deploy.agent_token, "agent");
    EXPECT_EQ(config->deploy.max_running, 2h);
    for (const Setting& setting : settings_of(*config, false)) {
        if (setting.key != "deploy.shared_secret") continue;
        EXPECT_EQ(setting.value, "(hidden)");
        EXPECT_EQ(setting.origin, "sluice.toml:4");
    }
    EXPECT_EQ(load("deploy.proxy-auth.shared-secret = \"hush\"")->deploy.shared_secret, "hush");
    EXPECT_EQ(load("[deploy.proxy-auth]\nenabled = false\nshared-secret = \"hush\"")
                  ->deploy.shared_secret,
              "");
}

TEST(ConfigDeploy, RefusesTwoNamesForOneSettingAndASwitchWithoutASecret) {
    EXPECT_EQ(problem("[deploy]\nshared_secret = \"a\"\nproxy-auth.shared-secret = \"b\""),
              "sluice.toml:3: deploy.proxy-auth.shared-secret: is another name of "
              "deploy.shared_secret, which is given, too");
    EXPECT_EQ(problem("[deploy]\nproxy-auth.enabled = true"),
              "sluice.toml:2: deploy.proxy-auth.enabled: needs a shared-secret");
    EXPECT_EQ(problem("[deploy]\nproxy-auth.shared-secret = 5"),
              "sluice.toml:2: deploy.proxy-auth.shared-secret: must be a text of 1 to 1000 bytes");
}

}  // namespace config_deploy_test
}  // namespace sluice
