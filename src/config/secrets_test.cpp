// The settings about secrets: which names mark them in payloads, and which of its own values are
// secret.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "config/config.hpp"
#include "config/show.hpp"

namespace sluice {
namespace config_secrets_test {

Result<Config> try_load(std::string_view toml) {
    return load_config(toml, "sluice.toml", [](const std::string&) { return std::nullopt; });
}

Config load(std::string_view toml) {
    const auto config = try_load(toml);
    EXPECT_TRUE(config) << config.error().message;
    return config ? *config : Config{};
}

std::string problems(std::string_view toml) {
    const auto config = try_load(toml);
    return config ? "none" : config.error().message;
}

TEST(ConfigSecrets, SaysWhatIsSecretInPayloads) {
    EXPECT_EQ(load("").secret_names, SecretNames::usual_marks());
    const Config config = load(R"(
        secrets.redact = []
        [job_types.default]
        redact = ["pin"]
        [job_types.new]
        priority = 1
        [job_types.own]
        redact = ["db.url", "accounts.*.token"]
    )");
    EXPECT_TRUE(config.secret_names.empty());
    EXPECT_EQ(config.job_types.all().at("new").redact, (std::vector<std::string>{"pin"}));
    EXPECT_EQ(config.job_types.all().at("own").redact,
              (std::vector<std::string>{"db.url", "accounts.*.token"}));
    EXPECT_EQ(problems("[job_types.x]\nredact = [\"a..b\"]"),
              "sluice.toml:2: job_types.x.redact: \"a..b\" must be names of members with dots "
              "between them, and * for any member or element, like \"accounts.*.token\"");
    EXPECT_EQ(problems("[secrets]\nredact = [\"\"]"),
              "sluice.toml:2: secrets.redact: \"\" must be a member's name, of letters, digits and "
              "the like");
}

TEST(SecretsOfConfig, AreTheValuesThatNobodyMayTell) {
    ::setenv("SLUICE_TEST_API_KEY", "passed-key", 1);
    const Config config = load(R"(
        store = "postgres://me:p%40ssword@db/x?sslpassword=of-the-key&sslmode=require"
        store_direct = "postgres://db/x"
        [deploy]
        shared_secret = "of-deploys"
        runner_tokens = ["runner-1", "runner-2"]
        node_token = "of-nodes"
        admin_token = "of-admins"
        [job_types.a.executor]
        kind = "command"
        argv = ["a"]
        environment = {DB_PASSWORD = "of-the-database", MODE = "production"}
        pass_environment = ["SLUICE_TEST_API_KEY", "PATH"]
        [job_types.play.executor]
        kind = "ansible"
        playbook = "p"
        environment = {vaultPassword = "of-the-vault"}
        [job_types.b.executor]
        kind = "http"
        url = "https://me:of-the-url@host/a?token=of-the-query&page=nothing"
        headers = {Authorization = "Bearer of-the-header", Accept = "application/json"}
    )");
    ::setenv("PGPASSWORD", "of-the-library", 1);
    const auto secrets = secrets_of(config);
    ::unsetenv("PGPASSWORD");

    for (const char* secret :
         {"p@ssword", "of-the-key", "of-deploys", "runner-1", "runner-2", "of-nodes", "of-admins",
          "of-the-database", "passed-key", "of-the-vault", "of-the-url", "of-the-query",
          "of-the-header", "of-the-library"}) {
        EXPECT_NE(std::find(secrets.begin(), secrets.end(), secret), secrets.end()) << secret;
    }
    for (const std::string& secret : secrets) {
        for (const char* word : {"production", "application/json", "nothing", "require", "/bin"}) {
            EXPECT_EQ(secret.find(word), std::string::npos) << secret;
        }
    }
    for (const Setting& setting : settings_of(config, true)) {
        if (setting.key.find("pass_environment") != std::string::npos) continue;
        for (const std::string& secret : secrets) {
            if (secret.empty()) continue;
            EXPECT_EQ(setting.value.find(secret), std::string::npos) << setting.key;
        }
    }
}

}  // namespace config_secrets_test
}  // namespace sluice
