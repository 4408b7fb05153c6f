// The commands that change a job: cancel, replay and release-lease; and watch, which a replay may
// go on with.
#include <fmt/format.h>

#include "domain/values/percent_encoding.hpp"
#include "interfaces/cli/framework/api_path.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/framework/failure.hpp"
#include "interfaces/cli/framework/job_ids.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/jobs/follow.hpp"
#include "interfaces/cli/jobs/job_commands.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/exit_code.hpp"
#include "json/json_writer.hpp"

namespace sluice::cli {
namespace {

struct WatchFlags {
    CommonFlags common{};
    std::string id{};
    std::string wait_timeout{};
};

int watch_job(const WatchFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, job_listing().fields);
    FollowOptions options;
    if (!flags.wait_timeout.empty()) {
        options.limit = duration_flag("--wait-timeout", flags.wait_timeout);
    }
    const std::string id = find_job_id(session, flags.id);
    if (session.shows_curl()) return follow_to_the_end(session, {.id = id}, options);
    return follow_to_the_end(session, session.client().get(id), options);
}

struct CancelFlags {
    CommonFlags common{};
    std::vector<std::string> ids{};
    std::string reason{};
};

int cancel_jobs(const CancelFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, job_listing().fields);
    const std::vector<std::string> ids = find_job_ids(session, flags.ids);
    std::vector<std::string> canceled;
    int code = exit_ok;
    for (const std::string& id : ids) {
        try {
            const client::Job job = session.client().cancel(id, flags.reason);
            canceled.push_back(job.json);
            const char* remark = job.lease_until ? "; its worker hears of it and stops" : "";
            session.say(fmt::format("canceled {} ({}){}", id, printable(job.type), remark));
        } catch (const client::RequestShown&) {
        } catch (const client::Error& error) {
            if (ids.size() == 1) throw;
            const Failure failure = failure_of(error);
            session.complain(fmt::format("sluice: job {}: {}", id, failure.message));
            if (code == exit_ok) code = failure.code;
        }
    }
    if (session.was_asked_for_a_format() || session.has_fields()) {
        if (session.format() == OutputFormat::json && ids.size() == 1 && !canceled.empty()) {
            print_object(session, job_listing(), canceled.front());
        } else if (!session.shows_curl()) {
            print_listing(session, job_listing(), canceled, {});
        }
    }
    return code;
}

struct ReleaseFlags {
    CommonFlags common{};
    std::string id{};
    std::string reason{};
    std::string ticket{};
    bool dry_run = false;
};

// "it would be queued again; the attempt counts, and 2 are left"
std::string release_text(const JsonObject& job, const std::string& id, bool is_dry) {
    const std::string state = printable(job.text("state"));
    if (!is_dry) return fmt::format("released the lease of {}, which is {} now", id, state);
    const std::string* raw = job.raw("effect");
    const JsonObject effect(raw ? *raw : "");
    const std::string then = printable(effect.text("then")), left = effect.text("attempts_left");
    return fmt::format(
        "it would release the lease of {}, which would be {} then; the attempt "
        "would {}count, and {} left",
        id, then.empty() ? state : then, effect.text("attempt_counts") == "false" ? "not " : "",
        left == "1" ? "1 attempt is" : left + " attempts are");
}

int release_lease(const ReleaseFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, job_listing().fields);
    if (flags.reason.empty()) {
        throw CommandError(exit_usage, "--reason is required: it is kept in the job's history");
    }
    const std::string id = find_job_id(session, flags.id);
    const std::string body = json_object_text([&](JsonWriter& json) {
        json.field("reason", flags.reason);
        if (!flags.ticket.empty()) json.field("ticket", flags.ticket);
        if (flags.dry_run) json.field("dry_run", true);
    });
    const std::string path = "/api/v1/jobs/" + percent_encoded(id) + "/release-lease" +
                             query_text({{"tenant", flags.common.tenant}});
    const std::string answer = session.client().call("POST", path, body, false);
    if (session.was_asked_for_a_format() || session.has_fields()) {
        print_object(session, job_listing(), answer);
        return exit_ok;
    }
    session.say(release_text(JsonObject(answer), id, flags.dry_run));
    return exit_ok;
}

