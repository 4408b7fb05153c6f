#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <cstring>
#include <string>

#include "interfaces/cli/cli.hpp"
#include "interfaces/worker/leash.hpp"
#include "main/engine_commands.hpp"
#include "main/store_office.hpp"

namespace sluice {
namespace {

void add_version_command(CLI::App& app, cli::Chosen& chosen) {
    CLI::App* command = app.add_subcommand("version", "Say which version this is");
    command->callback([&chosen] {
        chosen.action = [] {
            fmt::print("sluice {}\n", SLUICE_VERSION);
            return EXIT_SUCCESS;
        };
    });
}

void add_manual_command(CLI::App& app, cli::Chosen& chosen) {
    CLI::App* command = app.add_subcommand("__man", "Print the manual page");
    command->group("");  // not shown
    command->callback([&app, &chosen] {
        chosen.action = [&app] {
            fmt::print("{}", cli::manual_page(app));
            return EXIT_SUCCESS;
        };
    });
}

int run(int argc, char** argv) {
    CLI::App app{"Sluice: a job engine for control planes", "sluice"};
    app.set_version_flag("--version", std::string("sluice ") + SLUICE_VERSION);
    app.require_subcommand(1);
    cli::Chosen chosen;
    add_engine_commands(app, chosen);
    cli::add_run_command(app, chosen);
    cli::add_job_commands(app, chosen);
    cli::add_entity_commands(app, chosen);
    cli::add_work_command(app, chosen);
    cli::add_worker_commands(app, chosen);
    cli::add_token_commands(app, chosen, open_store_office);
    add_config_commands(app, chosen);
    add_doctor_command(app, chosen);
    add_audit_commands(app, chosen);
    add_migrate_commands(app, chosen);
    add_store_commands(app, chosen);
    cli::add_completion_command(app, chosen);
    add_version_command(app, chosen);
    add_manual_command(app, chosen);

    if (const auto code = cli::parse(app, argc, argv)) return *code;
    return cli::run_chosen(chosen);
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "__leash") == 0) return sluice::worker::run_leash();
    try {
        return sluice::run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "sluice: {}\n", error.what());
        return sluice::cli::exit_error;
    }
}
