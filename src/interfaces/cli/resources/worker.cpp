#include "interfaces/cli/framework/cli.hpp"
#include "interfaces/cli/framework/listing.hpp"

namespace sluice::cli {
namespace {

int list_workers(const CommonFlags& flags) {
    Session session(flags);
    session.fields_or({}, worker_listing().fields);
    std::vector<std::string> workers;
    for (const client::WorkerSeen& worker : session.client().workers()) {
        workers.push_back(worker.json);
    }
    print_listing(session, worker_listing(), workers, {});
    return exit_ok;
}

}  // namespace

void add_worker_commands(Command& program) {
    Command& worker = program.add_command("worker", "Look at workers");
    Command& command =
        worker.add_command("list", "List who asked for jobs lately, and who holds some");
    CommonFlags& flags = command.runs(list_workers);
    add_common_flags(command, flags);
    command.set_footer(examples({
        "sluice worker list",
        "sluice worker list --json --fields worker_id,types,jobs",
    }));
}

}  // namespace sluice::cli
