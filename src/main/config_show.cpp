#include "main/config_show.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "interfaces/worker/url_text.hpp"
#include "main/config_auth.hpp"
#include "main/config_settings.hpp"
#include "main/config_store_url.hpp"
#include "main/config_values.hpp"

namespace sluice {
namespace {

template <class T>
std::string name_of(const Names<T>& names, T value) {
    for (const auto& [name, known] : names) {
        if (known == value) return quoted(name);
    }
    return {};
}

std::string backoff_text(const Backoff& backoff) {
    switch (backoff.kind) {
        case Backoff::Kind::none: return "\"none\"";
        case Backoff::Kind::list: {
            std::vector<std::string> delays;
            for (const Duration delay : backoff.delays) delays.push_back(duration_text(delay));
            return list_of(delays);
        }
        case Backoff::Kind::exponential: break;
    }
    return fmt::format("{{kind = \"exponential\", base = {}, cap = {}}}", quoted(backoff.base),
                       quoted(backoff.cap));
}

void add_type(Listing& out, const std::string& path, const JobType& type) {
    out.add(path + "queue", quoted(type.queue));
    out.add(path + "priority", std::to_string(type.priority));
    out.add(path + "max_attempts", path + "max_retries", std::to_string(type.max_attempts));
    out.add(path + "timeout", path + "timeout_ms", quoted(type.timeout));
    out.add(path + "retry_on_timeout", flag(type.retry_on_timeout));
    out.add(path + "backoff", backoff_text(type.backoff));
    out.add(path + "needs_node", flag(type.needs_node));
    out.add(path + "needs_site", flag(type.needs_site));
    out.add(path + "refuses_site", flag(type.refuses_site));
    out.add(path + "admin_cancels", flag(type.admin_cancels));
    out.add(path + "needs_error", flag(type.needs_error));
    out.add(path + "redact", list_of(type.redact));
}

void add_http(Listing& out, const std::string& path, const worker::HttpExecutor& http) {
    out.add_url(path + "url", http.url, worker::shown_url(http.url));
    out.add(path + "method", quoted(http.method));
    for (const auto& [name, value] : http.headers) out.add_named(path, "headers", name, value);
    out.add(path + "timeout", quoted(http.timeout));
    out.add(path + "allow_private_addresses", flag(http.allow_private_addresses));
    out.add(path + "redirects", std::to_string(http.redirects_max));
}

void add_command(Listing& out, const std::string& path, const std::string& key,
                 const worker::CommandExecutor& command) {
    out.add(path + key, list_of(command.argv));
    out.add(path + "directory", quoted(command.directory));
    out.add_environment(path, command.environment);
    out.add(path + "stop_grace", quoted(command.stop_grace));
}

// Members of a TOML table, those that are empty left out.
class InlineTable {
  public:
    InlineTable& text(std::string_view name, const std::string& value) {
        return value.empty() ? *this : add(name, quoted(value));
    }
    InlineTable& texts(std::string_view name, const std::vector<std::string>& values) {
        return values.empty() ? *this : add(name, list_of(values));
    }
    InlineTable& profiles(ProfileChoice choice) {
        return choice == ProfileChoice::none ? *this
                                             : text("profiles", std::string(to_text(choice)));
    }
    InlineTable& add(std::string_view name, const std::string& value) {
        if (!members_.empty()) members_ += ", ";
        members_ += fmt::format("{} = {}", name, value);
        return *this;
    }
    std::string str() const { return "{" + members_ + "}"; }

