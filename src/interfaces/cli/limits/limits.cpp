#include "interfaces/cli/framework/cli.hpp"
#include "interfaces/cli/limits/limit_commands.hpp"

namespace sluice::cli {

void add_limit_commands(Command& program) {
    Command& limit = program.add_command("limit", "Look at what may run now, and change it");
    add_rule_commands(limit);
    add_history_command(limit);
    add_question_commands(limit);
    add_quota_commands(program);
    add_source_commands(program);
    add_maintenance_commands(program);
    add_tenant_commands(program);
}

}  // namespace sluice::cli
