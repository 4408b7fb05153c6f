// The settings of the HTTP server: TLS and limits.
#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/show.hpp"
#include "config/values.hpp"

namespace sluice {
namespace config_server_test {

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

std::string shown(const Config& config, std::string_view key) {
    for (const Setting& setting : settings_of(config, false)) {
        if (setting.key == key) return setting.value + " from " + setting.origin;
    }
    return "not shown";
}

TEST(ConfigTls, ComesFromTheFileOrTheEnvironment) {
    const std::string both = "[tls]\ncertificate = \"a.pem\"\nkey = \"a.key\"\n";
    const Config file = *load(both);
    EXPECT_EQ(file.server.tls.certificate, "a.pem");
    EXPECT_EQ(file.server.tls.key, "a.key");
    EXPECT_TRUE(file.server.tls.is_given());
    EXPECT_FALSE(load("")->server.tls.is_given());

    const Config mixed = *load(both, {{"SLUICE_TLS_KEY", "b.key"}});
    EXPECT_EQ(mixed.server.tls.certificate, "a.pem");
    EXPECT_EQ(mixed.server.tls.key, "b.key");
    EXPECT_EQ(shown(mixed, "tls.certificate"), "\"a.pem\" from sluice.toml:2");
    EXPECT_EQ(shown(mixed, "tls.key"), "\"b.key\" from SLUICE_TLS_KEY");
}

TEST(ConfigTls, IsACertificateAndAKeyTogether) {
    EXPECT_EQ(problems("[tls]\ncertificate = \"a.pem\"\n"),
              "sluice.toml:2: tls.certificate: needs tls.key, too");
    EXPECT_EQ(problems("", {{"SLUICE_TLS_KEY", "a.key"}}),
              "SLUICE_TLS_KEY: tls.key: needs tls.certificate, too");
    EXPECT_EQ(problems("[tls]\ncertificate = \"a.pem\"\n", {{"SLUICE_TLS_KEY", "a.key"}}), "none");
    EXPECT_EQ(problems("[tls]\nkey = 1\n"),
              "sluice.toml:2: tls.key: must be a text of 1 to 4096 bytes, not 1");
    EXPECT_EQ(problems("[tls]\ncertificates = \"a\"\n"),
              "sluice.toml:2: unknown key \"tls.certificates\"; did you mean \"certificate\"?");
}

TEST(ConfigTls, ShowsInTheAddress) {
    http::ServerOptions options;
    EXPECT_EQ(url_text(options, "127.0.0.1", 80), "http://127.0.0.1:80");
    options.tls = {.certificate = "a", .key = "b"};
    EXPECT_EQ(url_text(options, "::1", 443), "https://[::1]:443");
}

TEST(ConfigLimits, HaveBoundsThemselves) {
    for (const char* setting :
         {"header_time = \"100ms\"", "header_time = \"1h\"", "body_time = \"100ms\"",
          "idle_time = \"24h\"", "write_time = \"1h\"", "stream_life = \"7d\"",
          "header_bytes = 1024", "header_count = 8", "target_bytes = 256", "body_bytes = 1024",
          "body_memory = 16777216", "answer_memory = 16777216", "connections = 1",
          "connections_per_address = 1", "streams = 0"}) {
        EXPECT_EQ(problems(std::string("[limits]\n") + setting), "none") << setting;
    }
    for (const char* setting :
         {"header_time = \"99ms\"", "header_time = \"2h\"", "body_time = \"0s\"",
          "idle_time = \"25h\"", "write_time = \"61m\"", "stream_life = \"8d\"",
          "header_bytes = 1023", "header_count = 7", "target_bytes = 255", "body_bytes = 1023",
          "body_memory = 16777215", "answer_memory = 16777215", "connections = 0",
          "connections_per_address = 0", "streams = -1", "connections = 10000000"}) {
        EXPECT_NE(problems(std::string("[limits]\n") + setting), "none") << setting;
    }
    EXPECT_EQ(shown(*load("[limits]\nbody_memory = 16777216"), "limits.body_memory"),
              "16777216 from sluice.toml:2");
}

// Found by a fuzzer: the library that reads TOML aborted here.
TEST(ConfigText, WhatIsNoKeyIsRefusedByLine) {
    using namespace std::string_view_literals;
    for (const std::string_view header : {"[?x]"sv, "[\0\1b.a]"sv, "[=]"sv, "[a.?]"sv}) {
        const std::string text = "node = 3\n" + std::string(header) + "\nkind = \"x\"\n";
        EXPECT_TRUE(problems(text).starts_with("sluice.toml:2: ")) << problems(text);
    }
}

}  // namespace config_server_test
}  // namespace sluice
