#include <fmt/format.h>

#include "domain/values/duration_text.hpp"
#include "domain/values/time.hpp"
#include "interfaces/cli/framework/job_ids.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/framework/sheet.hpp"
#include "interfaces/cli/jobs/job_commands.hpp"
#include "interfaces/cli/jobs/live_view.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/exit_code.hpp"
#include "interfaces/cli/terminal/json_object.hpp"

namespace sluice::cli {
namespace {

struct GetFlags {
    CommonFlags common{};
    std::string id{};
};

std::string joined(const std::vector<std::string>& texts) {
    return printable(fmt::format("{}", fmt::join(texts, ", ")));
}

void print_sheet(const Session& session, const client::Job& job) {
    const Screen& screen = session.out();
    const std::string_view state = to_text(job.state);
    Sheet sheet(screen);
    sheet.title(
        fmt::format("{}  {}  {}",
                    screen.painted(state_style(state),
                                   fmt::format("{} {}", state_symbol(screen, state), state)),
                    screen.painted(Style::bold, printable(job.type)), job.id));
    std::string error = printable(job.error_code);
    if (!job.error_message.empty()) {
        error += (error.empty() ? "" : ": ") + printable_lines(job.error_message);
    }
    sheet.line("error", screen.painted(Style::red, error));
    if (job.damaged) {
        sheet.line("damaged", screen.painted(Style::red,
                                             "the store no longer has what was "
                                             "submitted; sluice audit verify says more"));
    }
    sheet.line("queue", printable(job.queue));
    sheet.line("tenant", job.tenant == "default" ? "" : printable(job.tenant));
    sheet.line("project", printable(job.project));
    sheet.line("attempt", fmt::format("{} of {}", job.attempt, job.max_attempts));
    if (job.priority != 0) sheet.line("priority", std::to_string(job.priority));
    if (job.state == client::State::running && job.progress) {
        sheet.line("progress", fmt::format("{}%  {}", *job.progress, printable(job.message)));
    }
    sheet.line("worker", printable(job.locked_by));
    if (!job.entity_type.empty()) {
        sheet.line("entity", printable(job.entity_type + "/" + job.entity_id));
    }
    sheet.line("site", printable(job.site_id));
    sheet.line("node", printable(job.node_id));
    sheet.line("exclusive", joined(job.exclusive_keys));
    sheet.line("labels", joined(job.labels));
    sheet.line("depends on", joined(job.depends_on));
    sheet.line("replay of", job.replay_of);
    sheet.line("source", printable(job.source));
    sheet.line("correlation", printable(job.correlation_id));
    sheet.line("timeout", job.timeout.count() == 0 ? "none" : duration_text(job.timeout));
    sheet.time("created", job.created_at);
    if (job.state == client::State::queued && job.run_after && *job.run_after > now()) {
        sheet.time("not before", job.run_after);
    }
    const bool is_held = job.next_eligible_at && *job.next_eligible_at > now() &&
                         job.next_eligible_at != job.run_after;
    if (is_held) sheet.time("limited until", job.next_eligible_at);
    sheet.time("started", job.started_at);
    std::string remark;
    if (job.completed_at && job.created_at) {
        remark = ", " + stopwatch(*job.completed_at - *job.created_at) + " after it was submitted";
    }
    sheet.time("ended", job.completed_at, remark);
    sheet.time("lease until", job.lease_until);
    sheet.json("payload", job.payload);
    sheet.json("result", job.result);
    session.put(sheet.text());
}

int get_job(const GetFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, job_listing().fields);
    const client::Job job = session.client().get(find_job_id(session, flags.id));
    const bool is_table =
        session.format() == OutputFormat::table || session.format() == OutputFormat::wide;
    if (is_table && !session.has_fields()) {
        print_sheet(session, job);
    } else {
        print_object(session, job_listing(), job.json);
    }
    return exit_ok;
}

int list_events(const GetFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, event_listing().fields);
    const std::string id = find_job_id(session, flags.id);
    std::vector<std::string> events;
    std::int64_t after = 0;
    for (;;) {
        const auto page = session.client().events(id, after);
        if (page.empty()) break;
        for (const client::Event& event : page) events.push_back(event.json);
        after = page.back().seq;
    }
    print_listing(session, event_listing(), events,
                  {.more_name = "next_after", .more = std::to_string(after)});
    return exit_ok;
}

}  // namespace

void add_job_get_command(Command& job) {
    Command& command = job.add_command("get", "Show a job");
    GetFlags& flags = command.runs(get_job);
    command.add_argument("ID", &flags.id, "A job: its id, the beginning of it, or @last");
    add_common_flags(command, flags.common);
    command.set_footer(examples({
        "sluice job get @last",
        "sluice job get @last --json --fields state,result",
    }));
}

void add_job_events_command(Command& job) {
    Command& command = job.add_command("events", "Show a job's history, step by step");
    GetFlags& flags = command.runs(list_events);
    command.add_argument("ID", &flags.id, "A job: its id, the beginning of it, or @last");
    add_common_flags(command, flags.common);
    command.set_footer(examples({
        "sluice job events @last",
        "sluice job events @last -o jsonl --fields seq,type,at",
    }));
}

}  // namespace sluice::cli
