// The commands that change a job: cancel and replay; and watch, which a replay may go on with.
#include <fmt/format.h>

#include "interfaces/cli/framework/failure.hpp"
#include "interfaces/cli/framework/job_ids.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/jobs/follow.hpp"
#include "interfaces/cli/jobs/job_commands.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/exit_code.hpp"

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
