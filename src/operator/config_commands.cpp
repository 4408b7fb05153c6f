#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "config/config_flags.hpp"
#include "config/show.hpp"
#include "interfaces/http/server/tls_identity.hpp"
#include "json/json_writer.hpp"
#include "operator/commands.hpp"
#include "operator/serve_access.hpp"

namespace sluice {
namespace {

struct ShowFlags {
    ConfigFlags config{};
    bool all = false;
    bool json = false;
};

void print_json(const std::vector<Setting>& settings) {
    const std::string out = json_object_text([&](JsonWriter& json) {
        json.objects("settings", settings, [&](const Setting& setting) {
            json.field("key", setting.key);
            json.field("value", setting.value);
            json.field("origin", setting.origin);
        });
    });
    fmt::print("{}\n", out);
}

void print_lines(const std::vector<Setting>& settings) {
    if (isatty(STDOUT_FILENO) == 0) {
        for (const auto& [key, value, origin] : settings) {
            fmt::print("{}\t{}\t{}\n", key, value, origin);
        }
        return;
    }
    std::size_t key_width = 0, value_width = 0;
    for (const auto& [key, value, origin] : settings) {
        key_width = std::max(key_width, key.size());
        value_width = std::max(value_width, std::min<std::size_t>(value.size(), 44));
    }
    for (const auto& [key, value, origin] : settings) {
        fmt::print("{:<{}}  {:<{}}  {}\n", key, key_width, value, value_width, origin);
    }
}

int show(const ShowFlags& flags) {
    const auto settings = settings_of(make_config(flags.config), flags.all);
    if (flags.json) {
        print_json(settings);
    } else {
        print_lines(settings);
    }
    return EXIT_SUCCESS;
}

int check(const ConfigFlags& flags) {
    const Config config = make_config(flags);
    const std::vector<std::string> problems = start_problems(config);
    if (!problems.empty()) throw std::runtime_error(fmt::format("{}", fmt::join(problems, "\n")));
    if (config.server.tls.is_given()) {
        const http::TlsIdentity identity(config.server.tls);
        const auto complaint = identity.complaint(std::chrono::system_clock::now());
        if (complaint) fmt::print(stderr, "warning: {}\n", *complaint);
    }
    const std::string file = flags.config.value_or(environment("SLUICE_CONFIG").value_or(""));
    fmt::print("{}: {} values set, {} job types with an executor; no problems\n",
               file.empty() ? "no configuration file" : file, config.origins.size(),
               config.executors.size());
    return EXIT_SUCCESS;
}

}  // namespace

void add_config_commands(cli::Command& program) {
    cli::Command& group = program.add_command("config", "Look at the configuration");

    cli::Command& show_command =
        group.add_command("show", "Every setting, its value, and where that comes from");
    ShowFlags& shown = show_command.runs(show);
    add_serve_flags(show_command, shown.config);
    show_command.add_flag("--all", &shown.all, "Also the job types that are as they come");
    show_command.add_flag("--json", &shown.json, "As one JSON document");
    show_command.set_footer(
        "Flags win over SLUICE_* variables, those over the file, and that over the defaults.\n\n"
        "Examples:\n"
        "  sluice config show\n"
        "  sluice config show --json");

    cli::Command& check_command =
        group.add_command("check", "Whether the configuration can be used; says every mistake");
    ConfigFlags& checked = check_command.runs(check);
    add_serve_flags(check_command, checked);
    check_command.set_footer(
        "Examples:\n"
        "  sluice config check");
}

}  // namespace sluice
