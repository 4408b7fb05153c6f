#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "main/config.hpp"

namespace sluice {

inline constexpr const char* default_store = "sqlite:sluice-data/sluice.db";

// The flags that choose a configuration.
struct ConfigFlags {
    std::optional<std::string> config{};
    std::optional<std::string> listen{};
    std::optional<std::string> store{};
    std::optional<std::string> store_schema{};
    std::optional<std::string> concurrency{};
    bool no_auth = false;
};

void add_config_flags(CLI::App& command, ConfigFlags& flags);
void add_store_flag(CLI::App& command, ConfigFlags& flags);
void add_schema_flags(CLI::App& command, ConfigFlags& flags);  // for a store that is an argument

// What the flags, the environment and the file say together. Throws std::runtime_error with every
// problem, one per line.
Config make_config(const ConfigFlags& flags);

// The same for trying things out: no tokens, and workers for the demo and msuite types.
Config make_development_config(const ConfigFlags& flags);

std::optional<std::string> environment(const std::string& name);

}  // namespace sluice
