#include "config/config_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "config/settings.hpp"

namespace sluice {
namespace {

template <class T>
T value_or_throw(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return *std::move(result);
}

// The flag of a setting, and the text that it sets.
struct SettingFlag {
    const char* key;
    std::optional<std::string> ConfigFlags::*value;
};
constexpr SettingFlag setting_flags[] = {{"listen", &ConfigFlags::listen},
                                         {"store", &ConfigFlags::store},
                                         {"store_schema", &ConfigFlags::store_schema},
                                         {"runner.concurrency", &ConfigFlags::concurrency}};

// Adds the flag of a setting, as its row describes it.
void add_flag_of(cli::Command& command, ConfigFlags& flags, std::string_view key) {
    for (const SettingFlag& setting : setting_flags) {
        if (setting.key != key) continue;
        const Row<Config>& row = setting_row(key);
        command.add_option(row.outside.flag, &(flags.*setting.value), row.outside.argument,
                           flag_help(key));
    }
}

}  // namespace

std::string flag_help(std::string_view key) {
    const Row<Config>& row = setting_row(key);
    const std::string help = row.help.substr(0, std::min(row.help.find(". "), row.help.size() - 1));
    const Config defaults;
    Listing shown(defaults.origins);
    row.form.show(shown, {row.key}, defaults);
    std::string value = shown.take().front().value;
    if (row.form.kind == TomlValue::Kind::flag || value == "\"\"") return help;
    std::erase(value, '"');
    return fmt::format("{} (default {})", help, value);
}

void add_schema_flags(cli::Command& command, ConfigFlags& flags) {
    command.add_option("--config", &flags.config, "FILE", "Configuration file (TOML)");
    add_flag_of(command, flags, "store_schema");
}

void add_store_flag(cli::Command& command, ConfigFlags& flags) {
    add_schema_flags(command, flags);
    add_flag_of(command, flags, "store");
}

void add_config_flags(cli::Command& command, ConfigFlags& flags) {
    add_store_flag(command, flags);
    add_flag_of(command, flags, "listen");
    add_flag_of(command, flags, "runner.concurrency");
}

void add_serve_flags(cli::Command& command, ConfigFlags& flags) {
    add_config_flags(command, flags);
    command.add_flag("--no-auth", &flags.no_auth, flag_help("no_auth"));
}

Config make_config(const ConfigFlags& flags) {
    Config config = value_or_throw(load_config_file(flags.config, environment));
    for (const SettingFlag& setting : setting_flags) {
        const auto& value = flags.*setting.value;
        const std::string& name = setting_row(setting.key).outside.flag;
        if (value) value_or_throw(set_option(config, setting.key, *value, name));
    }
    if (flags.no_auth) value_or_throw(set_option(config, "no_auth", "true", "--no-auth"));
    if (config.store.empty()) config.store = default_store;
    return config;
}

Config make_development_config(const ConfigFlags& flags) {
    Config config = make_config(flags);
    config.no_auth = true;
    config.origins["no_auth"] = "sluice dev";
    const auto bind = [&](const std::string& type, worker::Executor executor) {
        if (!config.executors.emplace(type, std::move(executor)).second) return;
        config.origins["job_types." + type + ".executor.kind"] = "sluice dev";
    };
    for (const std::string& type : worker::demo_types()) bind(type, worker::DemoExecutor{});
    for (const std::string& type : worker::msuite_types()) bind(type, worker::MsuiteExecutor{});
    for (const std::string& type : worker::app_types()) bind(type, worker::AppExecutor{});
    return config;
}

std::optional<std::string> environment(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace sluice
