#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "interfaces/cli/framework/cli.hpp"
#include "interfaces/worker/leash/leash.hpp"
#include "main/engine_commands.hpp"
#include "operator/commands.hpp"
#include "operator/store_office.hpp"

namespace sluice {
namespace {

constexpr const char* version = "sluice " SLUICE_VERSION;

void add_version_command(cli::Command& program) {
    program.add_command("version", "Say which version this is").runs([] {
        fmt::print("{}\n", version);
        return EXIT_SUCCESS;
    });
}

void add_manual_command(cli::Command& program) {
    program.add_hidden_command("__man", "Print the manual page").runs([&program] {
        fmt::print("{}", cli::manual_page(program));
        return EXIT_SUCCESS;
    });
}

int run(int argc, char** argv) {
    cli::Command program("sluice", "Sluice: a job engine for control planes", version);
    add_engine_commands(program);
    cli::add_run_command(program);
    cli::add_job_commands(program);
    cli::add_entity_commands(program);
    cli::add_work_command(program);
    cli::add_worker_commands(program);
    cli::add_limit_commands(program);
    cli::add_token_commands(program, open_store_office);
    add_config_commands(program);
    add_doctor_command(program);
    add_audit_commands(program);
    add_migrate_commands(program);
    add_store_commands(program);
    cli::add_completion_command(program);
    add_version_command(program);
    add_manual_command(program);
    return cli::run_command_line(program, argc, argv);
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