  private:
    std::string members_;
};

template <class Rows, class Text>
std::string tables_of(const Rows& rows, Text text) {
    std::vector<std::string> tables;
    for (const auto& row : rows) tables.push_back(text(row).str());
    return fmt::format("[{}]", fmt::join(tables, ", "));
}

InlineTable follow_table(const Follow& follow) {
    InlineTable table;
    table.text("job_type", follow.job_type).text("on_start", follow.on_start);
    table.text("on_success", follow.on_success).text("on_failure", follow.on_failure);
    InlineTable outcomes;
    for (const auto& [outcome, action] : follow.on_outcome) outcomes.text(quoted(outcome), action);
    return follow.on_outcome.empty() ? table : table.add("on_outcome", outcomes.str());
}

void add_kind(Listing& out, const EntityKind& kind) {
    const std::string path = fmt::format("entities.{}.", kind.name);
    out.add(path + "initial", quoted(kind.initial));
    out.add(path + "implicit", flag(kind.is_implicit));
    out.add(path + "transitions", tables_of(kind.transitions, [](const EntityTransition& row) {
                return InlineTable()
                    .text("action", row.action)
                    .texts("from", row.from)
                    .text("to", row.to);
            }));
    out.add(path + "gates", tables_of(kind.gates, [](const Gate& gate) {
                return InlineTable()
                    .text("action", gate.action)
                    .text("job_type", gate.job_type)
                    .profiles(gate.profiles);
            }));
    out.add(path + "orders", tables_of(kind.orders, [](const JobOrder& order) {
                return InlineTable()
                    .text("action", order.action)
                    .text("job_type", order.job_type)
                    .texts("carries", order.carries)
                    .profiles(order.profiles);
            }));
    out.add(path + "follows", tables_of(kind.follows, follow_table));
}

// Whether the file says anything about the kind.
bool is_configured(const Config& config, const std::string& kind) {
    const std::string path = fmt::format("entities.{}.", kind);
    const auto found = config.origins.lower_bound(path);
    return found != config.origins.end() && found->first.starts_with(path);
}

struct AddExecutor {
    Listing& out;
    const std::string& path;