struct ReplayFlags {
    CommonFlags common{};
    std::string id{};
    std::string reason{};
    bool wait = false;
    bool follow = false;
};

int replay_job(const ReplayFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, job_listing().fields);
    const client::Job job = session.client().replay(find_job_id(session, flags.id), flags.reason);
    remember_last_job(session.options(), job.id);
    if (flags.wait || flags.follow) {
        session.say(
            fmt::format("{}  {}, replay of {}", job.id, printable(job.type), job.replay_of));
        return follow_to_the_end(session, job, {.is_shown = flags.follow});
    }
    if (session.prints_json() || session.has_fields()) {
        print_object(session, job_listing(), job.json);
        return exit_ok;
    }
    if (session.out().is_terminal) {
        session.say(fmt::format("submitted a replay of {}; see it with: sluice job watch @last",
                                job.replay_of));
    }
    session.put_line(job.id);
    return exit_ok;
}

constexpr const char* id_help = "A job: its id, the beginning of it, or @last";

}  // namespace

void add_job_watch_command(Command& job) {
    Command& command =
        job.add_command("watch", "Show what happens to a job until its end, then its result");
    WatchFlags& flags = command.runs(watch_job);
    command.add_argument("ID", &flags.id, id_help);
    command.add_option("--wait-timeout", &flags.wait_timeout, "DURATION",
                       "Watch no longer than this (exit code 7)");
    add_common_flags(command, flags.common);
    command.set_footer(examples({
        "sluice job watch @last",
    }));
}

void add_job_cancel_command(Command& job) {
    Command& command = job.add_command("cancel", "End jobs that are queued or running");
    CancelFlags& flags = command.runs(cancel_jobs);
    command.add_argument("ID", &flags.ids, "Jobs: ids, beginnings of ids, or @last");
    command.add_option("--reason", &flags.reason, "TEXT", "Why; kept in the job's history");
    add_common_flags(command, flags.common);
    command.set_footer(examples({
        "sluice run demo.slow",
        "sluice job cancel @last --reason 'no longer needed'",
    }));
}

void add_job_release_lease_command(Command& job) {
    Command& command = job.add_command(
        "release-lease", "Take a job away from a worker that is stuck; the attempt counts");
    ReleaseFlags& flags = command.runs(release_lease);
    command.add_argument("ID", &flags.id, id_help);
    command.add_option("--reason", &flags.reason, "TEXT",
                       "Why; required, and kept in the job's history");
    command.add_option("--ticket", &flags.ticket, "ID", "The ticket that asks for it");
    command.add_flag("--dry-run", &flags.dry_run,
                     "Change nothing; say what would become of the job");
    add_common_flags(command, flags.common);
    command.set_footer(
        "Nothing that the worker says about the job counts from then on.\n\n" +
        examples({"sluice job release-lease @last --reason 'its worker hangs' --curl"}));
}

void add_job_replay_command(Command& job) {
    Command& command = job.add_command("replay", "Submit a job that has ended once more");
    ReplayFlags& flags = command.runs(replay_job);
    command.add_argument("ID", &flags.id, id_help);
    command.add_option("--reason", &flags.reason, "TEXT", "Why; kept in the new job's history");
    command.add_flag("--wait", &flags.wait, "Wait for its end, then print its result");
    command.add_flag("-f,--follow", &flags.follow, "The same, and show what happens");
    add_common_flags(command, flags.common);
    command.set_footer(examples({
        "sluice run demo.hello --wait",
        "sluice job replay @last --follow",
    }));
}

}  // namespace sluice::cli
