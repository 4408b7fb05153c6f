#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

// Questions to a tree of commands.
namespace sluice::cli {

// "sluice job list"
std::string command_path(const CLI::App& command);

// Those that people see, in the order in which they were added.
std::vector<const CLI::App*> visible_commands(const CLI::App& command);
std::vector<const CLI::Option*> visible_flags(const CLI::App& command);
std::vector<const CLI::Option*> positionals(const CLI::App& command);

// "--output"; the short form when there is no long one.
std::string flag_name(const CLI::Option& flag);

bool takes_value(const CLI::Option& flag);

}  // namespace sluice::cli
