#pragma once

#include <optional>
#include <string>

#include "config/config.hpp"
#include "interfaces/cli/framework/command.hpp"

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

void add_config_flags(cli::Command& command, ConfigFlags& flags);
void add_serve_flags(cli::Command& command, ConfigFlags& flags);  // also --no-auth
void add_store_flag(cli::Command& command, ConfigFlags& flags);
void add_schema_flags(cli::Command& command,
                      ConfigFlags& flags);  // for a store that is an argument

// The help text of the flag of a setting: the first sentence of its row, and the default.
std::string flag_help(std::string_view key);

// The configuration from the flags, the environment and the file together. Throws
// std::runtime_error with every problem, one per line.
Config make_config(const ConfigFlags& flags);

// The same for development: no tokens, and workers for the demo and msuite types.
Config make_development_config(const ConfigFlags& flags);

std::optional<std::string> environment(const std::string& name);

}  // namespace sluice
