#pragma once

#include <CLI/CLI.hpp>

#include "interfaces/cli/cli.hpp"

// The commands that are, configure or look into an engine on this machine.
namespace sluice {

void add_engine_commands(CLI::App& app, cli::Chosen& chosen);   // serve, dev
void add_config_commands(CLI::App& app, cli::Chosen& chosen);   // config show|check
void add_doctor_command(CLI::App& app, cli::Chosen& chosen);    // doctor
void add_audit_commands(CLI::App& app, cli::Chosen& chosen);    // audit verify|export
void add_migrate_commands(CLI::App& app, cli::Chosen& chosen);  // migrate status|up
void add_store_commands(CLI::App& app, cli::Chosen& chosen);    // store copy

}  // namespace sluice
