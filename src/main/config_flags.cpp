#include "main/config_flags.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>

namespace sluice {
namespace {

template <class T>
T value_or_throw(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return *std::move(result);
}

void apply(Config& config, const std::optional<std::string>& value, const char* name,
           const char* flag) {
    if (value) value_or_throw(set_option(config, name, *value, flag));
}

}  // namespace

void add_schema_flags(CLI::App& command, ConfigFlags& flags) {
    command.add_option("--config", flags.config, "Configuration file (TOML)")->type_name("FILE");
    command
        .add_option("--store-schema", flags.store_schema,
                    fmt::format("Schema of the tables on PostgreSQL (default {})",
                                postgres::default_schema))
        ->type_name("NAME");
}

void add_store_flag(CLI::App& command, ConfigFlags& flags) {
    add_schema_flags(command, flags);
    command
        .add_option("--store", flags.store,
                    "Where jobs are kept: sqlite:PATH, postgres://… or memory:")
        ->type_name("URL");
}

void add_config_flags(CLI::App& command, ConfigFlags& flags) {
    add_store_flag(command, flags);
    command.add_option("--listen", flags.listen, "Address to serve on (default 127.0.0.1:7070)")
        ->type_name("HOST:PORT");
    command
        .add_option("--concurrency", flags.concurrency,
                    "Jobs that this process runs at once (default 8)")
        ->type_name("N");
}

Config make_config(const ConfigFlags& flags) {
    Config config = value_or_throw(load_config_file(flags.config, environment));
    apply(config, flags.listen, "listen", "--listen");
    apply(config, flags.store, "store", "--store");
    apply(config, flags.store_schema, "store_schema", "--store-schema");
    apply(config, flags.concurrency, "runner.concurrency", "--concurrency");
    if (flags.no_auth) apply(config, "true", "no_auth", "--no-auth");
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
