#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "interfaces/cli/exit_code.hpp"
#include "interfaces/cli/token_office.hpp"

// The commands that talk to an engine. Each file registers its commands with their flags, and
// leaves in `Chosen` what is to be done once the command line has been read.
namespace sluice::cli {

struct Chosen {
    std::function<int()> action{};  // answers the exit code
};

void add_run_command(CLI::App& app, Chosen& chosen);      // run TYPE
void add_job_commands(CLI::App& app, Chosen& chosen);     // job …
void add_worker_commands(CLI::App& app, Chosen& chosen);  // worker list
void add_entity_commands(CLI::App& app, Chosen& chosen);  // entity …, site reset
void add_token_commands(CLI::App& app, Chosen& chosen, OpenStoreOffice open_store);  // token …
void add_work_command(CLI::App& app, Chosen& chosen);                                // work --exec
void add_completion_command(CLI::App& app, Chosen& chosen);  // completion SHELL, __complete

// "--" before the command of `work` means the same as "--exec". The words are those after the
// program's name.
void mark_command(std::vector<std::string>& words);

// The manual page, made from the commands that `app` has.
std::string manual_page(const CLI::App& app);

// Reads the command line. Answers an exit code when that was all: help was asked for, or it makes
// no sense, which is told with the nearest name that does.
std::optional<int> parse(CLI::App& app, int argc, const char* const* argv);

// Runs what was chosen, and turns an error of the client library into a message and an exit code.
int run_chosen(const Chosen& chosen);

}  // namespace sluice::cli
