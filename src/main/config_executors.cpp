#include "main/config_executors.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using namespace worker;

constexpr std::size_t path_bytes = 4096;
constexpr Duration longest_grace = 1h;

void read_argv(Section& table, std::string_view key, std::vector<std::string>& out) {
    table.texts(key, out);
    const toml::node* node = table.find(key);
    if (node == nullptr) return;
    if (out.empty() || out.front().empty()) {
        table.problem(key, *node, "must name a program, and perhaps its arguments");
    }
}

// Variables that are set, and names of those that are passed on from this process.
void read_environment(Section& table, EnvironmentChoice& out) {
    table.text_pairs("environment", out.set);
    table.texts("pass_environment", out.names_to_pass);
    for (const std::string& name : out.names_to_pass) {
        if (is_variable_name(name)) continue;
        return table.problem("pass_environment", *table.find("pass_environment"),
                             "must be names of variables, of letters, digits and _");
    }
    out.passed = variables_named(out.names_to_pass);
}

void read_command(Section& table, CommandExecutor& out) {
    table.text("directory", out.directory, path_bytes);
    read_environment(table, out.environment);
    table.duration("stop_grace", out.stop_grace, 0s, longest_grace);
}

// A header's value may be a secret: it can come from the environment of the engine instead.
void read_headers(Section& table, HttpExecutor& out) {
    table.text_pairs("headers", out.headers);
    std::vector<std::pair<std::string, std::string>> variables;
    table.text_pairs("headers_from_env", variables);
    for (const auto& [header, variable] : variables) {
        const char* value = std::getenv(variable.c_str());
        if (value == nullptr) {
            table.problem("headers_from_env", *table.find("headers_from_env"),
                          fmt::format("the variable {} is not set", variable));
            continue;
        }
        out.headers.emplace_back(header, value);
    }
    for (const auto& [name, value] : out.headers) {
        if ((name + value).find_first_of("\r\n") == std::string::npos && !name.empty()) continue;
        const char* key = table.has("headers") ? "headers" : "headers_from_env";
        table.problem(key, *table.find(key), "names and values must not have line breaks");
    }
}

void read_http(Section& table, HttpExecutor& out) {
    table.text("url", out.url, path_bytes);
    if (!out.url.empty() && !out.url.starts_with("http://") && !out.url.starts_with("https://")) {
        table.refuse("url", *table.find("url"), "an address that starts with http:// or https://");
    }
    const Names<std::string> methods{{"POST", "POST"}, {"PUT", "PUT"}, {"PATCH", "PATCH"}};
    table.choice("method", out.method, methods);
    read_headers(table, out);
    table.duration("timeout", out.timeout, 1ms, 24h);
    table.flag("allow_private_addresses", out.allow_private_addresses);
    table.integer("redirects", out.redirects_max, 0, 20);
    table.text("ca_file", out.ca_file, path_bytes);
}

AnsibleExecutor read_ansible(Section& table, const std::map<std::string, AnsibleNode>& nodes) {
    AnsibleExecutor out;
    out.nodes = nodes;
    table.require("playbook", "the playbook that these jobs run");
    table.text("playbook", out.playbook, path_bytes);
    table.text("program", out.program, path_bytes);
    table.duration("timeout", out.timeout, 0s, limits::timeout);
    table.text("directory", out.directory, path_bytes);
    read_environment(table, out.environment);
    table.duration("stop_grace", out.stop_grace, 0s, longest_grace);
    return out;
}

SimulatedCheck read_simulated_check(Section& simulate) {
    SimulatedCheck check;
    simulate.flag("pass", check.pass);
    simulate.duration("delay", check.delay, 0s, limits::timeout);
    simulate.integer("test_count", check.test_count, 0, 1'000'000);
    simulate.texts("failures", check.failures);
    return check;
}

SimulatedStep read_simulated_step(Section& simulate, const std::string& type) {
    SimulatedStep step;
    simulate.flag("pass", step.pass);
    simulate.duration("delay", step.delay, 0s, limits::timeout);
    if (type != "revalidate_queued_changeset") return step;
    Names<std::string> outcomes;
    for (const std::string& name : revalidation_outcomes()) outcomes.emplace_back(name, name);
    simulate.choice("outcome", step.outcome, outcomes);
    return step;
}

