#include "main/engine_commands.hpp"

#include "config/config_flags.hpp"
#include "main/serve.hpp"

namespace sluice {

void add_engine_commands(cli::Command& program) {
    cli::Command& dev =
        program.add_command("dev", "Run an engine on this machine, for trying it out");
    add_config_flags(dev, dev.runs(+[](const ConfigFlags& flags) {
        return serve(make_development_config(flags), true);
    }));
    dev.set_footer(
        "Keeps its data in ./sluice-data, lets everybody on this machine in, and runs the "
        "demo\n"
        "job types itself. The jobs of apps are simulated.\n\n"
        "Examples:\n"
        "  sluice dev\n"
        "  sluice dev --listen 127.0.0.1:8080 --store memory:");

    cli::Command& command = program.add_command("serve", "Run an engine");
    ConfigFlags& flags =
        command.runs(+[](const ConfigFlags& given) { return serve(make_config(given), false); });
    add_serve_flags(command, flags);
    command.set_footer(
        "Examples:\n"
        "  sluice serve --no-auth --store sqlite:jobs/sluice.db\n"
        "  sluice serve --no-auth --config docs/sluice.example.toml");
}

}  // namespace sluice
