// From TOML to Config.
#include "main/config_toml.hpp"

#include <fmt/format.h>

#include "main/config_auth.hpp"
#include "main/config_deploy.hpp"
#include "main/config_entities.hpp"
#include "main/config_executors.hpp"
#include "main/config_section.hpp"
#include "main/config_store_url.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t path_bytes = 4096;

void read_backoff(Section& type, Backoff& out) {
    const toml::node* node = type.find("backoff");
    if (node == nullptr) return;
    if (const auto* text = node->as_string(); text != nullptr && text->get() == "none") {
        out = Backoff::none();
    } else if (const toml::array* array = node->as_array()) {
        std::vector<Duration> delays;
        for (const toml::node& element : *array) {
            const auto delay = type.duration_in("backoff", element, 0s, limits::delay);
            if (!delay) return;
            delays.push_back(*delay);
        }
        if (delays.empty() || delays.size() > limits::list_items) {
            return type.problem("backoff", *node,
                                fmt::format("must have 1 to {} delays", limits::list_items));
        }
        out = Backoff::list(std::move(delays));
    } else if (node->is_table()) {
        Section table = type.section("backoff");
        std::string kind;
        table.choice("kind", kind, {{"exponential", "exponential"}});
        Duration base = 1s, cap = 5min;
        table.duration("base", base, 1ms, limits::delay);
        table.duration("cap", cap, 1ms, limits::delay);
        table.close();
        if (!node->as_table()->contains("kind")) {
            type.problem("backoff", *node, "needs kind = \"exponential\"");
        }
        if (base > cap) type.problem("backoff", *node, "base must not be longer than cap");
        out = Backoff::exponential(base, cap);
    } else {
        type.refuse("backoff", *node,
                    "\"none\", an array of durations or {kind = \"exponential\", base, cap}");
    }
}

// Reports the first of the texts with which `problem_with` finds something.
void refuse_bad_texts(Section& table, const char* key, const std::vector<std::string>& texts,
                      std::string (*problem_with)(std::string_view)) {
    for (const std::string& text : texts) {
        const std::string problem = problem_with(text);
        if (problem.empty() || !table.has(key)) continue;
        return table.problem(key, *table.find(key), fmt::format("\"{}\" {}", text, problem));
    }
}

// Overrides what the table names and leaves the rest of `out` as it is.
void read_job_type(Section& type, JobType& out) {
    type.text("queue", out.queue);
    type.integer("priority", out.priority, -limits::priority, limits::priority);
    int retries = out.max_attempts - 1;
    type.integer("max_retries", retries, 0, limits::attempts - 1);
    out.max_attempts = retries + 1;
    type.integer("max_attempts", out.max_attempts, 1, limits::attempts);
    type.either("max_attempts", "max_retries");
    std::int64_t timeout_ms = to_millis(out.timeout);
    type.integer("timeout_ms", timeout_ms, 0, to_millis(limits::timeout));
    out.timeout = from_millis(timeout_ms);
    type.duration("timeout", out.timeout, 0s, limits::timeout);
    type.either("timeout", "timeout_ms");
    type.flag("retry_on_timeout", out.retry_on_timeout);
    type.flag("needs_node", out.needs_node);
    type.flag("needs_site", out.needs_site);
    type.flag("refuses_site", out.refuses_site);
    if (out.needs_site && out.refuses_site) {
        const char* key = type.has("refuses_site") ? "refuses_site" : "needs_site";
        type.problem(key, *type.find(key), "a type cannot both need and refuse a site");
    }
    type.flag("admin_cancels", out.admin_cancels);
    type.flag("needs_error", out.needs_error);
    type.texts("redact", out.redact);
    refuse_bad_texts(type, "redact", out.redact, SecretMarks::problem_with_path);
    read_backoff(type, out.backoff);
}

void read_default_type(Section type, JobType& out) {
    read_job_type(type, out);
    type.close();
}

void read_job_types(const toml::table& file, Section& root, Config& config) {
    JobTypes& out = config.job_types;
    root.flag("strict_types", config.strict_types);
    out.refuse_unknown(config.strict_types);

    // The default comes first, wherever it stands, since new types start from it.
    Section types = root.section("job_types");
    JobType fallback = out.fallback();
    read_default_type(types.section("default"), fallback);
    read_default_type(root.section("default_job_type"), fallback);
    out.set_default(fallback);

    const toml::table* tables = file["job_types"].as_table();
    if (tables == nullptr) return;
    if (tables->contains("default") && file.contains("default_job_type")) {
        root.problem("default_job_type", *file.get("default_job_type"),
                     "cannot be given together with job_types.default");
    }
    for (const auto& [key, node] : *tables) {
        if (key.str() == "default") continue;
        const std::string name(key.str());
        if (name.empty() || name.size() > limits::name_bytes) {
            types.problem(name, node,
                          fmt::format("must be a name of 1 to {} bytes", limits::name_bytes));
        }
        const auto known = out.all().find(name);
        JobType type = known == out.all().end() ? fallback : known->second;
        type.name = name;
        Section section = types.section(name);
        read_job_type(section, type);
        if (section.has("executor")) {
            if (auto executor = read_executor(name, section.section("executor"), config.nodes)) {
                config.executors.insert_or_assign(name, *std::move(executor));
            }
        }
        section.close();
        out.put(std::move(type));
    }
}

