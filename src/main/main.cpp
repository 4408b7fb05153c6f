#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

#include "application/verify_history.hpp"
#include "main/open_store.hpp"
#include "main/serve.hpp"

namespace sluice {
namespace {

// Exit codes; docs/operations.md lists them.
constexpr int exit_error = 1;
constexpr int exit_usage = 2;
constexpr int exit_broken_history = 6;

std::optional<std::string> environment(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
}

template <class T>
T value_or_throw(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return *std::move(result);
}

struct ServeFlags {
    std::optional<std::string> config;
    std::optional<std::string> listen;
    std::optional<std::string> store;
    bool no_auth = false;
};

void add_flags(CLI::App& command, ServeFlags& flags) {
    command.add_option("--config", flags.config, "Configuration file (TOML)");
    command.add_option("--listen", flags.listen,
                       "Address to serve on, HOST:PORT (default 127.0.0.1:7070)");
    command.add_option("--store", flags.store, "Where jobs are kept: sqlite:PATH or memory:");
}

Config make_config(const ServeFlags& flags, bool for_development) {
    Config config = value_or_throw(load_config_file(flags.config, environment));
    if (flags.listen) value_or_throw(set_option(config, "listen", *flags.listen, "--listen"));
    if (flags.store) value_or_throw(set_option(config, "store", *flags.store, "--store"));
    if (flags.no_auth || for_development) config.no_auth = true;
    if (config.store.empty()) config.store = "sqlite:sluice-data/sluice.db";
    return config;
}

int verify(const std::string& store) {
    const auto reader = open_reader(store);
    const Verification result = verify_history(*reader);
    if (result.first_break) {
        fmt::print(stderr, "job {} event {}: {}\n", to_text(result.first_break->job),
                   result.first_break->seq, result.first_break->what);
        return exit_broken_history;
    }
    fmt::print("{} jobs, {} events: every chain holds\n", result.jobs, result.events);
    return EXIT_SUCCESS;
}

int run(int argc, char** argv) {
    CLI::App app{"Sluice: a job engine for control planes"};
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("sluice ") + SLUICE_VERSION);
    ServeFlags flags;
    CLI::App* serve_command = app.add_subcommand("serve", "Run the engine");
    add_flags(*serve_command, flags);
    serve_command->add_flag("--no-auth", flags.no_auth,
                            "Let everybody on this machine in (loopback only)");
    CLI::App* dev_command =
        app.add_subcommand("dev", "Run the engine on this machine, for trying it out");
    add_flags(*dev_command, flags);
    CLI::App* audit = app.add_subcommand("audit", "Look into the history");
    audit->require_subcommand(1);
    CLI::App* verify_command = audit->add_subcommand("verify", "Check every job's chain of events");
    std::string store = "sqlite:sluice-data/sluice.db";
    verify_command->add_option("--store", store, "The store to check (may be in use)")
        ->capture_default_str();
    CLI::App* version = app.add_subcommand("version", "Say which version this is");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? EXIT_SUCCESS : exit_usage;
    }
    if (serve_command->parsed()) return serve(make_config(flags, false), false);
    if (dev_command->parsed()) return serve(make_config(flags, true), true);
    if (verify_command->parsed()) return verify(store);
    if (version->parsed()) fmt::print("sluice {}\n", SLUICE_VERSION);
    return EXIT_SUCCESS;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    try {
        return sluice::run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "sluice: {}\n", error.what());
        return sluice::exit_error;
    }
}
