// The commands that look into a store on this machine: audit and migrate.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "application/audit/verify_history.hpp"
#include "config/config_flags.hpp"
#include "infrastructure/system/system_clock.hpp"
#include "interfaces/http/native/job_json.hpp"
#include "interfaces/http/requests/log_lines.hpp"
#include "operator/commands.hpp"
#include "operator/open_store.hpp"

namespace sluice {
namespace {

constexpr int page = 500;

int verify(const ConfigFlags& flags) {
    const auto reader = open_reader(make_config(flags));
    const Verification result = verify_history(*reader);
    for (const HistoryBreak& found : result.breaks) {
        fmt::print(stderr, "{} event {}: {}\n", subject_of(found), found.seq, found.what);
    }
    if (const std::size_t breaks = result.breaks.size(); breaks > 0) {
        fmt::print(stderr, "{}{} broken; docs/operations.md (Damaged rows) says what to do\n",
                   breaks < breaks_max ? "" : "at least ", breaks);
        return cli::exit_conflict;
    }
    fmt::print("{} jobs, {} events, {} entities with {} events: every chain holds\n", result.jobs,
               result.events, result.entities, result.entity_events);
    if (result.partly_covered > 0) {
        fmt::print(
            "{} of them were begun by an older version, which covered less: no log text, and "
            "no entities\n",
            result.partly_covered);
    }
    return EXIT_SUCCESS;
}

// Writes lines to a file or to standard output, and fails when one could not be written.
class LineFile {
  public:
    explicit LineFile(const std::string& path) : path_(path) {
        if (path.empty()) return;
        file_ = std::fopen(path.c_str(), "wx");
        if (file_ == nullptr) {
            const bool is_there = errno == EEXIST;
            throw std::runtime_error(fmt::format(
                "cannot create {}: {}{}", path, std::strerror(errno),
                is_there ? "; the export overwrites no file, choose another name" : ""));
        }
    }
    ~LineFile() {
        if (file_ != stdout) std::fclose(file_);
    }
    LineFile(const LineFile&) = delete;
    LineFile& operator=(const LineFile&) = delete;

    void write(std::string& line) {
        line += '\n';
        const bool is_written = std::fwrite(line.data(), 1, line.size(), file_) == line.size();
        if (!is_written && write_error_ == 0) write_error_ = errno;
        line.clear();
    }
    void finish() {
        if (std::fflush(file_) != 0 && write_error_ == 0) write_error_ = errno;
        if (write_error_ == 0 && std::ferror(file_) == 0) return;
        throw std::runtime_error(
            fmt::format("cannot write the export to {}: {}; it is not complete, export again",
                        path_.empty() ? "standard output" : path_,
                        std::strerror(write_error_ == 0 ? EIO : write_error_)));
    }

  private:
    std::string path_;
    std::FILE* file_ = stdout;
    int write_error_ = 0;  // errno of the first write that failed
};

struct ExportFlags {
    ConfigFlags config{};
    std::string job{};
    std::string file{};
    bool logs = false;
};

class Exporter {
  public:
    Exporter(JobReader& reader, LineFile& file, bool logs, SecretMarks secrets)
        : reader_(reader), file_(file), logs_(logs), secrets_(std::move(secrets)) {}

    void add(const Job& job) {
        ++jobs_;
        line([&](JsonWriter& json) {
            json.field("record", "job");
            json.key("job");
            http::native::write_job(json, job, secrets_);
        });
        events_ += add_all(
            job.spec->id, "event",
            [&](std::int64_t after) { return reader_.events(job.spec->id, after, page); },
            http::native::write_event);
        if (!logs_) return;
        lines_ += add_all(
            job.spec->id, "log",
            [&](std::int64_t after) { return reader_.logs(job.spec->id, after, page); },
            http::write_log_line);
    }

    // A file without this record is not whole.
    void finish() {
        line([&](JsonWriter& json) {
            json.field("record", "end");
            json.field("jobs", jobs_);
            json.field("events", events_);
            json.field("logs", lines_);
        });
        file_.finish();
        fmt::print(stderr, "{} jobs, {} events, {} log lines\n", jobs_, events_, lines_);
    }

  private:
    template <class Fill>
    void line(Fill fill) {
        JsonWriter json(text_);
        json.begin_object();
        fill(json);
        json.end_object();
        file_.write(text_);
    }

    template <class Read, class Write>
    std::int64_t add_all(JobId job, const char* record, Read read, Write write) {
        std::int64_t count = 0;
        for (std::int64_t after = 0;;) {
            const auto items = read(after);
            for (const auto& item : items) {
                line([&](JsonWriter& json) {
                    json.field("record", record);
                    json.field("job_id", job);
                    json.key(record);
                    write(json, item);
                });
                after = item.seq;
            }
            count += static_cast<std::int64_t>(items.size());
            if (items.size() < page) return count;
        }
    }

