#include <gtest/gtest.h>

#include <cstdlib>

#include "config/config.hpp"
#include "config/show.hpp"

namespace sluice {
namespace config_executors_test {

using namespace std::chrono_literals;
using namespace worker;

EnvLookup without_environment() {
    return [](const std::string&) { return std::nullopt; };
}

Config load(std::string_view toml) {
    const auto config = load_config(toml, "sluice.toml", without_environment());
    EXPECT_TRUE(config) << config.error().message;
    return config ? *config : Config{};
}

std::string problems(std::string_view toml) {
    const auto config = load_config(toml, "sluice.toml", without_environment());
    return config ? "none" : config.error().message;
}

template <class Kind>
const Kind& executor_of(const Config& config, const std::string& type) {
    return std::get<Kind>(config.executors.at(type));
}

TEST(ConfigExecutors, ReadsACommand) {
    ::setenv("SLUICE_TEST_PASSED", "on", 1);
    const Config config = load(R"(
        [job_types.mail.executor]
        kind = "command"
        argv = ["/bin/mail", "-q"]
        directory = "/srv"
        environment = {A = "b"}
        pass_environment = ["SLUICE_TEST_PASSED", "SLUICE_NOT_SET"]
        stop_grace = "2s"
    )");

    const auto& command = executor_of<CommandExecutor>(config, "mail");
    EXPECT_EQ(command.argv, (std::vector<std::string>{"/bin/mail", "-q"}));
    EXPECT_EQ(command.directory, "/srv");
    EXPECT_EQ(command.environment.all(), (Variables{{"SLUICE_TEST_PASSED", "on"}, {"A", "b"}}));
    EXPECT_EQ(command.stop_grace, 2s);
    EXPECT_TRUE(config.job_types.all().contains("mail"));
}

TEST(ConfigExecutors, ReadsAnHttpCall) {
    ::setenv("SLUICE_TEST_SECRET", "Bearer x", 1);
    const Config config = load(R"(
        [job_types.hook.executor]
        kind = "http"
        url = "https://example.com/a"
        method = "PUT"
        headers = {Accept = "text/plain"}
        headers_from_env = {Authorization = "SLUICE_TEST_SECRET"}
        timeout = "3s"
        allow_private_addresses = true
        redirects = 1
    )");

    const auto& http = executor_of<HttpExecutor>(config, "hook");
    EXPECT_EQ(http.url, "https://example.com/a");
    EXPECT_EQ(http.method, "PUT");
    EXPECT_EQ(http.headers.size(), 2u);
    EXPECT_EQ(http.headers.at(1).second, "Bearer x");
    EXPECT_EQ(http.timeout, 3s);
    EXPECT_TRUE(http.allow_private_addresses);
    EXPECT_EQ(http.redirects_max, 1);
    for (const Setting& setting : settings_of(config, true)) {
        EXPECT_EQ(setting.value.find("Bearer"), std::string::npos) << setting.key;
    }
}

TEST(ConfigExecutors, ReadsAPlaybookAndItsNodes) {
    const Config config = load(R"(
        [job_types.env_deploy.executor]
        kind = "ansible"
        playbook = "/p.yml"
        timeout = "10m"
        [nodes.n-1]
        hostname = "h"
        port = 2222
        user = "u"
        key_file = "/k"
    )");

    const auto& ansible = executor_of<AnsibleExecutor>(config, "env_deploy");
    EXPECT_EQ(ansible.playbook, "/p.yml");
    EXPECT_EQ(ansible.timeout, 10min);
    EXPECT_EQ(ansible.nodes.at("n-1").hostname, "h");
    EXPECT_EQ(ansible.nodes.at("n-1").port, 2222);
    EXPECT_EQ(config.job_types.all().at("env_deploy").max_attempts, 3)
        << "the built-in policy stays";
}

TEST(ConfigExecutors, ReadsAChecksThreeForms) {
    const Config config = load(R"(
        [job_types.msuite_submit.executor]
        kind = "msuite"
        simulate = {pass = false, delay = "1s", test_count = 4, failures = ["a"]}
        [job_types.msuite_merge.executor]
        kind = "msuite"
        command = ["/bin/check"]
        [job_types.msuite_deploy.executor]
        kind = "msuite"
        url = "https://example.com/"
    )");

    const auto& simulated =
        std::get<SimulatedCheck>(executor_of<MsuiteExecutor>(config, "msuite_submit").by);
    EXPECT_FALSE(simulated.pass);
    EXPECT_EQ(simulated.delay, 1s);
    EXPECT_EQ(simulated.test_count, 4);
    EXPECT_EQ(simulated.failures, std::vector<std::string>{"a"});
    EXPECT_EQ(std::get<CommandExecutor>(executor_of<MsuiteExecutor>(config, "msuite_merge").by)
                  .argv.front(),
              "/bin/check");
    EXPECT_EQ(std::get<HttpExecutor>(executor_of<MsuiteExecutor>(config, "msuite_deploy").by).url,
              "https://example.com/");
}

TEST(ConfigExecutors, ReadsTheStepsOfApps) {
    const Config config = load(R"(
        [job_types.revalidate_queued_changeset.executor]
        kind = "app"
        simulate = {pass = false, delay = "1s", outcome = "conflicted"}
        [job_types.release_assemble.executor]
        kind = "app"
        command = ["/bin/assemble"]
        [job_types.deploy_release.executor]
        kind = "app"
        url = "https://example.com/"
        [job_types.temp_env_expire.executor]
        kind = "app"
    )");

    const auto& simulated =
        std::get<SimulatedStep>(executor_of<AppExecutor>(config, "revalidate_queued_changeset").by);
    EXPECT_FALSE(simulated.pass);
    EXPECT_EQ(simulated.delay, 1s);
    EXPECT_EQ(simulated.outcome, "conflicted");
    EXPECT_EQ(std::get<CommandExecutor>(executor_of<AppExecutor>(config, "release_assemble").by)
                  .argv.front(),
              "/bin/assemble");
    EXPECT_EQ(std::get<HttpExecutor>(executor_of<AppExecutor>(config, "deploy_release").by).url,
              "https://example.com/");
    EXPECT_TRUE(
        std::get<SimulatedStep>(executor_of<AppExecutor>(config, "temp_env_expire").by).pass);
}

TEST(ConfigExecutors, ReadsTheRunner) {
    const RunnerConfig runner = load(R"(
        [runner]
        name = "r"
        concurrency = 3
        queues = ["a"]
        types = ["b"]
        labels = ["c"]
        lease = "10s"
        shutdown_grace = "0s"
    )")
                                    .runner;

    EXPECT_EQ(runner.name, "r");
    EXPECT_EQ(runner.concurrency, 3);
    EXPECT_EQ(runner.queues, std::vector<std::string>{"a"});
    EXPECT_EQ(runner.types, std::vector<std::string>{"b"});
    EXPECT_EQ(runner.labels, std::vector<std::string>{"c"});
    EXPECT_EQ(runner.lease, 10s);
    EXPECT_EQ(runner.shutdown_grace, 0s);
}

TEST(ConfigExecutors, SaysWhatIsWrongAndWhere) {
    const std::pair<const char*, const char*> mistakes[] = {
        {"[job_types.a.executor]\nargv = [\"x\"]\n",
         "sluice.toml:1: job_types.a.executor.kind: is missing"},
        {"[job_types.a.executor]\nkind = \"comand\"\n",
         "sluice.toml:2: job_types.a.executor.kind: must be \"command\""},
        {"[job_types.a.executor]\nkind = \"command\"\n", "executor.argv: is missing"},
        {"[job_types.a.executor]\nkind = \"command\"\nargv = []\n", "must name a program"},
        {"[job_types.a.executor]\nkind = \"command\"\nargv = \"ls\"\n",
         "must be an array of texts"},
        {"[job_types.a.executor]\nkind = \"command\"\nargv = [\"x\"]\nshell = true\n",
         "unknown key \"job_types.a.executor.shell\""},
        {"[job_types.a.executor]\nkind = \"http\"\n", "executor.url: is missing"},
        {"[job_types.a.executor]\nkind = \"http\"\nurl = \"ftp://x\"\n", "http:// or https://"},
        {"[job_types.a.executor]\nkind = \"http\"\nurl = \"http://x\"\nheaders = {A = \"b\\nc\"}\n",
         "line breaks"},
        {"[job_types.a.executor]\nkind = \"http\"\nurl = \"http://x\"\nheaders_from_env = {A = "
         "\"SLUICE_NOT_SET\"}\n",
         "SLUICE_NOT_SET is not set"},
        {"[job_types.a.executor]\nkind = \"ansible\"\n", "executor.playbook: is missing"},
        {"[job_types.a.executor]\nkind = \"msuite\"\n",
         "serves only msuite_submit, msuite_merge, msuite_deploy"},
        {"[job_types.a.executor]\nkind = \"app\"\n", "serves only release_assemble"},
        {"[job_types.deploy_release.executor]\nkind = \"app\"\nsimulate = {outcome = \"clean\"}\n",
         "unknown key \"job_types.deploy_release.executor.simulate.outcome\""},
        {"[job_types.revalidate_queued_changeset.executor]\nkind = \"app\"\n"
         "simulate = {outcome = \"dirty\"}\n",
         "must be \"clean\""},
        {"[job_types.a.executor]\nkind = \"demo\"\n", "serves only demo.hello"},
        {"[job_types.msuite_submit.executor]\nkind = \"msuite\"\ncommand = [\"x\"]\nurl = "
         "\"http://x\"\n",
         "together"},
        {"[job_types.a]\nexecutor = \"command\"\n", "must be a table"},
        {"[runner]\nconcurrency = 0\n",
         "sluice.toml:2: runner.concurrency: must be an integer between 1 and 1000"},
        {"[runner]\nworkers = 1\n", "unknown key \"runner.workers\""},
        {"[nodes.a]\nport = 1\n", "nodes.a.hostname: is missing"},
        {"[nodes.a]\nhostname = \"h\"\nport = 0\n", "nodes.a.port: must be an integer"},
    };
    for (const auto& [toml, problem] : mistakes) {
        EXPECT_NE(problems(toml).find(problem), std::string::npos)
            << toml << "\n"
            << problems(toml) << "\n(wanted: " << problem << ")";
    }
}

TEST(ConfigExecutors, ShowsNoSecretsOfAnAddress) {
    const std::string table = "[job_types.a.executor]\nkind = \"http\"\nurl = ";
    const std::string good = table + "\"http://ada:hush@host/a?token=hush#hush\"\n";
    for (const Setting& setting : settings_of(load(good), true)) {
        EXPECT_EQ(setting.value.find("hush"), std::string::npos) << setting.value;
        if (setting.key == "job_types.a.executor.url") {
            EXPECT_EQ(setting.value, "\"http://host/a\"");
        }
    }
    for (const std::string& bad :
         {std::string("ftp://ada:hush@host/a"), std::string("ada:hush@host/a"),
          "http://ada:hush@host/" + std::string(5000, 'a')}) {
        const std::string said = problems(table + '"' + bad + "\"\n");
        EXPECT_NE(said.find("job_types.a.executor.url: must be"), std::string::npos) << said;
        EXPECT_EQ(said.find("hush"), std::string::npos) << said;
    }
}

TEST(ConfigExecutors, NamesOfVariablesToPassAreChecked) {
    const std::string table = "[job_types.a.executor]\nkind = \"command\"\nargv = [\"a\"]\n";
    for (const char* name : {"A=B", "", "1", "A-B"}) {
        const std::string said =
            problems(table + "pass_environment = [\"" + std::string(name) + "\"]\n");
        EXPECT_NE(said.find("pass_environment: must be names of variables"), std::string::npos)
            << said;
    }
}

std::string origin_of(const Config& config, const std::string& key) {
    for (const Setting& setting : settings_of(config, false)) {
        if (setting.key == key) return setting.value + " from " + setting.origin;
    }
    return "not shown";
}

TEST(ConfigShow, TellsWhereEachValueComesFrom) {
    const EnvLookup env = [](const std::string& name) {
        return name == "SLUICE_NODE" ? std::optional<std::string>("7") : std::nullopt;
    };
    Config config = *load_config(
        "node = 5\n[log]\nlevel = \"warn\"\n[job_types.x]\nmax_retries = 4\ntimeout = \"5s\"\n",
        "sluice.toml", env);
    ASSERT_TRUE(set_option(config, "listen", "[::1]:80", "--listen"));

    EXPECT_EQ(origin_of(config, "node"), "7 from SLUICE_NODE");
    EXPECT_EQ(origin_of(config, "log.level"), "\"warn\" from sluice.toml:3");
    EXPECT_EQ(origin_of(config, "listen"), "\"[::1]:80\" from --listen");
    EXPECT_EQ(origin_of(config, "lease.default"), "\"30s\" from default");
    EXPECT_EQ(origin_of(config, "job_types.x.max_attempts"), "5 from sluice.toml:5");
    EXPECT_EQ(origin_of(config, "job_types.x.timeout"), "\"5s\" from sluice.toml:6");
    EXPECT_EQ(origin_of(config, "job_types.msuite_submit.queue"), "not shown");
}

// The output of `config show` can be put in a file and has the same meaning there.
TEST(ConfigShow, PrintsValuesAsAFileHasThem) {
    const Config config = load("");
    std::string toml;
    for (const Setting& setting : settings_of(config, true)) {
        if (setting.value == "\"\"") continue;               // not given
        if (setting.key.starts_with("entities.")) continue;  // built-in kinds cannot be declared
        toml += setting.key + " = " + setting.value + "\n";
    }

    const Config again = load(toml);

    EXPECT_EQ(again.job_types.all(), config.job_types.all());
    EXPECT_EQ(again.server.limits.body_time, config.server.limits.body_time);
    EXPECT_EQ(again.runner.lease, config.runner.lease);
}

}  // namespace config_executors_test
}  // namespace sluice
