#pragma once

#include "interfaces/cli/framework/command.hpp"
#include "interfaces/cli/framework/token_office.hpp"
#include "interfaces/cli/terminal/exit_code.hpp"

// The commands that talk to an engine, each with its flags.
namespace sluice::cli {

void add_run_command(Command& program);      // run TYPE
void add_job_commands(Command& program);     // job …
void add_worker_commands(Command& program);  // worker list
void add_entity_commands(Command& program);  // entity …, site reset
void add_token_commands(Command& program, const OpenStoreOffice& open_store);  // token …
void add_limit_commands(Command& program);  // limit …, quota …, source …, maintenance …, tenant …
void add_work_command(Command& program);        // work --exec
void add_completion_command(Command& program);  // completion SHELL, __complete

// The manual page, made from the commands that the program has.
std::string manual_page(const Command& program);

// Reads the command line and runs the command that it names. Returns the exit code; an error of the
// command line or of the client library becomes a message.
int run_command_line(const Command& program, int argc, const char* const* argv);

}  // namespace sluice::cli
