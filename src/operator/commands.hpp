#pragma once

#include "interfaces/cli/framework/cli.hpp"

// The commands that configure or look into an engine on this machine.
namespace sluice {

void add_config_commands(cli::Command& program);   // config show|check
void add_doctor_command(cli::Command& program);    // doctor
void add_audit_commands(cli::Command& program);    // audit verify|export
void add_migrate_commands(cli::Command& program);  // migrate status|up
void add_store_commands(cli::Command& program);    // store copy

}  // namespace sluice
