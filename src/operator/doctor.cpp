// Looks at everything that an engine needs on this machine, and gives advice about each problem.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "client/link/http.hpp"
#include "config/config_flags.hpp"
#include "config/values.hpp"
#include "interfaces/cli/terminal/screen.hpp"
#include "interfaces/http/server/tls_identity.hpp"
#include "interfaces/worker/executors/find_program.hpp"
#include "json/json_writer.hpp"
#include "operator/commands.hpp"
#include "operator/doctor_access.hpp"
#include "operator/doctor_duties.hpp"
#include "operator/doctor_limits.hpp"
#include "operator/doctor_postgres.hpp"
#include "operator/open_store.hpp"
#include "sluice/client.hpp"

namespace sluice {
namespace {

namespace fs = std::filesystem;

void look_at_disk(const fs::path& folder, Findings& out) {
    struct statvfs space {};
    struct statfs kind {};
    if (statvfs(folder.c_str(), &space) != 0 || statfs(folder.c_str(), &kind) != 0) return;
    const auto free_mib = space.f_bavail * space.f_frsize / (1024 * 1024);
    const std::string detail = fmt::format("{} MiB free at {}", free_mib, folder.string());
    if (free_mib < 1024) {
        out.doubtful("disk", detail, "make room: an engine that cannot write refuses new jobs");
    } else {
        out.good("disk", detail);
    }
    constexpr long nfs = 0x6969, smb = 0x517B, cifs = 0xFF534D42, smb2 = 0xFE534D42;
    if (kind.f_type == nfs || kind.f_type == smb || kind.f_type == cifs || kind.f_type == smb2) {
        out.bad("file system", "the store is on a network file system",
                "keep it on a local disk: SQLite's locks and syncs do not hold over a network");
    }
}

// The file beside the store that is kept so that running jobs can end when the disk is full.
void look_at_reserve(const Config& config, const fs::path& store, Findings& out) {
    struct stat kept {};
    const std::string path = store.string() + "-reserve";
    if (config.store_reserve == 0 || stat(path.c_str(), &kept) != 0 || kept.st_size > 0) return;
    out.bad("reserve", "the disk was full and its reserve is given up: no new jobs are taken",
            "make room; a running engine takes the reserve back by itself");
}

void look_at_file(const Config& config, Findings& out) {
    const std::string& store = config.store;
    const fs::path path = fs::absolute(store.substr(sqlite_scheme.size()));
    fs::path folder = path.parent_path();
    while (!fs::exists(folder) && folder.has_parent_path()) folder = folder.parent_path();
    if (!fs::is_directory(folder) || access(folder.c_str(), W_OK) != 0) {
        out.bad("store", fmt::format("{} cannot be written", folder.string()),
                "run the engine as the user that owns the folder, or choose another --store");
        return;
    }
    look_at_disk(folder, out);
    if (!fs::exists(path)) return out.good("store", store + " will be made at the first start");
    look_at_reserve(config, path, out);
    try {
        look_at_steps(store_migrations(config), store, out);
    } catch (const std::exception& error) {
        out.bad("store", error.what(), "restore it from a backup, or choose another --store");
    }
}

void look_at_store(const Config& config, Findings& out) {
    if (is_postgres(config.store)) {
        look_at_postgres(config, out);
    } else if (config.store.starts_with(sqlite_scheme)) {
        look_at_file(config, out);
    } else if (config.store == "memory:") {
        out.doubtful("store", "memory: keeps nothing when the engine stops",
                     "use --store sqlite:PATH for jobs that must not be lost");
    }
}

constexpr int jobs_looked_at = 10'000;
constexpr int jobs_named_max = 10;
constexpr int jobs_page = 100;

// The newest rows; audit verify looks at all.
void look_at_rows(const Config& config, Findings& out) {
    if (config.store == "memory:" || !store_exists(config)) return;
    const auto reader = open_reader(config);
    int named = 0;
    const auto look_at = [&](const Job& job) {
        if (job.damage.empty() || ++named > jobs_named_max) return;
        const std::string fate =
            is_final(job.now.state) ? "it has ended and stays as it is"
                                    : "it fails with JOB_DAMAGED when a worker asks for it: cancel "
                                      "it and submit it anew";
        out.bad("jobs",
                fmt::format("{}: its stored {} is damaged", to_text(job.spec->id), job.damage),
                fate +
                    "; find out which program wrote to the store; sluice audit verify looks at all "
                    "jobs");
    };
    JobId before = newest;
    for (int looked_at = 0; looked_at < jobs_looked_at; looked_at += jobs_page) {
        const std::vector<Job> jobs = reader->list({.tenant = ""}, before, jobs_page);
        for (const Job& job : jobs) look_at(job);
        if (jobs.size() < static_cast<std::size_t>(jobs_page)) break;
        before = jobs.back().spec->id;
    }
    if (named > jobs_named_max) {
        out.bad("jobs", fmt::format("{} more are damaged", named - jobs_named_max),
                "sluice audit verify names them");
    }
}

// Problems of the store itself were reported before.
void look_at_damage(const Config& config, Findings& out) {
    try {
        look_at_rows(config, out);
    } catch (const std::runtime_error&) {
    }
}

void look_at_engine(const Config& config, Findings& out) {
    const std::string host = config.server.host == "0.0.0.0" ? "127.0.0.1" : config.server.host;
    const std::string address = url_text(config.server, host, config.server.port);
    const client::Millis short_time(2000), no_time(0);
    client::Client engine({.server = address,
                           .timeout = short_time,
                           .patience = no_time,
                           .ca_file = config.server.tls.certificate});
    try {
        engine.call("GET", "/readyz", "", false);
        out.good("engine", "serves on " + address);
    } catch (const client::Error& error) {
        if (error.status() == 503) {
            out.bad("engine", fmt::format("{} is up but not ready: {}", address, error.what()),
                    "look at its log; it goes on by itself when its store answers");
        } else if (error.status() != 0) {
            out.bad("engine", fmt::format("what listens on {} is no engine", address),
                    "stop it, or choose another --listen");
        } else if (error.code() == client::http_error::untrusted) {
            out.good("engine", fmt::format("something serves on {}, and its certificate is for "
                                           "another name",
                                           address));
        } else {
            out.good("engine", fmt::format("none serves on {}", address));
        }
    }
}

void look_at_tls(const Config& config, Findings& out) {
    const http::TlsFiles& files = config.server.tls;
    if (!files.is_given()) return;
    try {
        const http::TlsIdentity identity(files);
        if (const auto complaint = identity.complaint(std::chrono::system_clock::now())) {
            out.doubtful("tls", *complaint,
                         "renew it; SIGHUP has a running engine read certificate and key again");
        } else {
            out.good("tls", "certificate and key belong together");
        }
    } catch (const std::runtime_error&) {
        // Named among the settings that keep the engine from starting.
    }
    struct stat key {};
    if (stat(files.key.c_str(), &key) == 0 && (key.st_mode & (S_IWGRP | S_IRWXO)) != 0) {
        out.doubtful(
            "tls key", fmt::format("{} is open to other users", files.key),
            "chmod 600 and give it to the engine's user, or 640 and to a group of its own");
    }
}

void look_at_limits(const Config& config, Findings& out) {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    const auto wanted = static_cast<rlim_t>(config.server.limits.connections) + 256;
    if (files.rlim_max < wanted) {
        out.doubtful("open files",
                     fmt::format("{} allowed, {} connections configured", files.rlim_max,
                                 config.server.limits.connections),
                     "raise the limit (LimitNOFILE= in systemd), or lower limits.connections");
    } else {
        out.good("open files", fmt::format("{} allowed", files.rlim_max));
    }
}

void look_at_clock(Findings& out) {
    timex state{};
    if (adjtimex(&state) == TIME_ERROR) {
        out.doubtful("clock", "is not synchronised",
                     "run chrony or systemd-timesyncd: times in the history come from it");
    } else {
        out.good("clock", "is synchronised");
    }
}

void look_at_program(const std::string& type, const std::string& program, Findings& out) {
    if (const auto path = worker::find_program(program)) {
        out.good("executor", fmt::format("{} runs {}", type, path->string()));
    } else {
        out.bad("executor", fmt::format("{}: there is no program {}", type, program),
                "install it, or correct the executor of this job type");
    }
}

void look_at_executors(const Config& config, Findings& out) {
    for (const auto& [type, executor] : config.executors) {
        if (const auto* command = std::get_if<worker::CommandExecutor>(&executor)) {
            look_at_program(type, command->argv.front(), out);
        } else if (const auto* ansible = std::get_if<worker::AnsibleExecutor>(&executor)) {
            look_at_program(type, ansible->program, out);
            if (access(ansible->playbook.c_str(), R_OK) != 0) {
                out.bad("executor", fmt::format("{}: cannot read {}", type, ansible->playbook),
                        "correct executor.playbook of this job type");
            }
        }
    }
    for (const auto& [name, node] : config.nodes) {
        if (node.key_file.empty() || access(node.key_file.c_str(), R_OK) == 0) continue;
        out.bad("node", fmt::format("{}: cannot read {}", name, node.key_file),
                "correct key_file of this node");
    }
}

void look_at_production(const Config& config, Findings& out) {
    if (config.no_auth) {
        out.bad("access", "no_auth lets everybody in", "remove no_auth and --no-auth");
    }
    if (geteuid() == 0) {
        out.doubtful("user", "this is root", "give the engine a user of its own");
    }
    if (config.store.starts_with("sqlite:/tmp/")) {
        out.bad("store", "is in a folder that a restart empties", "choose another --store");
    }
    if (config.server.allowed_hosts.empty()) {
        out.doubtful("allowed_hosts", "any name may stand in the Host header",
                     "list the names by which clients reach the engine");
    }
}

struct DoctorFlags {
    ConfigFlags config{};
    bool production = false;
    bool json = false;
};

const char* word_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::good: return "ok";
        case Verdict::doubtful: return "warn";
        case Verdict::bad: return "fail";
    }
    return "";
}

