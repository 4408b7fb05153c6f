#include "main/engine_commands.hpp"

#include "main/config_flags.hpp"
#include "main/serve.hpp"

namespace sluice {

void add_engine_commands(CLI::App& app, cli::Chosen& chosen) {
    const auto flags = std::make_shared<ConfigFlags>();
    CLI::App* dev = app.add_subcommand("dev", "Run an engine on this machine, for trying it out");
    add_config_flags(*dev, *flags);
    dev->footer(
        "Keeps its data in ./sluice-data, lets everybody on this machine in, and runs the demo\n"
        "job types itself. The jobs of apps are simulated.\n\n"
        "Examples:\n"
        "  sluice dev\n"
        "  sluice dev --listen 127.0.0.1:8080 --store memory:");
    dev->callback([flags, &chosen] {
        chosen.action = [flags] { return serve(make_development_config(*flags), true); };
    });

    CLI::App* command = app.add_subcommand("serve", "Run an engine");
    add_config_flags(*command, *flags);
    command->add_flag("--no-auth", flags->no_auth,
                      "Let everybody on this machine in (loopback only)");
    command->footer(
        "Examples:\n"
        "  sluice serve --no-auth --store sqlite:jobs/sluice.db\n"
        "  sluice serve --no-auth --config docs/sluice.example.toml");
    command->callback([flags, &chosen] {
        chosen.action = [flags] { return serve(make_config(*flags), false); };
    });
}

}  // namespace sluice