void read_limits(Section table, http::Limits& out, http::CallerLimits& by_caller) {
    constexpr std::int64_t kib = 1024, mib = 1024 * kib;
    table.duration("header_time", out.header_time, 100ms, 1h);
    table.duration("body_time", out.body_time, 100ms, 1h);
    table.duration("idle_time", out.idle_time, 100ms, 24h);
    table.duration("write_time", out.write_time, 100ms, 1h);
    table.duration("stream_life", out.stream_life, 1s, 24h * 7);
    table.integer("header_bytes", out.header_bytes, kib, mib);
    table.integer("header_count", out.header_count, 8, 1000);
    table.integer("target_bytes", out.target_bytes, 256, 64 * kib);
    table.integer("body_bytes", out.body_bytes, kib, 64 * mib);
    table.integer("body_memory", out.body_memory, 16 * mib, 64 * 1024 * mib);
    table.integer("answer_memory", out.answer_memory, 16 * mib, 64 * 1024 * mib);
    table.integer("connections", out.connections, 1, 100'000);
    table.integer("connections_per_address", out.connections_per_address, 1, 100'000);
    table.integer("streams", out.streams, 0, 100'000);
    read_caller_limits(table, by_caller);
    table.close();
}

void read_tls(Section table, http::TlsFiles& out) {
    table.text("certificate", out.certificate, path_bytes);
    table.text("key", out.key, path_bytes);
    table.close();
}

void read_lease(Section table, Config& out) {
    table.duration("default", out.default_lease, 1s, 24h);
    table.duration("max", out.max_lease, 1s, 24h);
    if (out.default_lease > out.max_lease) {
        const toml::node* node = table.find("default");
        if (node == nullptr) node = table.find("max");
        table.problem("default", *node,
                      fmt::format("{} is longer than lease.max, which is {}",
                                  duration_text(out.default_lease), duration_text(out.max_lease)));
    }
    table.close();
}

void read_listen(Section& root, http::ServerOptions& out) {
    const toml::node* node = root.find("listen");
    if (node == nullptr) return;
    const auto* text = node->as_string();
    const auto address = text == nullptr ? std::nullopt : parse_listen(text->get());
    if (!address) return root.refuse("listen", *node, listen_form);
    out.host = address->host;
    out.port = address->port;
}

void read_schema(Section& root, postgres::SchemaName& out) {
    const toml::node* node = root.find("store_schema");
    if (node == nullptr) return;
    const auto* text = node->as_string();
    const auto schema = text == nullptr ? std::nullopt : postgres::SchemaName::resolve(text->get());
    if (!schema) return root.refuse("store_schema", *node, postgres::schema_name_form);
    out = *schema;
}

// The address is a secret as a whole when it is none that we know, so it is not repeated then.
void read_store(Section& root, Config& out) {
    root.text("store", out.store, 4096);
    root.text("store_direct", out.store_direct, 4096);
    if (!out.store_direct.empty() && !is_postgres(out.store_direct)) {
        root.problem("store_direct", *root.find("store_direct"),
                     fmt::format("must be {}", postgres_form));
    }
    read_schema(root, out.store_schema);
    root.integer("committers", out.committers, 1, committers_max);
    root.integer("store_reserve", out.store_reserve, 0, store_reserve_max);
    root.duration("retention", out.retention, 0s, retention_max);
}

void read_retention(Section table, std::map<JobState, Duration>& out) {
    for (const JobState outcome : outcomes) {
        const std::string key(to_text(outcome));
        Duration kept{};
        table.duration(key.c_str(), kept, 0s, retention_max);
        if (table.has(key.c_str())) out[outcome] = kept;
    }
    table.close();
}

void read_secrets(Section table, Config& out) {
    table.texts("redact", out.secret_names);
    refuse_bad_texts(table, "redact", out.secret_names, SecretMarks::problem_with_name);
    table.close();
}

void read_file(const toml::table& file, FileNotes& notes, Config& out) {
    Section root(&file, "", notes);
    read_listen(root, out.server);
    read_store(root, out);
    read_retention(root.section("retention_of"), out.retention_by_outcome);
    root.flag("no_auth", out.no_auth);
    root.flag("plaintext", out.plaintext);
    root.integer("node", out.node, 0, node_max);
    root.texts("allowed_hosts", out.server.allowed_hosts);
    root.texts("admins", out.admins);
    std::int64_t hours = out.idempotency_memory.count();
    root.integer("idempotency_hours", hours, 1, 24 * 366);
    out.idempotency_memory = std::chrono::hours(hours);
    Section log = root.section("log");
    log.choice("level", out.log_level, log_levels);
    log.choice("format", out.log_format, log_formats);
    log.close();
    read_lease(root.section("lease"), out);
    read_tls(root.section("tls"), out.server.tls);
    read_limits(root.section("limits"), out.server.limits, out.caller_limits);
    read_runner(root.section("runner"), out.runner);
    read_deploy(root.section("deploy"), out.deploy);
    read_auth(root.section("auth"), out);
    read_secrets(root.section("secrets"), out);
    out.nodes = read_nodes(root.section("nodes"));
    read_job_types(file, root, out);
    read_entity_kinds(root.section("entities"), out.entity_kinds);
    root.close();
}

}  // namespace

void read_toml(std::string_view text, std::string_view file_name, Config& out,
               std::vector<std::string>& problems) {
    FileNotes notes(file_name, out.origins);
    const toml::parse_result parsed = toml::parse(text, file_name);
    if (parsed) {
        read_file(parsed.table(), notes, out);
    } else {
        notes.problem(parsed.error().source(), parsed.error().description());
    }
    notes.append_problems_to(problems);
}

}  // namespace sluice
