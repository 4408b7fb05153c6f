#include <gtest/gtest.h>

#include <fstream>

#include "config/config.hpp"
#include "config/show.hpp"

namespace sluice {
namespace config_jwt_test {

using namespace std::chrono_literals;

Result<Config> load(std::string_view toml) {
    return load_config(toml, "sluice.toml", [](const std::string&) { return std::nullopt; });
}

std::string problem(const std::string& toml) {
    const auto config = load(toml);
    return config ? "none" : config.error().message;
}

const std::string needed = R"(
[auth.jwt]
issuer = "https://issuer.example"
audience = "sluice"
jwks = "/etc/sluice/jwks.json"
)";

TEST(ConfigJwt, IsAbsentUnlessItIsConfigured) {
    EXPECT_EQ(load("")->jwt, std::nullopt);
}

TEST(ConfigJwt, ReadsEverySetting) {
    const auto jwt = load(needed + R"(
default_tenant = "everyone"
tenant_claim = "org"
scope_claim = "permissions"
kind_claim = "as"
types_claim = "types"
any_tenant_claim = "root"
default_scopes = ["orch:read", "orch:operate"]
skew = "5s"
max_lifetime = "1h"
)")
                         ->jwt;

    EXPECT_EQ(jwt, (JwtSettings{.issuer = "https://issuer.example",
                                .audience = "sluice",
                                .jwks = "/etc/sluice/jwks.json",
                                .default_tenant = "everyone",
                                .tenant_claim = "org",
                                .scope_claim = "permissions",
                                .kind_claim = "as",
                                .types_claim = "types",
                                .any_tenant_claim = "root",
                                .default_scopes = {"orch:read", "orch:operate"},
                                .skew = 5s,
                                .max_lifetime = 1h}));
}

// The example has it as a comment, since its files do not exist.
TEST(ConfigJwt, TheExampleShowsTheDefaults) {
    std::ifstream file(std::string(SLUICE_SOURCE_DIR) + "/docs/sluice.example.toml");
    std::string line, toml;
    while (std::getline(file, line) && line != "# [auth.jwt]") {
    }
    for (; line.starts_with("# "); std::getline(file, line)) toml += line.substr(2) + "\n";

    const Result<Config> example = load(toml);
    ASSERT_TRUE(example) << example.error().message;
    JwtSettings usual = *load(needed)->jwt;
    usual.default_tenant = "default";
    EXPECT_EQ(example->jwt, usual);
}

TEST(ConfigJwt, TellsWhatIsMissingAndWhereAMistakeIs) {
    EXPECT_EQ(problem("[auth.jwt]\n"),
              "sluice.toml:1: auth.jwt.issuer: is missing: the \"iss\" of the tokens to believe\n"
              "sluice.toml:1: auth.jwt.audience: is missing: the \"aud\" of the tokens that are "
              "meant for this engine\n"
              "sluice.toml:1: auth.jwt.jwks: is missing: a file or an https:// address with the "
              "issuer's public keys");
    EXPECT_EQ(problem(needed + "skew = \"61s\""),
              "sluice.toml:6: auth.jwt.skew: must be between 0s and 1m, not \"61s\"");
    EXPECT_EQ(problem(needed + "default_scopes = [\"orch:read\", \"admin\"]"),
              "sluice.toml:6: auth.jwt.default_scopes: \"admin\" is no scope; there are orch:read, "
              "orch:operate, orch:quota, orch:backfill and orch:admin");
    EXPECT_NE(problem(needed + "default_tenant = \"@engine\"").find("auth.jwt.default_tenant: "),
              std::string::npos);
    EXPECT_EQ(problem(needed + "isuer = \"x\""),
              "sluice.toml:6: unknown key \"auth.jwt.isuer\"; did you mean \"issuer\"?");
    const std::string open =
        problem("[auth.jwt]\nissuer = \"a\"\naudience = \"b\"\njwks = \"http://a.example/\"");
    EXPECT_TRUE(open.starts_with("sluice.toml:4: auth.jwt.jwks: must use https")) << open;
}

TEST(ConfigJwt, IsShown) {
    std::string shown;
    for (const Setting& setting : settings_of(*load(needed), false)) {
        if (setting.key.starts_with("auth.jwt.")) shown += setting.key + "=" + setting.value + "\n";
    }
    EXPECT_TRUE(shown.starts_with("auth.jwt.issuer=\"https://issuer.example\"\n")) << shown;
    EXPECT_NE(shown.find("auth.jwt.skew=\"30s\"\n"), std::string::npos) << shown;
    for (const Setting& setting : settings_of(Config{}, true)) {
        EXPECT_FALSE(setting.key.starts_with("auth.jwt.")) << setting.key;
    }
}

}  // namespace config_jwt_test
}  // namespace sluice
