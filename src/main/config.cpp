#include "main/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "main/config_auth.hpp"
#include "main/config_store_url.hpp"
#include "main/config_toml.hpp"
#include "main/config_values.hpp"

namespace sluice {
namespace {

// Environment variables and the settings that they stand for.
constexpr std::pair<const char*, const char*> variables[] = {
    {"SLUICE_LISTEN", "listen"},
    {"SLUICE_STORE", "store"},
    {"SLUICE_STORE_DIRECT", "store_direct"},
    {"SLUICE_STORE_SCHEMA", "store_schema"},
    {"SLUICE_RETENTION", "retention"},
    {"SLUICE_NODE", "node"},
    {"SLUICE_LOG_LEVEL", "log.level"},
    {"SLUICE_NO_AUTH", "no_auth"},
    {"SLUICE_PLAINTEXT", "plaintext"},
    {"SLUICE_ADMIN_TOKEN", "auth.admin_token"},
    {"SLUICE_ADMIN_TOKEN_FILE", "auth.admin_token_file"},
    {"SLUICE_LOG_FORMAT", "log.format"},
    {"SLUICE_CONCURRENCY", "runner.concurrency"},
    {"SLUICE_TLS_CERTIFICATE", "tls.certificate"},
    {"SLUICE_TLS_KEY", "tls.key"},
};

template <class T>
bool assign(T& out, const std::optional<T>& value) {
    if (value) out = *value;
    return value.has_value();
}

// Sets it, or says what is allowed.
std::optional<std::string> try_set(Config& config, std::string_view name, std::string_view value) {
    if (name == "listen") {
        const auto address = parse_listen(value);
        if (!address) return listen_form;
        config.server.host = address->host;
        config.server.port = address->port;
    } else if (name == "store") {
        if (value.empty()) return "a store's URL";
        config.store = value;
    } else if (name == "store_direct") {
        if (!is_postgres(value)) return postgres_form;
        config.store_direct = value;
    } else if (name == "store_schema") {
        if (!assign(config.store_schema, postgres::SchemaName::resolve(value))) {
            return postgres::schema_name_form;
        }
    } else if (name == "retention") {
        const auto duration = parse_duration(value);
        if (!duration || *duration > retention_max) return retention_form;
        config.retention = *duration;
    } else if (name == "tls.certificate") {
        config.server.tls.certificate = value;
    } else if (name == "tls.key") {
        config.server.tls.key = value;
    } else if (name == "node") {
        const auto node = parse_integer(value);
        if (!node || *node < 0 || *node > node_max) {
            return fmt::format("an integer between 0 and {}", node_max);
        }
        config.node = static_cast<int>(*node);
    } else if (name == "log.level") {
        if (!assign(config.log_level, find_name(log_levels, value))) return one_of(log_levels);
    } else if (name == "log.format") {
        if (!assign(config.log_format, find_name(log_formats, value))) return one_of(log_formats);
    } else if (name == "no_auth") {
        if (!assign(config.no_auth, parse_flag(value))) return "true or false";
    } else if (name == "plaintext") {
        if (!assign(config.plaintext, parse_flag(value))) return "true or false";
    } else if (name == "auth.admin_token") {
        return set_admin_token(config, value);
    } else if (name == "auth.admin_token_file") {
        return set_admin_token_file(config, std::string(value));
    } else if (name == "runner.concurrency") {
        const auto count = parse_integer(value);
        if (!count || *count < 1 || *count > client::concurrency_max) {
            return fmt::format("an integer between 1 and {}", client::concurrency_max);
        }
        config.runner.concurrency = static_cast<int>(*count);
    } else {
        return "unknown to this function";
    }
    return std::nullopt;
}

// A submit that is repeated with its key must find the jobs that the key stands for.
std::optional<std::string> too_short_retention(const Config& config) {
    const auto problem = [&](const std::string& name, Duration kept) -> std::optional<std::string> {
        if (kept == Duration{} || kept >= config.idempotency_memory) return std::nullopt;
        return fmt::format("{}: {}: {} is shorter than idempotency_hours, which is {}",
                           config.origins.at(name), name, duration_text(kept),
                           config.idempotency_memory.count());
    };
    auto found = problem("retention", config.retention);
    for (const auto& [outcome, kept] : config.retention_by_outcome) {
        if (!found) found = problem(fmt::format("retention_of.{}", to_text(outcome)), kept);
    }
    return found;
}

std::optional<std::string> half_of_tls(const Config& config) {
    const http::TlsFiles& tls = config.server.tls;
    if (tls.certificate.empty() == tls.key.empty()) return std::nullopt;
    const bool has_key = tls.certificate.empty();
    return fmt::format("{}: tls.{}: needs tls.{}, too",
                       config.origins.at(has_key ? "tls.key" : "tls.certificate"),
                       has_key ? "key" : "certificate", has_key ? "certificate" : "key");
}

}  // namespace

Result<Done> set_option(Config& config, std::string_view name, std::string_view value,
                        std::string_view origin) {
    if (const auto allowed = try_set(config, name, value)) {
        if (name == "auth.admin_token") {  // what is no secret was meant to be one
            return Error{ErrorCode::invalid, fmt::format("{}: must be {}", origin, *allowed), ""};
        }
        const std::string shown(name == "store_direct" ? shown_store(value) : value);
        return Error{ErrorCode::invalid,
                     fmt::format("{}: must be {}, not \"{}\"", origin, *allowed, shown), ""};
    }
    config.origins[std::string(name)] = origin;
    return Done{};
}

Result<Config> load_config(std::string_view toml_text, std::string_view file_name,
                           const EnvLookup& env) {
    Config config;
    std::vector<std::string> problems;
    read_toml(toml_text, file_name, config, problems);
    for (const auto& [variable, name] : variables) {
        const auto value = env(variable);
        if (!value || value->empty()) continue;
        const auto done = set_option(config, name, *value, variable);
        if (!done) problems.push_back(done.error().message);
    }
    if (const auto problem = too_short_retention(config)) problems.push_back(*problem);
    if (const auto problem = half_of_tls(config)) problems.push_back(*problem);
    if (problems.empty()) return config;
    return Error{ErrorCode::invalid, fmt::format("{}", fmt::join(problems, "\n")), ""};
}

Retention retention_of(const Config& config) {
    Retention retention(config.retention);
    for (const auto& [outcome, kept] : config.retention_by_outcome) retention.set(outcome, kept);
    return retention;
}

Result<Config> load_config_file(const std::optional<std::string>& flag, const EnvLookup& env) {
    const std::string path = flag ? *flag : env("SLUICE_CONFIG").value_or("");
    if (path.empty()) return load_config("", "", env);
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open() || file.bad()) {
        return Error{ErrorCode::invalid,
                     fmt::format("{}: the configuration file cannot be read", path), ""};
    }
    return load_config(text, path, env);
}

}  // namespace sluice