    void operator()(const worker::CommandExecutor& command) const {
        out.add(path + "kind", "\"command\"");
        add_command(out, path, "argv", command);
    }
    void operator()(const worker::HttpExecutor& http) const {
        out.add(path + "kind", "\"http\"");
        add_http(out, path, http);
    }
    void operator()(const worker::AnsibleExecutor& ansible) const {
        out.add(path + "kind", "\"ansible\"");
        out.add(path + "playbook", quoted(ansible.playbook));
        out.add(path + "program", quoted(ansible.program));
        out.add(path + "timeout", quoted(ansible.timeout));
        out.add_environment(path, ansible.environment);
    }
    void operator()(const worker::MsuiteExecutor& msuite) const {
        out.add(path + "kind", "\"msuite\"");
        if (const auto* command = std::get_if<worker::CommandExecutor>(&msuite.by)) {
            add_command(out, path, "command", *command);
        } else if (const auto* http = std::get_if<worker::HttpExecutor>(&msuite.by)) {
            add_http(out, path, *http);
        } else if (const auto* check = std::get_if<worker::SimulatedCheck>(&msuite.by)) {
            out.add(path + "simulate.pass", flag(check->pass));
            out.add(path + "simulate.delay", quoted(check->delay));
            out.add(path + "simulate.test_count", std::to_string(check->test_count));
            out.add(path + "simulate.failures", list_of(check->failures));
        }
    }
    void operator()(const worker::AppExecutor& app) const {
        out.add(path + "kind", "\"app\"");
        if (const auto* command = std::get_if<worker::CommandExecutor>(&app.by)) {
            add_command(out, path, "command", *command);
        } else if (const auto* http = std::get_if<worker::HttpExecutor>(&app.by)) {
            add_http(out, path, *http);
        } else if (const auto* step = std::get_if<worker::SimulatedStep>(&app.by)) {
            out.add(path + "simulate.pass", flag(step->pass));
            out.add(path + "simulate.delay", quoted(step->delay));
            if (!step->outcome.empty()) {
                out.add(path + "simulate.outcome", quoted(step->outcome));
            }
        }
    }
    void operator()(const worker::DemoExecutor&) const { out.add(path + "kind", "\"demo\""); }
};

void add_limits(Listing& out, const http::Limits& limits) {
    out.add("limits.header_time", quoted(limits.header_time));
    out.add("limits.body_time", quoted(limits.body_time));
    out.add("limits.idle_time", quoted(limits.idle_time));
    out.add("limits.write_time", quoted(limits.write_time));
    out.add("limits.stream_life", quoted(limits.stream_life));
    out.add("limits.header_bytes", std::to_string(limits.header_bytes));
    out.add("limits.header_count", std::to_string(limits.header_count));
    out.add("limits.target_bytes", std::to_string(limits.target_bytes));
    out.add("limits.body_bytes", std::to_string(limits.body_bytes));
    out.add("limits.body_memory", std::to_string(limits.body_memory));
    out.add("limits.answer_memory", std::to_string(limits.answer_memory));
    out.add("limits.connections", std::to_string(limits.connections));
    out.add("limits.connections_per_address", std::to_string(limits.connections_per_address));
    out.add("limits.streams", std::to_string(limits.streams));
}

void add_caller_limits(Listing& out, const http::CallerLimits& limits) {
    out.add("limits.requests_per_tenant", quoted(rate_text(limits.per_tenant)));
    out.add("limits.requests_per_address", quoted(rate_text(limits.per_address)));
    out.add("limits.bad_tokens_per_address", quoted(rate_text(limits.bad_tokens)));
    out.add("limits.streams_per_token", std::to_string(limits.streams_per_token));
    out.add("limits.streams_per_tenant", std::to_string(limits.streams_per_tenant));
    out.add("limits.waiting_claims_per_tenant", std::to_string(limits.waiting_claims_per_tenant));
}

void add_runner(Listing& out, const RunnerConfig& runner) {
    out.add("runner.name", quoted(runner.name));
    out.add("runner.concurrency", std::to_string(runner.concurrency));
    out.add("runner.queues", list_of(runner.queues));
    out.add("runner.types", list_of(runner.types));
    out.add("runner.labels", list_of(runner.labels));
    out.add("runner.lease", quoted(runner.lease));
    out.add("runner.shutdown_grace", quoted(runner.shutdown_grace));
}

void add_deploy(Listing& out, const http::deploy::Settings& deploy) {
    out.add_secret("deploy.shared_secret", "deploy.proxy-auth.shared-secret", deploy.shared_secret);
    out.add("deploy.open_runners", flag(deploy.open_runners));
    out.add_secrets("deploy.runner_tokens", deploy.runner_tokens);
    out.add_secret("deploy.node_token", deploy.node_token);
    out.add_secret("deploy.admin_token", deploy.admin_token);
    out.add_secret("deploy.agent_token", "deploy.runtime-agent.token", deploy.agent_token);
    out.add("deploy.requeue_lost", flag(deploy.requeue_lost));
    out.add("deploy.max_running", "deploy.job.max-running-seconds", quoted(deploy.max_running));
    out.add("deploy.node_health", quoted(deploy.node_health));
    out.add("deploy.runner_health", quoted(deploy.runner_health));
    const bool by_disk = deploy.placement == sluice::deploy::PlacementStrategy::disk_aware;
    out.add("deploy.placement", by_disk ? "\"disk-aware\"" : "\"hash\"");
}

void add_jwt(Listing& out, const JwtSettings& jwt) {
    out.add("auth.jwt.issuer", quoted(jwt.issuer));
    out.add("auth.jwt.audience", quoted(jwt.audience));
    out.add("auth.jwt.jwks", quoted(jwt.jwks));
    out.add("auth.jwt.default_tenant", quoted(jwt.default_tenant));
    out.add("auth.jwt.tenant_claim", quoted(jwt.tenant_claim));
    out.add("auth.jwt.scope_claim", quoted(jwt.scope_claim));
    out.add("auth.jwt.kind_claim", quoted(jwt.kind_claim));
    out.add("auth.jwt.types_claim", quoted(jwt.types_claim));
    out.add("auth.jwt.any_tenant_claim", quoted(jwt.any_tenant_claim));
    out.add("auth.jwt.default_scopes", list_of(jwt.default_scopes));
    out.add("auth.jwt.skew", quoted(jwt.skew));
    out.add("auth.jwt.max_lifetime", quoted(jwt.max_lifetime));
}

Listing list(const Config& config, bool all) {
    Listing out(config.origins);
    out.add("listen", quoted(address_text(config.server.host, config.server.port)));
    out.add_url("store", config.store, shown_store(config.store));
    out.add_url("store_direct", config.store_direct, shown_store(config.store_direct));
    out.add("store_schema", quoted(config.store_schema.text()));
    out.add("committers", std::to_string(config.committers));
    out.add("store_reserve", std::to_string(config.store_reserve));
    out.add("retention", quoted(config.retention));
    for (const JobState outcome : outcomes) {
        out.add(fmt::format("retention_of.{}", to_text(outcome)),
                quoted(retention_of(config).of(outcome)));
    }
    out.add("no_auth", flag(config.no_auth));
    out.add("plaintext", flag(config.plaintext));
    out.add("node", std::to_string(config.node));
    out.add("allowed_hosts", list_of(config.server.allowed_hosts));
    out.add("admins", list_of(config.admins));
    out.add("idempotency_hours", std::to_string(config.idempotency_memory.count()));
    out.add("strict_types", flag(config.strict_types));
    out.add("log.level", name_of(log_levels, config.log_level));
    out.add("log.format", name_of(log_formats, config.log_format));
    out.add("lease.default", quoted(config.default_lease));
    out.add("lease.max", quoted(config.max_lease));
    out.add("tls.certificate", quoted(config.server.tls.certificate));
    out.add("tls.key", quoted(config.server.tls.key));
    add_limits(out, config.server.limits);
    add_caller_limits(out, config.caller_limits);
    out.add_secret("auth.admin_token", config.admin_token);
    add_runner(out, config.runner);
    if (config.jwt) add_jwt(out, *config.jwt);
    add_deploy(out, config.deploy);
    out.add("secrets.redact", list_of(config.secret_names));
    for (const auto& [name, node] : config.nodes) {
        const std::string path = fmt::format("nodes.{}.", name);
        out.add(path + "hostname", quoted(node.hostname));
        out.add(path + "port", std::to_string(node.port));
        out.add(path + "user", quoted(node.user));
        out.add(path + "key_file", quoted(node.key_file));
        out.add(path + "connection", quoted(node.connection));
    }
    add_type(out, "job_types.default.", config.job_types.fallback());
    const JobTypes built_in = JobTypes::built_in();
    for (const auto& [name, type] : config.job_types.all()) {
        const auto known = built_in.all().find(name);
        const bool changed = known == built_in.all().end() || known->second != type;
        if (all || changed) add_type(out, fmt::format("job_types.{}.", name), type);
    }
    for (const auto& [type, executor] : config.executors) {
        const std::string path = fmt::format("job_types.{}.executor.", type);
        std::visit(AddExecutor{out, path}, executor);
    }
    for (const auto& [name, kind] : config.entity_kinds.all()) {
        if (all || is_configured(config, name)) add_kind(out, kind);
    }
    return out;
}

}  // namespace

std::vector<Setting> settings_of(const Config& config, bool all) {
    return list(config, all).take();
}

std::vector<std::string> secrets_of(const Config& config) {
    std::vector<std::string> secrets = list(config, false).take_secrets();
    // The one that the database's library reads by itself.
    for (auto& [name, value] : worker::variables_named({"PGPASSWORD"})) {
        secrets.push_back(std::move(value));
    }
    return secrets;
}

}  // namespace sluice
