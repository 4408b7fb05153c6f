#include "config/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/settings.hpp"
#include "config/store_url.hpp"
#include "config/values.hpp"

namespace sluice {
namespace {

// "limits.idle_time" as the path of a table, which may be empty, and a key in it.
std::pair<std::string, std::string> path_and_key(std::string_view setting) {
    const std::size_t dot = setting.rfind('.');
    if (dot == setting.npos) return {"", std::string(setting)};
    return {std::string(setting.substr(0, dot)), std::string(setting.substr(dot + 1))};
}

// A value from a variable or a flag, as the file would have it. A text that is no value of the kind
// stays a text, for the reader to refuse.
TomlValue value_of_text(TomlValue::Kind kind, std::string_view text) {
    TomlValue value{.kind = TomlValue::Kind::text, .text = std::string(text)};
    if (kind == TomlValue::Kind::integer) {
        if (const auto integer = parse_integer(text)) {
            value.kind = kind;
            value.integer = *integer;
        }
    } else if (kind == TomlValue::Kind::flag) {
        if (const auto flag = parse_flag(text)) {
            value.kind = kind;
            value.flag = *flag;
        }
    }
    return value;
}

void check_leases(Section& table, const Config& config) {
    if (config.default_lease <= config.max_lease) return;
    const TomlValue* value = table.find(table.has("default") ? "default" : "max");
    table.problem(
        "default", *value,
        fmt::format("{} is longer than lease.max, which is {}", duration_text(config.default_lease),
                    duration_text(config.max_lease)));
}

void read_file(const TomlValue& file, Notes& notes, Config& out) {
    Sections sections(file, notes);
    if (sections.at("auth.jwt").exists()) out.jwt.emplace();
    for (const Row<Config>& row : setting_rows()) {
        const auto [path, key] = path_and_key(row.key);
        Section& section = sections.at(path);
        if (!row.in_file) {
            section.forbid(key, fmt::format("is not taken from files: use {0}_file or {1}", row.key,
                                            row.outside.variable));
            continue;
        }
        if (!row.needed.empty()) section.require(key, row.needed);
        row.form.read(section, key, out);
    }
    check_leases(sections.at("lease"), out);
    check_deploy(sections, out.deploy);
    read_governance(sections.at("governance"), out.governance);
    Section& root = sections.at("");
    read_nodes(root.section("nodes"), out.nodes);
    read_job_types(root, out);
    read_entity_kinds(root.section("entities"), out.entity_kinds);
    sections.close();
}

// Overrides the settings that the text names, and returns each problem, in the order of the text.
std::vector<std::string> read_toml(std::string_view text, std::string_view file_name, Config& out) {
    Notes notes(file_name, out.origins);
    const auto parsed = parse_toml(text);
    if (const auto* problem = std::get_if<TomlProblem>(&parsed)) {
        notes.problem(problem->line, "", problem->what);
    } else {
        read_file(std::get<TomlValue>(parsed), notes, out);
    }
    return notes.problems();
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

Result<Done> set_option(Config& config, std::string_view key, std::string_view value,
                        std::string_view origin) {
    const Row<Config>& row = setting_row(key);
    TomlValue table;
    table.children.push_back(value_of_text(row.form.kind, value));
    table.children.back().key = path_and_key(key).second;
    Notes notes(origin);
    Section section(&table, "", notes);
    row.form.read(section, table.children.back().key, config);
    const std::vector<std::string> problems = notes.problems();
    if (problems.empty()) {
        config.origins[row.key] = origin;
        return Done{};
    }
    if (row.outside.allowed.empty()) return Error{ErrorCode::invalid, problems.front(), ""};
    return Error{ErrorCode::invalid,
                 fmt::format("{}: must be {}, not \"{}\"", origin, row.outside.allowed,
                             row.form.secrecy == Secrecy::part ? shown_store(value) : value),
                 ""};
}

Result<Config> load_config(std::string_view toml_text, std::string_view file_name,
                           const EnvLookup& env) {
    Config config;
    std::vector<std::string> problems = read_toml(toml_text, file_name, config);
    for (const Row<Config>& row : setting_rows()) {
        if (row.outside.variable.empty()) continue;
        const auto value = env(row.outside.variable);
        if (!value || value->empty()) continue;
        const auto done = set_option(config, row.key, *value, row.outside.variable);
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
    const auto text = read_bytes(path);
    if (text) return load_config(*text, path, env);
    return Error{ErrorCode::invalid,
                 fmt::format("{}: the configuration file cannot be read: {}; check {}", path,
                             text.error().message, flag ? "--config" : "SLUICE_CONFIG"),
                 ""};
}

}  // namespace sluice
