#pragma once

#include "interfaces/cli/framework/command.hpp"

namespace sluice::cli {

// The commands about rules: each function adds one group of them below the program, or some
// commands to the group `limit`.
void add_rule_commands(Command& limit);  // list, get, add, change, lift
void add_history_command(Command& limit);
void add_question_commands(Command& limit);  // check, can-start
void add_quota_commands(Command& program);
void add_source_commands(Command& program);
void add_maintenance_commands(Command& program);
void add_tenant_commands(Command& program);

}  // namespace sluice::cli
