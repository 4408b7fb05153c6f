#include "interfaces/cli/cli.hpp"
#include "interfaces/cli/command_tree.hpp"

namespace sluice::cli {

void add_job_commands(CLI::App& app, Chosen& chosen) {
    CLI::App* job = app.add_subcommand("job", "Look at jobs and change them");
    job->require_subcommand(1);
    add_job_list_command(*job, chosen);
    add_job_get_command(*job, chosen);
    add_job_logs_command(*job, chosen);
    add_job_wait_command(*job, chosen);
    add_job_watch_command(*job, chosen);
    add_job_cancel_command(*job, chosen);
    add_job_replay_command(*job, chosen);
    add_job_explain_command(*job, chosen);
    add_job_events_command(*job, chosen);
}

}  // namespace sluice::cli
