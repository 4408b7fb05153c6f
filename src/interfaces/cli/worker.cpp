#include "interfaces/cli/cli.hpp"
#include "interfaces/cli/command_tree.hpp"
#include "interfaces/cli/listing.hpp"

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

void add_worker_commands(CLI::App& app, Chosen& chosen) {
    CLI::App* worker = app.add_subcommand("worker", "Look at workers");
    worker->require_subcommand(1);
    const auto flags = std::make_shared<CommonFlags>();
    CLI::App* command =
        worker->add_subcommand("list", "List who asked for jobs lately, and who holds some");
    add_common_flags(*command, *flags);
    command->footer(examples({
        "sluice worker list",
        "sluice worker list --json --fields worker_id,types,jobs",
    }));
    on_command(*command, chosen, flags, list_workers);
}

}  // namespace sluice::cli