void print_json(const Findings& findings) {
    const std::string out = json_object_text([&](JsonWriter& json) {
        json.objects("findings", findings.all(), [&](const Finding& finding) {
            json.field("verdict", word_of(finding.verdict));
            json.field("subject", finding.subject);
            json.field("detail", finding.detail);
            json.field("advice", finding.advice);
        });
    });
    fmt::print("{}\n", out);
}

void print_lines(const Findings& findings) {
    const cli::Screen screen = cli::screen_on(STDOUT_FILENO, false);
    const cli::Style styles[] = {cli::Style::green, cli::Style::yellow, cli::Style::red};
    for (const Finding& finding : findings.all()) {
        const auto style = styles[static_cast<std::size_t>(finding.verdict)];
        const std::string word = fmt::format("{:<4}", word_of(finding.verdict));
        fmt::print("{}  {:<13}  {}\n", screen.painted(style, word), finding.subject,
                   finding.detail);
        if (!finding.advice.empty()) fmt::print("{:21}{}\n", "", finding.advice);
    }
}

int examine(const DoctorFlags& flags) {
    Findings findings;
    try {
        const Config config = make_config(flags.config);
        findings.good("configuration", fmt::format("{} values set", config.origins.size()));
        look_at_store(config, findings);
        look_at_damage(config, findings);
        look_at_duties(config, findings);
        look_at_tls(config, findings);
        look_at_access(config, findings);
        look_at_engine(config, findings);
        look_at_rules(config, findings);
        look_at_limits(config, findings);
        look_at_clock(findings);
        look_at_executors(config, findings);
        if (flags.production) look_at_production(config, findings);
    } catch (const std::runtime_error& error) {
        std::istringstream mistakes(error.what());
        for (std::string mistake; std::getline(mistakes, mistake);) {
            findings.bad("configuration", mistake, "correct it; sluice config check looks again");
        }
    }
    if (flags.json) {
        print_json(findings);
    } else {
        print_lines(findings);
    }
    const auto& all = findings.all();
    const bool any_bad = std::any_of(all.begin(), all.end(), [](const Finding& finding) {
        return finding.verdict == Verdict::bad;
    });
    return any_bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace

void add_doctor_command(cli::Command& program) {
    cli::Command& command =
        program.add_command("doctor", "Look for what could go wrong on this machine");
    DoctorFlags& flags = command.runs(examine);
    add_serve_flags(command, flags.config);
    command.add_flag("--production", &flags.production,
                     "Also report what is fit for development only");
    command.add_flag("--json", &flags.json, "As one JSON document");
    command.set_footer(
        "Ends with 1 when something is wrong.\n\n"
        "Examples:\n"
        "  sluice doctor\n"
        "  sluice doctor --json");
}

}  // namespace sluice
