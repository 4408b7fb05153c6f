// Executors and the nodes of playbooks, from TOML and as they are shown. docs/workers.md explains
// each kind.
#include <algorithm>
#include <cstdlib>

#include "config/settings.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using namespace worker;

constexpr Duration longest_grace = 1h;

bool names_a_program(Section& section, std::string_view key, const std::vector<std::string>& argv) {
    if (!argv.empty() && !argv.front().empty()) return true;
    section.problem(key, "must name a program, and perhaps its arguments");
    return false;
}

bool is_http_address(Section& section, std::string_view key, const std::string& url) {
    if (url.starts_with("http://") || url.starts_with("https://")) return true;
    section.refuse(key, *section.find(key), "an address that starts with http:// or https://");
    return false;
}

// Variables that are set, and names of those that are passed on from this process.
void read_environment(Section& section, EnvironmentChoice& out) {
    out.set = section.text_pairs("environment").value_or(Variables{});
    const auto names = section.texts("pass_environment").value_or(Section::Texts{});
    if (std::all_of(names.begin(), names.end(), is_variable_name)) {
        out.names_to_pass = names;
        out.passed = variables_named(names);
    } else {
        section.problem("pass_environment", "must be names of variables, of letters, digits and _");
    }
}

// A header's value may be a secret: it can come from the environment of the engine instead.
void read_headers(Section& section, std::string_view key, HttpExecutor& out) {
    const char* from_environment = "headers_from_env";
    const Section::TextPairs none;
    out.headers = section.text_pairs(key).value_or(none);
    for (const auto& [header, variable] : section.text_pairs(from_environment).value_or(none)) {
        if (const char* value = std::getenv(variable.c_str())) {
            out.headers.emplace_back(header, value);
        } else {
            section.problem(from_environment, fmt::format("the variable {} is not set", variable));
        }
    }
    for (const auto& [name, value] : out.headers) {
        if ((name + value).find_first_of("\r\n") == std::string::npos && !name.empty()) continue;
        section.problem(section.has(key) ? key : from_environment,
                        "names and values must not have line breaks");
    }
}

// The two keys about variables, of a kind of executor that has them.
template <class Kind>
Form<Kind> environment_form() {
    Form<Kind> form;
    form.read = [](Section& section, std::string_view, Kind& out) {
        read_environment(section, out.environment);
    };
    form.show = [](Listing& out, const SettingKey& setting, const Kind& executor) {
        out.add_environment(setting.key.substr(0, setting.key.rfind('.') + 1),
                            executor.environment);
    };
    return form;
}

Rows<CommandExecutor> command_rows(const char* argv) {
    using C = CommandExecutor;
    return {
        {argv, texts(&C::argv, names_a_program)},
        {"directory", text(&C::directory, path_bytes)},
        {"environment", environment_form<C>()},
        {"stop_grace", duration(&C::stop_grace, 0s, longest_grace)},
    };
}

Rows<HttpExecutor> http_rows() {
    using H = HttpExecutor;
    const Names<std::string> methods{{"POST", "POST"}, {"PUT", "PUT"}, {"PATCH", "PATCH"}};
    Form<H> headers{.read = read_headers};
    headers.show = [](Listing& out, const SettingKey& setting, const H& http) {
        out.add_named(setting.key, http.headers);
    };
    return {
        {"url", address(&H::url, is_http_address)},
        {"method", choice(&H::method, methods)},
        {"headers", headers},
        {"timeout", duration(&H::timeout, 1ms, 24h)},
        {"allow_private_addresses", flag(&H::allow_private_addresses)},
        {"redirects", integer(&H::redirects_max, 0, 20)},
        {"ca_file", text(&H::ca_file, path_bytes)},
    };
}

Rows<AnsibleExecutor> ansible_rows() {
    using A = AnsibleExecutor;
    return {
        needed("playbook", text(&A::playbook, path_bytes), "the playbook that these jobs run"),
        {"program", text(&A::program, path_bytes)},
        {"timeout", duration(&A::timeout, 0s, limits::timeout)},
        {"directory", text(&A::directory, path_bytes)},
        {"environment", environment_form<A>()},
        {"stop_grace", duration(&A::stop_grace, 0s, longest_grace)},
    };
}

Rows<AnsibleNode> node_rows() {
    using N = AnsibleNode;
    return {
        needed("hostname", text(&N::hostname), "the name or address by which the node is reached"),
        {"port", integer(&N::port, 1, 65535)},
        {"user", text(&N::user)},
        {"key_file", text(&N::key_file, path_bytes)},
        {"connection", text(&N::connection)},
    };
}

Rows<SimulatedCheck> simulation_rows(const SimulatedCheck&, bool) {
    using S = SimulatedCheck;
    return {
        {"pass", flag(&S::pass)},
        {"delay", duration(&S::delay, 0s, limits::timeout)},
        {"test_count", integer(&S::test_count, 0, 1'000'000)},
        {"failures", texts(&S::failures)},
    };
}