    JobReader& reader_;
    LineFile& file_;
    bool logs_;
    SecretMarks secrets_;
    std::string text_;
    std::int64_t jobs_ = 0;
    std::int64_t events_ = 0;
    std::int64_t lines_ = 0;
};

int export_history(const ExportFlags& flags) {
    const Config config = make_config(flags.config);
    const auto reader = open_reader(config);
    const auto only = parse_job_id(flags.job);
    if (!flags.job.empty() && !only) {
        fmt::print(stderr, "sluice: --job: \"{}\" is not a job id of 24 hex digits\n", flags.job);
        return cli::exit_usage;
    }
    const std::optional<Job> chosen = only ? reader->find_one(*only) : std::nullopt;
    if (only && !chosen) {
        fmt::print(stderr, "sluice: there is no job {}\n", flags.job);
        return cli::exit_not_found;
    }
    LineFile file(flags.file);
    Exporter exporter(*reader, file, flags.logs,
                      SecretMarks(config.secret_names, config.job_types));
    if (chosen) {
        exporter.add(*chosen);
    } else {
        for (JobId after{};;) {
            const auto ids = reader->ids_after(after, page);
            if (ids.empty()) break;
            for (const auto& job : reader->find(ids)) {
                if (job) exporter.add(*job);
            }
            after = ids.back();
        }
    }
    exporter.finish();
    return EXIT_SUCCESS;
}

int show_migrations(const ConfigFlags& flags) {
    const auto steps = store_migrations(make_config(flags));
    bool is_current = true, is_there = false;
    for (const auto& step : steps) {
        const char* state = !step.matches ? "differs" : step.applied_at ? "applied" : "pending";
        fmt::print("{:<20}  {:<8}  {}\n", step.name, state,
                   step.applied_at ? to_rfc3339(*step.applied_at) : "-");
        is_current = is_current && step.matches && step.applied_at;
        is_there = is_there || step.applied_at;
    }
    if (is_current) return EXIT_SUCCESS;
    fmt::print(stderr, "{}\n",
               is_there ? "the store and this version differ: sluice migrate up applies what is "
                          "pending; a step that differs belongs to another version"
                        : "there is no store yet; the first engine makes it");
    return cli::exit_conflict;
}

int migrate_up(const ConfigFlags& flags) {
    const Config config = make_config(flags);
    SystemClock clock;
    migrate_store(config, clock.now());
    fmt::print("{}: up to date\n", shown_store(config.store));
    return EXIT_SUCCESS;
}

}  // namespace

void add_audit_commands(cli::Command& program) {
    cli::Command& group = program.add_command("audit", "Look into the history of a store");

    cli::Command& verify_command = group.add_command("verify", "Check every job's chain of events");
    ConfigFlags& verified = verify_command.runs(verify);
    add_store_flag(verify_command, verified);
    verify_command.set_footer(
        "The store may be in use. Ends with 6 when a chain is broken.\n\n"
        "Examples:\n"
        "  sluice audit verify --store sqlite:sluice-data/sluice.db\n"
        "  SLUICE_STORE=postgres://sluice:secret@db/sluice sluice audit verify");

    cli::Command& export_command =
        group.add_command("export", "Write jobs and their events as lines of JSON");
    ExportFlags& exported = export_command.runs(export_history);
    add_store_flag(export_command, exported.config);
    export_command.add_option("--job", &exported.job, "ID", "Only this job");
    export_command.add_option("--file", &exported.file, "PATH",
                              "A new file (default: standard output)");
    export_command.add_flag("--logs", &exported.logs, "With log lines");
    export_command.set_footer(
        "Each line has a \"record\": job, event, log, and at the end one that counts them.\n\n"
        "Examples:\n"
        "  sluice audit export --store sqlite:sluice-data/sluice.db --logs");
}

void add_migrate_commands(cli::Command& program) {
    cli::Command& group = program.add_command("migrate", "Bring a store to this version's form");

    cli::Command& status = group.add_command("status", "Which steps the store has");
    ConfigFlags& shown = status.runs(show_migrations);
    add_store_flag(status, shown);
    status.set_footer(
        "Examples:\n"
        "  sluice migrate status --store sqlite:sluice-data/sluice.db");

    cli::Command& up = group.add_command("up", "Apply the steps that the store does not have");
    ConfigFlags& raised = up.runs(migrate_up);
    add_store_flag(up, raised);
    up.set_footer(
        "An engine does the same when it starts. A SQLite file must not be in use; a PostgreSQL\n"
        "database may be.\n\n"
        "Examples:\n"
        "  sluice migrate up --store sqlite:new/sluice.db");
}

}  // namespace sluice