// A command, or a service, or the simulation that `read_simulated` reads.
template <class Simulated, class ReadSimulated>
void read_doer(Section& table, std::variant<Simulated, CommandExecutor, HttpExecutor>& by,
               ReadSimulated read_simulated) {
    if (table.has("command")) {
        CommandExecutor command;
        read_argv(table, "command", command.argv);
        read_command(table, command);
        table.either("command", "url");
        table.either("command", "simulate");
        by = std::move(command);
    } else if (table.has("url")) {
        HttpExecutor http;
        read_http(table, http);
        table.either("url", "simulate");
        by = std::move(http);
    } else {
        Section simulate = table.section("simulate");
        by = read_simulated(simulate);
        simulate.close();
    }
}

enum class Kind { command, http, ansible, msuite, app, demo };
const Names<Kind> kinds{{"command", Kind::command}, {"http", Kind::http},
                        {"ansible", Kind::ansible}, {"msuite", Kind::msuite},
                        {"app", Kind::app},         {"demo", Kind::demo}};

Executor read_kind(Kind kind, const std::string& type, Section& table,
                   const std::map<std::string, AnsibleNode>& nodes) {
    switch (kind) {
        case Kind::command: {
            CommandExecutor command;
            table.require("argv", "the command that runs these jobs");
            read_argv(table, "argv", command.argv);
            read_command(table, command);
            return command;
        }
        case Kind::http: {
            HttpExecutor http;
            table.require("url", "the address that is called for each job");
            read_http(table, http);
            return http;
        }
        case Kind::ansible: return read_ansible(table, nodes);
        case Kind::msuite: {
            MsuiteExecutor msuite;
            read_doer(table, msuite.by, read_simulated_check);
            return msuite;
        }
        case Kind::app: {
            AppExecutor app;
            read_doer(table, app.by,
                      [&](Section& simulate) { return read_simulated_step(simulate, type); });
            return app;
        }
        case Kind::demo: return DemoExecutor{};
    }
    return DemoExecutor{};
}

}  // namespace

void read_runner(Section table, RunnerConfig& out) {
    table.text("name", out.name);
    table.integer("concurrency", out.concurrency, 1, client::concurrency_max);
    table.texts("queues", out.queues);
    table.texts("types", out.types);
    table.texts("labels", out.labels);
    table.duration("lease", out.lease, 1s, 1h);
    table.duration("shutdown_grace", out.shutdown_grace, 0s, longest_grace);
    table.close();
}

std::map<std::string, worker::AnsibleNode> read_nodes(Section table) {
    std::map<std::string, AnsibleNode> nodes;
    for (const std::string& name : table.members()) {
        Section section = table.section(name);
        AnsibleNode node;
        section.require("hostname", "the name or address by which the node is reached");
        section.text("hostname", node.hostname);
        section.integer("port", node.port, 1, 65535);
        section.text("user", node.user);
        section.text("key_file", node.key_file, path_bytes);
        section.text("connection", node.connection);
        section.close();
        nodes.emplace(name, std::move(node));
    }
    return nodes;
}

std::optional<worker::Executor> read_executor(const std::string& type, Section table,
                                              const std::map<std::string, AnsibleNode>& nodes) {
    if (!table.exists()) return std::nullopt;
    Kind kind{};
    table.require("kind", one_of(kinds));
    if (!table.choice("kind", kind, kinds)) return std::nullopt;
    const auto serves = [&](const std::vector<std::string>& types) {
        if (std::find(types.begin(), types.end(), type) != types.end()) return;
        table.problem("kind", *table.find("kind"),
                      fmt::format("serves only {}", fmt::join(types, ", ")));
    };
    if (kind == Kind::msuite) serves(msuite_types());
    if (kind == Kind::app) serves(app_types());
    if (kind == Kind::demo) serves(demo_types());
    Executor executor = read_kind(kind, type, table, nodes);
    table.close();
    return executor;
}

}  // namespace sluice
