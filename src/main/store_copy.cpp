// Moves an engine from a file to a database: store copy.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "infrastructure/postgres/import.hpp"
#include "infrastructure/sqlite/stopped_store.hpp"
#include "interfaces/cli/screen.hpp"
#include "main/config_flags.hpp"
#include "main/config_store_url.hpp"
#include "main/engine_commands.hpp"
#include "main/open_store.hpp"

namespace sluice {
namespace {

using postgres::Imported;
using postgres::ImportStage;

struct CopyFlags {
    ConfigFlags config{};
    std::string from{};
    std::string to{};
};

std::filesystem::path source_path(const std::string& url) {
    const std::string path = url.starts_with(sqlite_scheme) ? url.substr(sqlite_scheme.size()) : "";
    if (path.empty()) {
        throw std::runtime_error(
            fmt::format("cannot copy from {}: the source must be sqlite:PATH", shown_store(url)));
    }
    if (!std::filesystem::exists(path)) {
        throw std::runtime_error(fmt::format("there is no store at {}", path));
    }
    return path;
}

void check_target(const std::string& url) {
    if (is_postgres(url)) return;
    throw std::runtime_error(fmt::format(
        "cannot copy to {}: the target must be postgres://USER:PASSWORD@HOST:5432/DATABASE",
        shown_store(url)));
}

// One line on a terminal that is written over; nothing elsewhere.
class Progress {
  public:
    void show(ImportStage stage, const Imported& so_far) const {
        if (!screen_.can_redraw) return;
        const char* const verb = stage == ImportStage::copying ? "copied" : "checked";
        write_to(screen_, fmt::format("\r\x1b[K{} {} jobs, {} events, {} log lines", verb,
                                      so_far.jobs, so_far.events, so_far.lines));
    }
    ~Progress() {
        if (screen_.can_redraw) write_to(screen_, "\r\x1b[K");
    }

  private:
    const cli::Screen screen_ = cli::screen_on(STDERR_FILENO, false);
};

int copy(const CopyFlags& flags) {
    check_target(flags.to);
    ConfigFlags chosen = flags.config;
    chosen.store = flags.to;
    const Config config = make_config(chosen);
    sqlite::StoppedStore source(source_path(flags.from));
    Imported copied;
    {
        const Progress progress;
        copied = postgres::import_store(
            source, database_of(config),
            [&](ImportStage stage, const auto& sums) { progress.show(stage, sums); });
    }
    fmt::print(
        "{} jobs, {} events, {} log lines, {} idempotency keys, {} entities, {} of their events: "
        "copied to {}, compared, every chain holds\n",
        copied.jobs, copied.events, copied.lines, copied.requests, copied.entities,
        copied.entity_events, shown_store(flags.to));
    return EXIT_SUCCESS;
}

}  // namespace

void add_store_commands(CLI::App& app, cli::Chosen& chosen) {
    CLI::App* group = app.add_subcommand("store", "Move what an engine keeps");
    group->require_subcommand(1);

    const auto flags = std::make_shared<CopyFlags>();
    CLI::App* command =
        group->add_subcommand("copy", "Copy a whole store from SQLite to PostgreSQL");
    command->add_option("FROM", flags->from, "sqlite:PATH")->required();
    command->add_option("TO", flags->to, "postgres://USER:PASSWORD@HOST:5432/DATABASE")->required();
    add_schema_flags(*command, flags->config);
    command->footer(
        "While no engine runs on either. All or nothing is copied: jobs, history, logs, leases,\n"
        "idempotency keys and entities. The source stays as it is. Leases get a fresh term, so\n"
        "that workers go on with their jobs when an engine serves the target in time.\n\n"
        "Examples:\n"
        "  PGPASSWORD=secret sluice store copy sqlite:sluice.db postgres://sluice@db/sluice");
    command->callback([flags, &chosen] { chosen.action = [flags] { return copy(*flags); }; });
}

}  // namespace sluice
