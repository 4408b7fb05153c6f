#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "domain/values/time.hpp"
#include "interfaces/cli/framework/job_ids.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/jobs/job_commands.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/exit_code.hpp"

namespace sluice::cli {
namespace {

struct ExplainFlags {
    CommonFlags common{};
    std::string id{};
};

const std::vector<std::string>& explanation_fields() {
    static const std::vector<std::string> fields{"state", "reasons"};
    return fields;
}

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        c = c == '_' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return out;
}

// "QUEUED for 6m12s", "FAILED 3m ago"
std::string state_line(const client::Job& job, client::State state) {
    const std::string word = upper(to_text(state));
    if (client::is_final(state)) {
        if (!job.completed_at) return word;
        return fmt::format("{} {} ago", word, short_duration(now() - *job.completed_at));
    }
    const auto& since = state == client::State::running ? job.started_at : job.created_at;
    if (!since) return word;
    if (state == client::State::queued && job.attempt > 0) {
        return fmt::format("{} again, submitted {} ago", word, short_duration(now() - *since));
    }
    return fmt::format("{} for {}", word, stopwatch(now() - *since));
}

// The advice for the reason that decides.
std::string next_step(const client::Job& job, const client::Reason& reason) {
    const std::string& blocker = reason.blocker;
    if (reason.code == "dependency") {
        return fmt::format("sluice job explain {0}, or: sluice job watch {0}", blocker);
    }
    if (reason.code == "exclusive_key") {
        return fmt::format("sluice job watch {0}, or: sluice job cancel {0}", blocker);
    }
    if (reason.code == "no_worker") {
        std::string labels;
        for (const std::string& label : job.labels) labels += " --label " + printable(label);
        return fmt::format("sluice work --queue {} --types {}{} --exec COMMAND",
                           printable(job.queue), printable(job.type), labels);
    }
    if (reason.blocker_kind == "limit") {
        return fmt::format("sluice limit get {}", printable(blocker));
    }
    if (reason.code == "workers_busy") return "sluice worker list";
    if (reason.code == "running" || reason.code == "stopping") {
        return fmt::format("sluice job logs -f {0}, or: sluice job cancel {0}", job.id);
    }
    if (reason.code == "succeeded") return fmt::format("sluice job get {}", job.id);
    if (reason.code == "failed" || reason.code == "timed_out" || reason.code == "canceled") {
        return fmt::format("sluice job logs {0}, or: sluice job replay {0} --follow", job.id);
    }
    return fmt::format("sluice job watch {}", job.id);
}

std::string time_left(const client::Reason& reason) {
    if (!reason.until) return "";
    const Duration left = *reason.until - now();
    if (left <= Duration::zero()) return "";
    const bool is_lease = reason.blocker_kind == "job" || reason.blocker_kind == "worker";
    return fmt::format(" ({} {}{})", is_lease ? "lease" : "in", short_duration(left),
                       is_lease ? " left" : "");
}

void print_explanation(const Session& session, const client::Job& job,
                       const client::Explanation& explanation) {
    const Screen& screen = session.out();
    std::string out =
        fmt::format("{}  {} in queue {}, attempt {} of {}\n",
                    screen.painted(Style::bold, state_line(job, explanation.state)),
                    printable(job.type), printable(job.queue), job.attempt, job.max_attempts);
    std::size_t code_width = 0;
    for (const client::Reason& reason : explanation.reasons) {
        code_width = std::max(code_width, display_width(printable(reason.code)));
    }
    const bool is_waiting = explanation.state == client::State::queued;
    for (std::size_t i = 0; i < explanation.reasons.size(); ++i) {
        const client::Reason& reason = explanation.reasons[i];
        out += fmt::format("  {} {}  {}{}", i + 1, padded(printable(reason.code), code_width),
                           printable(reason.detail), time_left(reason));
        if (i == 0 && is_waiting && reason.code != "ready") {
            out += screen.painted(Style::yellow,
                                  std::string("   ") + screen.symbol("←", "<-") + " decides");
        }
        out += "\n";
    }
    if (!explanation.reasons.empty()) {
        out += "next: " + next_step(job, explanation.reasons.front()) + "\n";
    }
    session.put(out);
}

int explain_job(const ExplainFlags& flags) {
    Session session(flags.common);
    static const Listing listing{
        .name = "reasons", .id_field = "state", .fields = explanation_fields()};
    session.fields_or({}, listing.fields);
    const std::string id = find_job_id(session, flags.id);
    const client::Explanation explanation = session.client().explain(id);
    if (session.prints_json() || session.has_fields()) {
        print_object(session, listing, explanation.json);
    } else if (session.format() == OutputFormat::name) {
        for (const client::Reason& reason : explanation.reasons) {
            session.put_line(printable(reason.code));
        }
    } else if (session.format() == OutputFormat::plain && session.was_asked_for_a_format()) {
        session.put("code\tdetail\tblocker_kind\tblocker_id\tuntil\n");
        for (const client::Reason& reason : explanation.reasons) {
            session.put(fmt::format("{}\t{}\t{}\t{}\t{}\n", printable(reason.code),
                                    printable(reason.detail), printable(reason.blocker_kind),
                                    printable(reason.blocker),
                                    reason.until ? to_rfc3339(*reason.until) : ""));
        }
    } else {
        print_explanation(session, session.client().get(id), explanation);
    }
    return exit_ok;
}

}  // namespace

void add_job_explain_command(Command& job) {
    Command& command =
        job.add_command("explain", "Say why a job is not running, or what became of it");
    ExplainFlags& flags = command.runs(explain_job);
    command.add_argument("ID", &flags.id, "A job: its id, the beginning of it, or @last");
    add_common_flags(command, flags.common);
    command.set_footer(examples({
        "sluice job explain @last",
        "sluice job explain @last --json",
    }));
}

}  // namespace sluice::cli
