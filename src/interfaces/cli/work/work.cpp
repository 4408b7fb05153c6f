// `sluice work`: a command for every job of some kind, on any machine that reaches the engine.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <thread>

#include "application/secrets/secret_names.hpp"
#include "domain/values/duration_text.hpp"
#include "interfaces/cli/framework/cli.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/framework/common_flags.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/work/work_talk.hpp"
#include "interfaces/worker/engine/discreet_worker.hpp"
#include "interfaces/worker/executors/executor.hpp"
#include "interfaces/worker/executors/find_program.hpp"
#include "interfaces/worker/leash/command_environment.hpp"
#include "sluice/worker.hpp"

namespace sluice::cli {
namespace {

struct WorkFlags : ConnectionFlags {
    std::vector<std::string> types{};
    std::vector<std::string> queues{};
    std::vector<std::string> labels{};
    int concurrency = 1;
    std::string lease = "30s";
    std::string grace = "30s";
    std::string stop_grace = "5s";
    std::string name{};
    std::vector<std::string> variables{};
    bool has_exec = false;  // the mark before `command`
    std::vector<std::string> command{};
};

// SIGINT, SIGTERM and SIGHUP stop the worker: the first lets jobs finish, the second does not. It
// must be made before any other thread, so that none of them gets the signals. They stay blocked
// after its destruction, unless by an exception: a worker that ends anyway need not die of them.
class StopSignals {
  public:
    StopSignals() {
        ::sigemptyset(&signals_);
        for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals_, number);
        ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    }
    ~StopSignals() {
        if (std::uncaught_exceptions() == exceptions_) return;
        const timespec no_time{};
        while (::sigtimedwait(&signals_, nullptr, &no_time) > 0) continue;
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    // Runs the worker to its end; meanwhile, and with those that came before, signals stop it.
    void run(client::Worker& worker, Talk& talk) {
        std::atomic<bool> is_over = false;
        std::thread waiter([&] { wait(worker, talk, is_over); });
        struct End {
            std::atomic<bool>& is_over;
            std::thread& waiter;
            ~End() {
                is_over = true;
                waiter.join();
            }
        } const end{is_over, waiter};
        worker.run();
    }

  private:
    void wait(client::Worker& worker, Talk& talk, const std::atomic<bool>& is_over) {
        int count = 0;
        while (!is_over) {
            const timespec patience{0, 100'000'000};
            if (::sigtimedwait(&signals_, nullptr, &patience) < 0) continue;
            if (++count == 1) {
                worker.stop();
                talk.say(Style::yellow, talk.screen().symbol("■", "#"),
                         "no more jobs; those that run may finish (again: stop them)");
            } else {
                worker.stop_now();
                talk.say(Style::yellow, talk.screen().symbol("■", "#"), "stopping all jobs");
            }
        }
    }

    sigset_t signals_{};
    sigset_t before_{};
    const int exceptions_ = std::uncaught_exceptions();
};

// Refuses at once a command that would fail for every job.
void check_command(const std::string& command) {
    if (worker::find_program(command)) return;
    std::error_code ignored;
    const bool exists = !command.empty() && std::filesystem::exists(command, ignored);
    std::string what;
    if (command.find('/') == std::string::npos) {
        what = fmt::format("there is no such command in PATH{}",
                           exists ? "; did you mean ./" + command + "?" : "");
    } else if (exists) {
        what = "this is not an executable file; for a script: chmod +x " + command;
    } else {
        what = "there is no such file";
    }
    throw CommandError(exit_usage, printable(fmt::format("--exec {}: {}", command, what)));
}

client::Millis duration_within(const std::string& flag, const std::string& text,
                               client::Millis least, client::Millis most) {
    const client::Millis duration = duration_flag(flag, text);
    if (duration < least || duration > most) {
        throw CommandError(exit_usage,
                           fmt::format("{} {} is out of range; it must be between {} and {}", flag,
                                       text, duration_text(least), duration_text(most)));
    }
    return duration;
}

// The variables that --env adds to the environment of commands: NAME from this process's own, or
// NAME=VALUE.
worker::EnvironmentChoice environment_of(const WorkFlags& flags) {
    worker::EnvironmentChoice environment;
    for (const std::string& text : flags.variables) {
        const std::size_t equals = text.find('=');
        const std::string name = text.substr(0, equals);
        if (!worker::is_variable_name(name)) {
            throw CommandError(
                exit_usage, fmt::format("--env {}: write NAME or NAME=VALUE; names have letters, "
                                        "digits and _",
                                        printable(name)));
        }
        if (equals == std::string::npos) {
            environment.names_to_pass.push_back(name);
        } else {
            environment.set.emplace_back(name, text.substr(equals + 1));
        }
    }
    environment.passed = worker::variables_named(environment.names_to_pass);
    return environment;
}

// The secrets that commands must not output: the token, and variables with the name of a secret.
Redactor secrets_of_worker(const std::string& token, const worker::EnvironmentChoice& environment) {
    std::vector<std::string> secrets{token};
    for (const auto& [name, value] : environment.all()) {
        if (SecretNames::usual().match(name)) secrets.push_back(value);
    }
    return Redactor::of_settings(secrets);
}

// Each command needs a few descriptors. The limit of the commands themselves stays as it was, since
// the leash has been started before.
void allow_descriptors(int concurrency) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const auto wanted = static_cast<rlim_t>(concurrency) * 12 + 200;
    if (limit.rlim_cur >= wanted) return;
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string joined(const std::vector<std::string>& words, const char* separator) {
    return printable(fmt::format("{}", fmt::join(words, separator)));
}

std::string what_it_does(const WorkFlags& flags, const client::WorkerOptions& options) {
    std::string text = "jobs";
    if (!options.types.empty()) text += " of type " + joined(options.types, ", ");
    if (!options.queues.empty()) text += " in queue " + joined(options.queues, ", ");
    return fmt::format("{} from {}, {} at once: {}", text, printable(options.connection.server),
                       options.concurrency, joined(flags.command, " "));
}

client::WorkerOptions worker_options(const WorkFlags& flags, const std::shared_ptr<Talk>& talk) {
    using namespace std::chrono_literals;
    client::WorkerOptions options{
        .worker_id = flags.name,
        .queues = comma_lists(flags.queues),
        .types = comma_lists(flags.types),
        .labels = comma_lists(flags.labels),
        .concurrency = flags.concurrency,
        .lease = duration_within("--lease", flags.lease, 1s, 1h),
        .shutdown_grace = duration_within("--grace", flags.grace, 0s, 24h * 7),
        .on_notice = [talk](client::Level level, const std::string& text) {
            if (level == client::Level::info) {
                talk->say(Style::blue, talk->screen().symbol("●", "*"), printable(text));
            } else {
                talk->complain(printable(text));
            }
        }};
    options.connection.server = flags.server;
    options.connection.token = token_of(flags);
    options.connection.tenant = flags.tenant;
    options.connection.ca_file = flags.ca_file;
    options.connection.user_agent = "sluice-work";
    if (flags.concurrency < 1 || flags.concurrency > client::concurrency_max) {
        throw CommandError(exit_usage, fmt::format("--concurrency {} is out of range; it must be "
                                                   "between 1 and {}",
                                                   flags.concurrency, client::concurrency_max));
    }
    if (options.types.empty() && options.queues.empty()) {
        throw CommandError(exit_usage,
                           "say which jobs the command is for: --types A,B or --queue NAME");
    }
    return options;
}

int work(const WorkFlags& flags) {
    using namespace std::chrono_literals;
    StopSignals signals;
    if (flags.command.empty()) {
        throw CommandError(exit_usage,
                           "say what to run for each job, as the last thing: --exec COMMAND ARGS");
    }
    check_command(flags.command.front());
    const auto talk = std::make_shared<Talk>(flags.no_colour, flags.quiet);
    struct Finish {
        Talk& talk;
        ~Finish() { talk.finish(); }
    } const finish{*talk};
    client::WorkerOptions options = worker_options(flags, talk);
    const worker::CommandExecutor executor{
        .argv = flags.command,
        .environment = environment_of(flags),
        .stop_grace = duration_within("--stop-grace", flags.stop_grace, 0s, 24h)};
    // Long enough for a command to be killed after its grace, and for that to be seen.
    options.stop_patience = std::max<client::Millis>(10s, executor.stop_grace + 2s);

    worker::hide_from_commands();
    ::signal(SIGPIPE, SIG_IGN);
    const auto leash = std::make_shared<worker::Leash>();
    allow_descriptors(flags.concurrency);
    const auto runs = announced(
        worker::discreet_worker(worker::command_worker(executor, leash),
                                secrets_of_worker(options.connection.token, executor.environment)),
        talk);
    client::Worker worker(options);
    if (options.types.empty()) worker.handle_any(runs);
    for (const std::string& type : options.types) worker.handle(type, runs);
    talk->say(Style::blue, talk->screen().symbol("●", "*"), what_it_does(flags, options));
    signals.run(worker, *talk);
    talk->say(Style::blue, talk->screen().symbol("●", "*"), "stopped");
    return exit_ok;
}

void add_flags(Command& command, WorkFlags& flags) {
    command.add_option("--types", &flags.types, "A,B",
                       "Job types to run, with commas between them");
    command.add_option("--queue", &flags.queues, "NAME",
                       "Queue to take jobs from; may be repeated");
    command.add_option("--label", &flags.labels, "LABEL",
                       "What this worker has, for jobs that ask for it");
    command.add_option("--concurrency", &flags.concurrency, "N", "Jobs at once");
    command.add_option("--lease", &flags.lease, "DURATION",
                       "How long a job stays this worker's without a sign of life");
    command.add_option("--grace", &flags.grace, "DURATION",
                       "How long jobs may go on after SIGTERM or Ctrl-C");
    command.add_option("--stop-grace", &flags.stop_grace, "DURATION",
                       "Between SIGTERM and SIGKILL, for a job that should stop");
    command.add_option("--name", &flags.name, "ID",
                       "Name of this worker (default: host and process id)");
    command.add_option("--env", &flags.variables, "NAME[=VALUE]",
                       "A variable for the command, beside PATH, HOME and the like: one of this "
                       "worker's by its name, or with a value; may be repeated");
    add_connection_flags(command, flags);
    command.add_flag("--exec", &flags.has_exec,
                     "What follows is the command to run for each job, as it stands; last of all");
}

}  // namespace

void add_work_command(Command& program) {
    Command& command = program.add_command("work", "Run a command for each job");
    WorkFlags& flags = command.runs(work);
    add_flags(command, flags);
    command.keep_rest(flags.command, "--exec");
    command.set_footer(examples(
        {"sluice work --types greet --exec cat",
         "sluice work --queue mail --concurrency 8 --exec sh -c 'echo \"::progress 50\"; cat'"}));
}

}  // namespace sluice::cli
