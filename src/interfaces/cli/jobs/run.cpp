#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

#include "domain/values/duration_text.hpp"
#include "interfaces/cli/framework/cli.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/framework/failure.hpp"
#include "interfaces/cli/framework/job_ids.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/jobs/follow.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/json_object.hpp"

namespace sluice::cli {
namespace {

struct RunFlags {
    CommonFlags common{};
    std::string type{};
    std::optional<std::string> data{};
    std::string queue{};
    std::optional<int> priority{};
    std::string delay{};
    std::string at{};
    std::string timeout{};
    std::optional<int> max_attempts{};
    std::string backoff{};
    std::string key{};
    std::vector<std::string> labels{};
    std::vector<std::string> exclusive_keys{};
    std::vector<std::string> depends_on{};
    std::string on_dependency_failure{};
    std::string entity{};
    std::string site{};
    std::string node{};
    std::string project{};
    std::string source{};
    std::string correlation_id{};
    bool wait = false;
    bool follow = false;
    std::string wait_timeout{};
};

std::string read_all(int descriptor) {
    std::string text;
    char bytes[16 * 1024];
    for (ssize_t count = 0; (count = read(descriptor, bytes, sizeof bytes)) > 0;) {
        text.append(bytes, static_cast<std::size_t>(count));
    }
    return text;
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) {
        throw CommandError(exit_usage, fmt::format("--data: cannot read the file {}", path));
    }
    return text.str();
}

// The payload, as JSON: the flag's text, or that of a file or of standard input.
std::string payload_of(const std::string& data) {
    std::string text = data == "-"             ? read_all(STDIN_FILENO)
                       : data.starts_with('@') ? read_file(data.substr(1))
                                               : data;
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    text.erase(0, text.find_first_not_of(" \t\r\n"));
    if (const auto problem = json_problem(text)) {
        throw CommandError(
            exit_usage, fmt::format("--data is not JSON: {}; write it like '{{\"name\":\"Ada\"}}' "
                                    "(a text needs its own quotes: '\"text\"'), @FILE, or - for "
                                    "standard input",
                                    *problem));
    }
    return text;
}

// "none", delays with commas between them, or the first and the highest ceiling with two dots.
client::Backoff backoff_of(const std::string& text) {
    if (text == "none") return client::Backoff::none();
    const auto delay = [&](const std::string& part) {
        if (const auto duration = parse_duration(part)) {
            return std::chrono::duration_cast<client::Millis>(*duration);
        }
        throw CommandError(exit_usage, fmt::format("--backoff \"{}\": write none, delays like "
                                                   "10s,1m, or BASE..CAP like 1s..5m",
                                                   printable(text)));
    };
    if (const std::size_t dots = text.find(".."); dots != std::string::npos) {
        return client::Backoff::exponential(delay(text.substr(0, dots)),
                                            delay(text.substr(dots + 2)));
    }
    std::vector<client::Millis> delays;
    for (const std::string& part : comma_list(text)) delays.push_back(delay(part));
    return client::Backoff::list(std::move(delays));
}

client::OnDependencyFailure on_dependency_failure_of(const std::string& text) {
    if (const auto choice = client::parse_on_dependency_failure(text)) return *choice;
    throw CommandError(exit_usage, fmt::format("--on-dependency-failure {}: write cancel or run",
                                               printable(text)));
}

client::NewJob new_job(Session& session, const RunFlags& flags) {
    client::NewJob job;
    job.type = flags.type;
    if (flags.data) job.payload = payload_of(*flags.data);
    job.tenant = flags.common.tenant;
    job.project = flags.project;
    job.queue = flags.queue;
    job.priority = flags.priority;
    if (!flags.delay.empty()) job.delay = duration_flag("--delay", flags.delay);
    if (!flags.at.empty()) job.run_after = time_flag("--at", flags.at);
    if (!flags.timeout.empty()) job.timeout = duration_flag("--timeout", flags.timeout);
    job.max_attempts = flags.max_attempts;
    if (!flags.backoff.empty()) job.backoff = backoff_of(flags.backoff);
    job.idempotency_key = flags.key;
    job.labels = flags.labels;
    job.exclusive_keys = flags.exclusive_keys;
    job.depends_on = find_job_ids(session, flags.depends_on);
    if (!flags.on_dependency_failure.empty()) {
        job.on_dependency_failure = on_dependency_failure_of(flags.on_dependency_failure);
    }
    if (!flags.entity.empty()) {
        const std::size_t slash = flags.entity.find('/');
        if (slash == 0 || slash >= flags.entity.size() - 1) {
            throw CommandError(exit_usage, "--entity must be TYPE/ID, like release/r42");
        }
        job.entity_type = flags.entity.substr(0, slash);
        job.entity_id = flags.entity.substr(slash + 1);
    }
    job.site_id = flags.site;
    job.node_id = flags.node;
    job.source = flags.source;
    job.correlation_id = flags.correlation_id;
    return job;
}

// The flag that a field of the API came from, by the field's JSON pointer.
std::string flag_of(const std::string& pointer) {
    static const std::map<std::string, std::string> flags{
        {"type", "TYPE"},
        {"payload", "--data"},
        {"run_after", "--at"},
        {"delay_ms", "--delay"},
        {"timeout_ms", "--timeout"},
        {"entity_type", "--entity"},
        {"entity_id", "--entity"},
        {"site_id", "--site"},
        {"node_id", "--node"},
        {"exclusive_keys", "--exclusive"},
        {"labels", "--label"},
        {"depends_on", "--depends-on"},
        {"max_attempts", "--max-attempts"},
        {"on_dependency_failure", "--on-dependency-failure"},
        {"correlation_id", "--correlation-id"},
    };
    const std::string field = pointer.substr(1, pointer.find('/', 1) - 1);
    const auto known = flags.find(field);
    return known == flags.end() ? "--" + field : known->second;
}

// Submits the job; the engine's message about a field names the flag that the field came from.
client::Job submit(Session& session, const client::NewJob& job) {
    try {
        return session.client().submit(job);
    } catch (const client::Error& error) {
        if (failure_of(error).code != exit_usage || error.pointer().size() < 2) throw;
        std::string message = error.what();
        const std::string field = error.pointer().substr(1) + ": ";
        if (message.starts_with(field)) message.erase(0, field.size());
        throw CommandError(
            exit_usage, fmt::format("{}{} {}", flag_of(error.pointer()),
                                    message.starts_with("must ") ? "" : ":", printable(message)));
    }
}

void print_submitted(const Session& session, const client::Job& job) {
    if (session.prints_json() || session.has_fields()) {
        return print_object(session, job_listing(), job.json);
    }
    if (session.out().is_terminal) {
        session.say(fmt::format("submitted {} to queue {}; see it with: sluice job watch @last",
                                printable(job.type), printable(job.queue)));
    }
    session.put_line(job.id);
}

int run_job(const RunFlags& flags) {
    Session session(flags.common);
    FollowOptions follow{.is_shown = flags.follow};
    if (!flags.wait_timeout.empty()) {
        follow.limit = duration_flag("--wait-timeout", flags.wait_timeout);
    }
    session.fields_or({}, job_listing().fields);
    const client::Job job = submit(session, new_job(session, flags));
    remember_last_job(session.options(), job.id);
    if (!flags.wait && !flags.follow && !follow.limit) {
        print_submitted(session, job);
        return exit_ok;
    }
    session.say(fmt::format("{}  {} {} queue {}", job.id, printable(job.type),
                            session.err().symbol("→", "->"), printable(job.queue)));
    return follow_to_the_end(session, job, follow);
}

void add_job_flags(Command& command, RunFlags& flags) {
    command.add_option("--data", &flags.data, "JSON",
                       "The payload: JSON, @FILE, or - for standard input");
    command.add_option("--queue", &flags.queue, "NAME", "Where workers look for it");
    command.add_option("--priority", &flags.priority, "N", "Higher runs first");
    command.add_option("--delay", &flags.delay, "DURATION", "Run it this much later");
    command.add_option("--at", &flags.at, "TIME", "Run it no earlier than this").excludes =
        "--delay";
    command.add_option("--timeout", &flags.timeout, "DURATION",
                       "How long an attempt may take; 0s: any time");
    command.add_option("--max-attempts", &flags.max_attempts, "N", "How often it is tried");
    command.add_option(
        "--backoff", &flags.backoff, "DELAYS",
        "How long before each further try: none, 10s,1m,10m, or 1s..5m to double it");
    command.add_option("--key", &flags.key, "KEY",
                       "The same key again within a day gives the same job");
    command.add_option("--label", &flags.labels, "NAME", "A label that the worker must have");
    command.add_option("--exclusive", &flags.exclusive_keys, "KEY",
                       "No other job with this key runs at the same time");
    command.add_option("--depends-on", &flags.depends_on, "ID", "A job that must succeed first");
    command.add_option(
        "--on-dependency-failure", &flags.on_dependency_failure, "cancel|run",
        "When one of them does not succeed: cancel it (the default), or run it anyway");
    command.add_option("--entity", &flags.entity, "TYPE/ID", "What it is about");
    command.add_option("--site", &flags.site, "ID", "The site it works on, alone");
    command.add_option("--node", &flags.node, "ID", "The node it works on, alone");
    command.add_option("--project", &flags.project, "NAME", "The project it belongs to");
    command.add_option("--source", &flags.source, "NAME",
                       "Where it comes from; a source can be paused (default: the service's name)");
    command.add_option("--correlation-id", &flags.correlation_id, "ID", "To find it by, for you");
}

}  // namespace

void add_run_command(Command& program) {
    Command& command = program.add_command("run", "Submit a job, and wait for it if you like");
    RunFlags& flags = command.runs(run_job);
    command.add_argument("TYPE", &flags.type, "What kind of job");
    add_job_flags(command, flags);
    command.add_flag("--wait", &flags.wait, "Wait for its end, then print its result");
    command.add_flag("-f,--follow", &flags.follow,
                     "The same, and show what happens: its log, its progress, what it waits for");
    command.add_option("--wait-timeout", &flags.wait_timeout, "DURATION",
                       "Wait no longer than this (exit code 7); the job goes on");
    add_common_flags(command, flags.common, TimeoutFlag::of_the_command);
    command.set_footer(examples({
        R"(sluice run demo.hello --data '{"name":"Ada"}' --follow)",
        R"(sluice run demo.hello --delay 5m --label linux --curl)",
        R"(echo '{"name":"Grace"}' | sluice run demo.hello --data - --wait)",
    }));
}

}  // namespace sluice::cli
