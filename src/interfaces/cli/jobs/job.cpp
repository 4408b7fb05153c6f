#include "interfaces/cli/framework/cli.hpp"
#include "interfaces/cli/jobs/job_commands.hpp"

namespace sluice::cli {

void add_job_commands(Command& program) {
    Command& job = program.add_command("job", "Look at jobs and change them");
    add_job_list_command(job);
    add_job_get_command(job);
    add_job_logs_command(job);
    add_job_wait_command(job);
    add_job_watch_command(job);
    add_job_cancel_command(job);
    add_job_replay_command(job);
    add_job_release_lease_command(job);
    add_job_explain_command(job);
    add_job_events_command(job);
}

}  // namespace sluice::cli
