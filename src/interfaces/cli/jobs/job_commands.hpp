#pragma once

#include "interfaces/cli/framework/command.hpp"

namespace sluice::cli {

// Each adds one command below `sluice job`.
void add_job_list_command(Command& job);
void add_job_get_command(Command& job);
void add_job_logs_command(Command& job);
void add_job_wait_command(Command& job);
void add_job_watch_command(Command& job);
void add_job_cancel_command(Command& job);
void add_job_replay_command(Command& job);
void add_job_release_lease_command(Command& job);
void add_job_explain_command(Command& job);
void add_job_events_command(Command& job);

}  // namespace sluice::cli
