#pragma once

#include <CLI/CLI.hpp>
#include <functional>

// The commands that talk to an engine. Each file registers its commands with their flags, and
// leaves in `Chosen` what is to be done once the command line has been read.
namespace sluice::cli {

struct Chosen {
    std::function<int()> action{};  // answers the exit code
};

// Exit codes; docs/cli.md explains them.
enum ExitCode {
    exit_ok = 0,
    exit_error = 1,
    exit_usage = 2,
    exit_job_failed = 3,  // failed or timed_out
    exit_denied = 4,      // authentication
    exit_not_found = 5,
    exit_conflict = 6,  // the state does not allow it, or a history is broken
    exit_wait_timed_out = 7,
    exit_job_canceled = 8,
    exit_rate_limited = 9,
    exit_unreachable = 10,
    exit_interrupted = 130,
};

void add_run_command(CLI::App& app, Chosen& chosen);         // run TYPE
void add_job_commands(CLI::App& app, Chosen& chosen);        // job …
void add_worker_commands(CLI::App& app, Chosen& chosen);     // worker list
void add_work_command(CLI::App& app, Chosen& chosen);        // work --exec
void add_completion_command(CLI::App& app, Chosen& chosen);  // completion SHELL, __complete

// The manual page, made from the commands that `app` has.
std::string manual_page(const CLI::App& app);

// Runs what was chosen, and turns an error of the client library into a message and an exit code.
int run_chosen(const Chosen& chosen);

}  // namespace sluice::cli