// Only a revalidation has outcomes.
Rows<SimulatedStep> simulation_rows(const SimulatedStep&, bool is_revalidation) {
    using S = SimulatedStep;
    Rows<S> rows{{"pass", flag(&S::pass)}, {"delay", duration(&S::delay, 0s, limits::timeout)}};
    if (!is_revalidation) return rows;
    Names<std::string> outcomes;
    for (const std::string& name : revalidation_outcomes()) outcomes.emplace_back(name, name);
    rows.push_back({"outcome", choice(&S::outcome, outcomes)});
    return rows;
}

// A command, or a service, or a simulation of one.
template <class Simulated>
void read_doer(Section& section, const std::string& type,
               std::variant<Simulated, CommandExecutor, HttpExecutor>& by) {
    if (section.has("command")) {
        read_rows(section, command_rows("command"), by.template emplace<CommandExecutor>());
        section.either("command", "url");
        section.either("command", "simulate");
    } else if (section.has("url")) {
        read_rows(section, http_rows(), by.template emplace<HttpExecutor>());
        section.either("url", "simulate");
    } else {
        Section simulate = section.section("simulate");
        Simulated& simulated = by.template emplace<Simulated>();
        const bool is_revalidation = type == "revalidate_queued_changeset";
        read_rows(simulate, simulation_rows(simulated, is_revalidation), simulated);
        simulate.close();
    }
}

Executor read_kind(const std::string& kind, const std::string& type, Section& section,
                   const std::map<std::string, AnsibleNode>& nodes) {
    Executor out = DemoExecutor{};
    if (kind == "command") {
        section.require("argv", "the command that runs these jobs");
        read_rows(section, command_rows("argv"), out.emplace<CommandExecutor>());
    } else if (kind == "http") {
        section.require("url", "the address that is called for each job");
        read_rows(section, http_rows(), out.emplace<HttpExecutor>());
    } else if (kind == "ansible") {
        AnsibleExecutor& ansible = out.emplace<AnsibleExecutor>();
        ansible.nodes = nodes;
        read_rows(section, ansible_rows(), ansible);
    } else if (kind == "msuite") {
        read_doer(section, type, out.emplace<MsuiteExecutor>().by);
    } else if (kind == "app") {
        read_doer(section, type, out.emplace<AppExecutor>().by);
    }
    return out;
}

// The names of the kinds, in the order of the variant.
const std::vector<std::string> executor_kinds{"command", "http", "ansible",
                                              "msuite",  "app",  "demo"};

struct ShowExecutor {
    Listing& out;
    const std::string& path;

    void operator()(const CommandExecutor& command) const {
        show_rows(out, path, command_rows("argv"), command);
    }
    void operator()(const HttpExecutor& http) const { show_rows(out, path, http_rows(), http); }
    void operator()(const AnsibleExecutor& ansible) const {
        show_rows(out, path, ansible_rows(), ansible);
    }
    void operator()(const MsuiteExecutor& msuite) const { show_doer(msuite.by, false); }
    void operator()(const AppExecutor& app) const {
        const auto* step = std::get_if<SimulatedStep>(&app.by);
        show_doer(app.by, step != nullptr && !step->outcome.empty());
    }
    void operator()(const DemoExecutor&) const {}

    template <class Simulated>
    void show_doer(const std::variant<Simulated, CommandExecutor, HttpExecutor>& by,
                   bool has_outcome) const {
        if (const auto* command = std::get_if<CommandExecutor>(&by)) {
            show_rows(out, path, command_rows("command"), *command);
        } else if (const auto* http = std::get_if<HttpExecutor>(&by)) {
            show_rows(out, path, http_rows(), *http);
        } else {
            const Simulated& simulated = std::get<Simulated>(by);
            show_rows(out, path + "simulate.", simulation_rows(simulated, has_outcome), simulated);
        }
    }
};

}  // namespace

void read_nodes(Section table, std::map<std::string, AnsibleNode>& out) {
    for (const std::string& name : table.members()) {
        Section section = table.section(name);
        read_rows(section, node_rows(), out[name]);
        section.close();
    }
}

void show_nodes(Listing& out, const std::map<std::string, AnsibleNode>& nodes) {
    for (const auto& [name, node] : nodes) {
        show_rows(out, fmt::format("nodes.{}.", name), node_rows(), node);
    }
}

std::optional<Executor> read_executor(const std::string& type, Section table,
                                      const std::map<std::string, AnsibleNode>& nodes) {
    if (!table.exists()) return std::nullopt;
    table.require("kind", one_of(executor_kinds));
    const auto chosen = table.choice("kind", executor_kinds);
    if (!chosen) return std::nullopt;
    const std::string& kind = executor_kinds[*chosen];
    const std::vector<std::string> types = kind == "msuite" ? msuite_types()
                                           : kind == "app"  ? app_types()
                                           : kind == "demo" ? demo_types()
                                                            : std::vector{type};
    if (std::find(types.begin(), types.end(), type) == types.end()) {
        table.problem("kind", fmt::format("serves only {}", fmt::join(types, ", ")));
    }
    Executor executor = read_kind(kind, type, table, nodes);
    table.close();
    return executor;
}

void show_executor(Listing& out, const std::string& path, const Executor& executor) {
    out.add({path + "kind"}, quoted(executor_kinds[executor.index()]));
    std::visit(ShowExecutor{out, path}, executor);
}

}  // namespace sluice
