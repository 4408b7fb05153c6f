#include "config/config.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "config/values.hpp"

namespace sluice {
namespace config_test {

using namespace std::chrono_literals;

using Environment = std::map<std::string, std::string>;

EnvLookup lookup_in(Environment environment) {
    return [environment = std::move(environment)](const std::string& name) {
        const auto found = environment.find(name);
        return found == environment.end() ? std::nullopt : std::optional(found->second);
    };
}

Result<Config> load(std::string_view toml, Environment environment = {}) {
    return load_config(toml, "sluice.toml", lookup_in(std::move(environment)));
}

std::string problems(std::string_view toml, Environment environment = {}) {
    const Result<Config> config = load(toml, std::move(environment));
    return config ? "none" : config.error().message;
}

const JobType& type_of(const Config& config, const std::string& name) {
    return config.job_types.all().at(name);
}

TEST(Config, HasDefaultsForEverythingButTheStore) {
    const Config config = *load("");

    EXPECT_EQ(config.server.host, "127.0.0.1");
    EXPECT_EQ(config.server.port, 7070);
    EXPECT_EQ(config.store, "");
    EXPECT_EQ(config.store_direct, "");
    EXPECT_EQ(config.committers, 2);
    EXPECT_EQ(config.retention, 0s) << "jobs are kept for ever";
    EXPECT_FALSE(config.no_auth);
    EXPECT_EQ(config.node, 0);
    EXPECT_EQ(config.log_level, log::Level::info);
    EXPECT_EQ(config.log_format, LogFormat::automatic);
    EXPECT_EQ(config.default_lease, 30s);
    EXPECT_EQ(config.max_lease, 1h);
    EXPECT_EQ(config.idempotency_memory, 24h);
    EXPECT_TRUE(config.server.allowed_hosts.empty());
    EXPECT_EQ(config.job_types.all(), Catalog::built_in().types.all());
}

TEST(Config, ReadsEverySetting) {
    const Config config = *load(R"(
        listen = "[::1]:80"
        store = "sqlite:/x/y.db"
        store_direct = "postgresql://h:5432/d"
        committers = 8
        retention = "30d"
        no_auth = true
        node = 1023
        allowed_hosts = ["a.example", "b.example"]
        idempotency_hours = 1
        strict_types = true
        log = {level = "warn", format = "json"}
        lease = {default = "1m", max = "2h"}
        [limits]
        header_time = "1s500ms"
        body_bytes = 2048
        connections = 7
    )");

    EXPECT_EQ(config.server.host, "::1");
    EXPECT_EQ(config.server.port, 80);
    EXPECT_EQ(config.store, "sqlite:/x/y.db");
    EXPECT_EQ(config.store_direct, "postgresql://h:5432/d");
    EXPECT_EQ(config.committers, 8);
    EXPECT_EQ(config.retention, 30 * 24h);
    EXPECT_TRUE(config.no_auth);
    EXPECT_EQ(config.node, 1023);
    EXPECT_EQ(config.server.allowed_hosts, (std::vector<std::string>{"a.example", "b.example"}));
    EXPECT_EQ(config.idempotency_memory, 1h);
    EXPECT_EQ(config.job_types.find("no such type"), nullptr);
    EXPECT_EQ(config.log_level, log::Level::warn);
    EXPECT_EQ(config.log_format, LogFormat::json);
    EXPECT_EQ(config.default_lease, 1min);
    EXPECT_EQ(config.max_lease, 2h);
    EXPECT_EQ(config.server.limits.header_time, 1500ms);
    EXPECT_EQ(config.server.limits.body_bytes, 2048u);
    EXPECT_EQ(config.server.limits.connections, 7u);
    EXPECT_EQ(config.server.limits.header_count, http::Limits{}.header_count);
}

TEST(Config, OverridesOnlyTheNamedFieldsOfAKnownType) {
    const Config config = *load(R"(
        [job_types.default]
        max_attempts = 9
        [job_types.cache_purge]
        priority = 5
    )");

    JobType expected = Catalog::built_in().types.all().at("cache_purge");
    expected.priority = 5;
    EXPECT_EQ(type_of(config, "cache_purge"), expected);
    EXPECT_EQ(type_of(config, "site_create"), Catalog::built_in().types.all().at("site_create"));
}

TEST(Config, SaysWhereJobsOfATypeBelongAndWhoCancelsThem) {
    const Config config = *load(R"(
        [job_types.index_site]
        needs_node = true
        needs_site = true
        admin_cancels = true
        needs_error = true
        [job_types.env_deploy]
        admin_cancels = false
        needs_error = false
    )");

    EXPECT_TRUE(type_of(config, "index_site").needs_node);
    EXPECT_TRUE(type_of(config, "index_site").needs_site);
    EXPECT_TRUE(type_of(config, "index_site").admin_cancels);
    EXPECT_TRUE(type_of(config, "index_site").needs_error);
    EXPECT_FALSE(type_of(config, "env_deploy").needs_error);
    EXPECT_FALSE(type_of(config, "env_deploy").admin_cancels);
    EXPECT_TRUE(type_of(config, "env_deploy").needs_node);
    EXPECT_EQ(problems("[job_types.node_provision]\nneeds_site = true"),
              "sluice.toml:2: job_types.node_provision.needs_site: a type cannot both need and "
              "refuse a site");
}

// The second name of the default is absent, and has no line to tell.
TEST(Config, RefusesADefaultTypeThatContradictsItself) {
    EXPECT_EQ(problems("[job_types.default]\nneeds_site = true\nrefuses_site = true"),
              "sluice.toml:3: job_types.default.refuses_site: a type cannot both need and refuse a "
              "site");
}

TEST(Config, StartsANewTypeFromTheDefaultWhereverThatStands) {
    const Config config = *load(R"(
        [job_types.send_mail]
        timeout = "0s"
        [default_job_type]
        queue = "slow"
        max_retries = 6
        retry_on_timeout = true
        timeout_ms = 1500
    )");

    const JobType& mail = type_of(config, "send_mail");
    EXPECT_EQ(mail.name, "send_mail");
    EXPECT_EQ(mail.queue, "slow");
    EXPECT_EQ(mail.max_attempts, 7);
    EXPECT_TRUE(mail.retry_on_timeout);
    EXPECT_EQ(mail.timeout, 0s);
    EXPECT_EQ(config.job_types.fallback().timeout, 1500ms);
    EXPECT_EQ(config.job_types.find("any")->queue, "slow");
}

TEST(Config, ReadsEachFormOfBackoff) {
    const Config config = *load(R"(
        job_types.a.backoff = "none"
        job_types.b.backoff = ["1s", "1h30m"]
        job_types.c.backoff = {kind = "exponential", base = "2s", cap = "1m"}
        job_types.d.queue = "q"
    )");

    EXPECT_EQ(type_of(config, "a").backoff, Backoff::none());
    EXPECT_EQ(type_of(config, "b").backoff, Backoff::list({1s, 90min}));
    EXPECT_EQ(type_of(config, "c").backoff, Backoff::exponential(2s, 1min));
    EXPECT_EQ(type_of(config, "d").backoff, JobType{}.backoff);
}

TEST(Config, TakesTheEnvironmentBeforeTheFileAndFlagsBeforeBoth) {
    Result<Config> config = load("listen = \"a:1\"\nnode = 1\nstore = \"file\"\n",
                                 {{"SLUICE_LISTEN", "b:2"},
                                  {"SLUICE_STORE", "env"},
                                  {"SLUICE_STORE_DIRECT", "postgres://direct/d"},
                                  {"SLUICE_RETENTION", "7d"},
                                  {"SLUICE_LOG_LEVEL", "debug"},
                                  {"SLUICE_LOG_FORMAT", "text"},
                                  {"SLUICE_NO_AUTH", "Yes"},
                                  {"SLUICE_NODE", ""}});
    ASSERT_TRUE(config);
    EXPECT_EQ(config->server.host, "b");
    EXPECT_EQ(config->server.port, 2);
    EXPECT_EQ(config->node, 1) << "an empty variable counts as not set";
    EXPECT_EQ(config->store, "env");
    EXPECT_EQ(config->store_direct, "postgres://direct/d");
    EXPECT_EQ(config->retention, 7 * 24h);
    EXPECT_EQ(config->log_level, log::Level::debug);
    EXPECT_EQ(config->log_format, LogFormat::text);
    EXPECT_TRUE(config->no_auth);

    ASSERT_TRUE(set_option(*config, "listen", "c:3", "--listen"));
    EXPECT_EQ(config->server.host, "c");
    const auto refused = set_option(*config, "node", "1024", "--node");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message,
              "--node: must be an integer between 0 and 1023, not \"1024\"");
    EXPECT_EQ(config->node, 1);
}

struct Mistake {
    const char* toml;
    const char* problem;
};

TEST(Config, TellsWhereAMistakeIsAndWhatIsAllowed) {
    for (
        const Mistake& mistake : std::vector<Mistake>{
            {"\nlisen = \"a:1\"", "sluice.toml:2: unknown key \"lisen\"; did you mean \"listen\"?"},
            {"[lease]\nmxa = \"1h\"",
             "sluice.toml:2: unknown key \"lease.mxa\"; did you mean \"max\"?"},
            {"[log]\nxyzzy = 1",
             "sluice.toml:2: unknown key \"log.xyzzy\"; known here: level, format"},
            {"[job_types.mail]\n\nprioritty = 1",
             "sluice.toml:3: unknown key \"job_types.mail.prioritty\"; did you mean \"priority\"?"},
            {"[limit]\nstreams = 1",
             "sluice.toml:1: unknown key \"limit\"; did you mean \"limits\"?"},
            {"node = 1024", "sluice.toml:1: node: must be an integer between 0 and 1023, not 1024"},
            {"node = \"1\"",
             "sluice.toml:1: node: must be an integer between 0 and 1023, not \"1\""},
            {"node = 1.0", "sluice.toml:1: node: must be an integer between 0 and 1023, not 1.0"},
            {"committers = 0",
             "sluice.toml:1: committers: must be an integer between 1 and 8, not 0"},
            {"committers = 9",
             "sluice.toml:1: committers: must be an integer between 1 and 8, not 9"},
            {"store_direct = \"ada:hush@host\"",
             "sluice.toml:1: store_direct: must be an address such as "
             "\"postgres://HOST:5432/DATABASE\""},
            {"retention = 30",
             "sluice.toml:1: retention: must be a duration such as \"30s\", \"5m\" or "
             "\"1h30m\", not 30"},
            {"\nretention = \"23h\"",
             "sluice.toml:2: retention: 23h is shorter than idempotency_hours, which is 24"},
            {"retention = \"2d\"\nidempotency_hours = 72",
             "sluice.toml:1: retention: 2d is shorter than idempotency_hours, which is 72"},
            {"no_auth = \"yes\"", "sluice.toml:1: no_auth: must be true or false, not \"yes\""},
            {"listen = \"7070\"",
             "sluice.toml:1: listen: must be an address such as \"127.0.0.1:7070\" "
             "or \"[::1]:7070\" (the port is missing), not \"7070\""},
            {"[auth]\nadmin_token = \"x\"",
             "sluice.toml:2: auth.admin_token: is not taken from files: use auth.admin_token_file "
             "or SLUICE_ADMIN_TOKEN"},
            {"[auth]\nadmin_token_file = \"/no/file\"",
             "sluice.toml:2: auth.admin_token_file: /no/file: No such file or directory"},
            {"log.level = \"loud\"",
             "sluice.toml:1: log.level: must be \"debug\", \"info\", \"warn\" "
             "or \"error\", not \"loud\""},
            {"log = 1", "sluice.toml:1: log: must be a table, not 1"},
            {"lease.default = 30",
             "sluice.toml:1: lease.default: must be a duration such as \"30s\", "
             "\"5m\" or \"1h30m\", not 30"},
            {"lease.max = \"25h\"",
             "sluice.toml:1: lease.max: must be between 1s and 1d, not \"25h\""},
            {"lease.max = \"5s\"",
             "sluice.toml:1: lease.default: 30s is longer than lease.max, which is 5s"},
            {"allowed_hosts = [\n\"a\",\n1]",
             "sluice.toml:3: allowed_hosts: must be an array of texts, not 1"},
            {"job_types.a.backoff = [\"1x\"]",
             "sluice.toml:1: job_types.a.backoff: must be a duration such as \"30s\", \"5m\" or "
             "\"1h30m\", not \"1x\""},
            {"job_types.a.backoff = 3",
             "sluice.toml:1: job_types.a.backoff: must be \"none\", an array "
             "of durations or {kind = \"exponential\", base, cap}, not 3"},
            {"job_types.a.backoff = {kind = \"linear\"}",
             "sluice.toml:1: job_types.a.backoff.kind: must be \"exponential\", not \"linear\""},
            {"job_types.a.backoff = {base = \"1s\"}",
             "sluice.toml:1: job_types.a.backoff: needs kind = \"exponential\""},
            {"job_types.a.backoff = []",
             "sluice.toml:1: job_types.a.backoff: must have 1 to 32 delays"},
            {"job_types.a.max_attempts = 0",
             "sluice.toml:1: job_types.a.max_attempts: must be an integer between 1 and 1000, not "
             "0"},
            {"[job_types.a]\nmax_retries = 1\nmax_attempts = 2",
             "sluice.toml:2: job_types.a.max_retries: cannot be given together with max_attempts"},
            {"[job_types.a]\ntimeout = \"1s\"\ntimeout_ms = 2",
             "sluice.toml:3: job_types.a.timeout_ms: cannot be given together with timeout"},
            {"job_types.a = 1", "sluice.toml:1: job_types.a: must be a table, not 1"},
            {"[job_types.default]\n[default_job_type]",
             "sluice.toml:2: default_job_type: cannot be given together with job_types.default"},
        }) {
        EXPECT_EQ(problems(mistake.toml), mistake.problem);
    }
}

TEST(Config, ReportsAllProblemsAtOnceInTheOrderOfTheFile) {
    EXPECT_EQ(
        problems("nodee = 1\nlisten = 1\n[log]\nlevel = 2\n", {{"SLUICE_NO_AUTH", "maybe"}}),
        "sluice.toml:1: unknown key \"nodee\"; did you mean \"node\"?\n"
        "sluice.toml:2: listen: must be an address such as \"127.0.0.1:7070\" or "
        "\"[::1]:7070\", not 1\n"
        "sluice.toml:4: log.level: must be \"debug\", \"info\", \"warn\" or \"error\", not 2\n"
        "SLUICE_NO_AUTH: must be true or false, not \"maybe\"");
}

TEST(Config, TellsTheLineOfASyntaxError) {
    const std::string problem = problems("node = 1\nlisten = \n");
    EXPECT_TRUE(problem.starts_with("sluice.toml:2: ")) << problem;
    EXPECT_EQ(problem.find('\n'), std::string::npos);
    EXPECT_TRUE(problems("node = 1\nnode = 2\n").starts_with("sluice.toml:2: "));
}

TEST(Config, ReadsTheFileThatTheFlagOrElseTheEnvironmentNames) {
    const std::string example = std::string(SLUICE_SOURCE_DIR) + "/docs/sluice.example.toml";
    const EnvLookup env = lookup_in({{"SLUICE_CONFIG", example}});

    EXPECT_TRUE(load_config_file(std::nullopt, env)->job_types.all().contains("send_mail"));
    EXPECT_TRUE(load_config_file(example, lookup_in({})));
    EXPECT_FALSE(
        load_config_file(std::nullopt, lookup_in({}))->job_types.all().contains("send_mail"));
    const auto missing = load_config_file("no/such/file.toml", env);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().message,
              "no/such/file.toml: the configuration file cannot be read: No such file or "
              "directory; check --config");
    EXPECT_EQ(load_config_file("/tmp", env).error().message,
              "/tmp: the configuration file cannot be read: Is a directory; check --config");
}

