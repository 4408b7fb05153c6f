// Moves an engine from a file to a database: store copy.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "config/config_flags.hpp"
#include "config/store_url.hpp"
#include "infrastructure/postgres/maintenance/import.hpp"
#include "infrastructure/sqlite/reading/stopped_store.hpp"
#include "interfaces/cli/terminal/screen.hpp"
#include "operator/commands.hpp"
#include "operator/open_store.hpp"

namespace sluice {
namespace {

using postgres::Imported;
using postgres::ImportStage;

struct CopyFlags {
    ConfigFlags config{};
    std::string from{};
    std::string to{};
};

void check_direction(const std::string& from, const std::string& to) {
    if (from.starts_with(sqlite_scheme) && is_postgres(to)) return;
    throw std::runtime_error(
        fmt::format("cannot copy from {} to {}: the source must be sqlite:PATH, and the target "
                    "postgres://USER:PASSWORD@HOST:5432/DATABASE",
                    shown_store(from), shown_store(to)));
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
    check_direction(flags.from, flags.to);
    ConfigFlags chosen = flags.config;
    chosen.store = flags.to;
    const Config config = make_config(chosen);
    sqlite::StoppedStore source(existing_path(flags.from));
    Imported copied;
    {
        const Progress progress;
        copied = postgres::import_store(
            source, database_of(config),
            [&](ImportStage stage, const auto& sums) { progress.show(stage, sums); });
    }
    fmt::print(
        "{} jobs, {} events, {} log lines, {} idempotency keys, {} entities (access tokens are "
        "some), {} of "
        "their events: copied to {}, compared, every chain holds\n",
        copied.jobs, copied.events, copied.lines, copied.requests, copied.entities,
        copied.entity_events, shown_store(flags.to));
    return EXIT_SUCCESS;
}

}  // namespace

void add_store_commands(cli::Command& program) {
    cli::Command& group = program.add_command("store", "Move what an engine keeps");

    cli::Command& command =
        group.add_command("copy", "Copy a whole store from SQLite to PostgreSQL");
    CopyFlags& flags = command.runs(copy);
    command.add_argument("FROM", &flags.from, "sqlite:PATH");
    command.add_argument("TO", &flags.to, "postgres://USER:PASSWORD@HOST:5432/DATABASE");
    add_schema_flags(command, flags.config);
    command.set_footer(
        "While no engine runs on either. All or nothing is copied: jobs, history, logs, leases,\n"
        "idempotency keys and entities, with access tokens. The source stays as it is. Leases get\n"
        "a fresh term, so that workers go on with their jobs when an engine serves the target in\n"
        "time.\n\n"
        "Examples:\n"
        "  PGPASSWORD=secret sluice store copy sqlite:sluice.db postgres://sluice@db/sluice");
}

}  // namespace sluice
