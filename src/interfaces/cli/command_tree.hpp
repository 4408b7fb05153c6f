#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "interfaces/cli/cli.hpp"

namespace sluice::cli {

// What --help shows at its end. Every line must work as it stands, after `sluice dev`.
std::string examples(const std::vector<std::string>& lines);

// Has the command choose `action(*flags)`.
template <class Flags>
void on_command(CLI::App& command, Chosen& chosen, const std::shared_ptr<Flags>& flags,
                int (*action)(const Flags&)) {
    command.callback(
        [&chosen, flags, action] { chosen.action = [flags, action] { return action(*flags); }; });
}

void add_job_list_command(CLI::App& job, Chosen& chosen);
void add_job_get_command(CLI::App& job, Chosen& chosen);
void add_job_logs_command(CLI::App& job, Chosen& chosen);
void add_job_wait_command(CLI::App& job, Chosen& chosen);
void add_job_watch_command(CLI::App& job, Chosen& chosen);
void add_job_cancel_command(CLI::App& job, Chosen& chosen);
void add_job_replay_command(CLI::App& job, Chosen& chosen);
void add_job_explain_command(CLI::App& job, Chosen& chosen);
void add_job_events_command(CLI::App& job, Chosen& chosen);

}  // namespace sluice::cli