TEST(ConfigValues, ReadsDurations) {
    EXPECT_EQ(parse_duration("0s"), 0s);
    EXPECT_EQ(parse_duration("250ms"), 250ms);
    EXPECT_EQ(parse_duration("1h30m"), 90min);
    EXPECT_EQ(parse_duration("1d2h3m4s5ms"), 24h + 2h + 3min + 4s + 5ms);
    EXPECT_EQ(parse_duration("90m"), 90min);
    for (const char* text : {"", "5", "s", "5 s", "-5s", "+5s", "1.5h", "5x", "5S", "1m1h", "1s1s",
                             "1h 5m", "99999999999999999999s", "9999999999999h", "5s "}) {
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;
    }
    EXPECT_EQ(duration_text(90min), "1h30m");
    EXPECT_EQ(duration_text(0s), "0s");
    EXPECT_EQ(duration_text(1500ms), "1s500ms");
}

TEST(ConfigValues, ReadsAddresses) {
    EXPECT_EQ(parse_listen("localhost:0")->host, "localhost");
    EXPECT_EQ(parse_listen("[::1]:65535")->host, "::1");
    EXPECT_EQ(parse_listen("[::1]:65535")->port, 65535);
    for (const char* text :
         {"", "7070", ":7070", "a:", "a:b", "a:65536", "a:-1", "::1:80", "[]:80", "a:1 "}) {
        EXPECT_FALSE(parse_listen(text)) << text;
    }
    EXPECT_EQ(parse_listen("localhost").error().message, "the port is missing");
    EXPECT_EQ(parse_listen(":7401").error().message, "the host is missing");
    EXPECT_EQ(parse_listen("127.0.0.1:99999").error().message, "the port must be 0 to 65535");
}

TEST(ConfigValues, SuggestsTheNearestName) {
    const std::vector<std::string> known{"queue", "priority", "timeout"};
    EXPECT_EQ(suggestion("queeu", known), "did you mean \"queue\"?");
    EXPECT_EQ(suggestion("time_out", known), "did you mean \"timeout\"?");
    EXPECT_EQ(suggestion("colour", known), "known here: queue, priority, timeout");
    EXPECT_EQ(suggestion("foo", {"log"}), "known here: log");
}

}  // namespace config_test
}  // namespace sluice
