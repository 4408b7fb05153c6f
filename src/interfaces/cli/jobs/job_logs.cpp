#include <fmt/format.h>

#include <deque>
#include <optional>

#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/framework/job_ids.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/jobs/job_commands.hpp"
#include "interfaces/cli/jobs/live_view.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/interrupt.hpp"

namespace sluice::cli {
namespace {

struct LogFlags {
    CommonFlags common{};
    std::string id{};
    bool follow = false;
    std::optional<int> tail{};
    std::string since{};
    bool prefix = false;
    bool timestamps = false;
};

// Prints lines as they come: bare text, unless a format or more was asked for.
class LogPrinter {
  public:
    LogPrinter(const Session& session, const LogFlags& flags, std::string id)
        : session_(session),
          flags_(flags),
          id_(std::move(id)),
          prints_objects_(session.was_asked_for_a_format() || session.has_fields()) {
        if (!flags.since.empty()) since_ = now() - duration_flag("--since", flags.since);
    }

    bool wants(const client::LogLine& line) const { return !since_ || line.at >= *since_; }

    void print(const client::LogLine& line) const {
        if (!wants(line)) return;
        if (prints_objects_) return print_listing(session_, log_listing(), {line.json}, {});
        session_.put_line(text(line));
    }

    // All at once, which a table and a JSON document need.
    void print_all(const std::vector<client::LogLine>& lines, std::int64_t last_seq) const {
        if (!prints_objects_) {
            for (const client::LogLine& line : lines) print(line);
            return;
        }
        std::vector<std::string> objects;
        for (const client::LogLine& line : lines) {
            if (wants(line)) objects.push_back(line.json);
        }
        print_listing(session_, log_listing(), objects,
                      {.more_name = "next_after", .more = std::to_string(last_seq)});
    }

  private:
    std::string text(const client::LogLine& line) const {
        const Screen& screen = session_.out();
        std::string out;
        if (flags_.timestamps) out += screen.painted(Style::dim, to_rfc3339(line.at)) + " ";
        if (flags_.prefix) {
            out += screen.painted(Style::dim, fmt::format("[{} #{} {}]", id_, line.attempt,
                                                          to_text(line.level))) +
                   " ";
        }
        const Style style = line.level == client::Level::error  ? Style::red
                            : line.level == client::Level::warn ? Style::yellow
                                                                : Style::plain;
        return out + screen.painted(style, printable_lines(line.message));
    }

    const Session& session_;
    const LogFlags& flags_;
    const std::string id_;
    const bool prints_objects_;
    std::optional<Timestamp> since_;
};

// The last `tail` lines that there are now, or all; and the number of the last one.
std::pair<std::deque<client::LogLine>, std::int64_t> read_lines(Session& session,
                                                                const std::string& id,
                                                                std::optional<int> tail) {
    std::deque<client::LogLine> lines;
    std::int64_t last = 0;
    for (;;) {
        auto page = session.client().logs(id, last);
        if (page.empty()) return {std::move(lines), last};
        last = page.back().seq;
        for (client::LogLine& line : page) lines.push_back(std::move(line));
        while (tail && lines.size() > static_cast<std::size_t>(*tail)) lines.pop_front();
    }
}

int follow_logs(Session& session, const LogFlags& flags, const std::string& id) {
    if (session.format() == OutputFormat::json) {
        throw CommandError(exit_usage, "-f and --json: a stream is not one document; use -o jsonl");
    }
    session.check_job(id);
    const LogPrinter printer(session, flags, id);
    std::int64_t skipped_up_to = 0;
    if (flags.tail) {
        skipped_up_to = read_lines(session, id, 0).second - *flags.tail;
    }
    const InterruptWatch watch;
    const auto on_update = [&](const client::Update& update) {
        if (update.line && update.line->seq > skipped_up_to) printer.print(*update.line);
        return !InterruptWatch::interrupted();
    };
    const bool has_ended = session.patient_client().follow(
        id, 0, on_update, [] { return !InterruptWatch::interrupted(); });
    return has_ended ? exit_ok : exit_interrupted;
}

int show_logs(const LogFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, log_listing().fields);
    if (flags.tail && *flags.tail < 0)
        throw CommandError(exit_usage, "--tail must not be negative");
    const std::string id = find_job_id(session, flags.id);
    if (flags.follow) return follow_logs(session, flags, id);
    const auto [lines, last] = read_lines(session, id, flags.tail);
    LogPrinter(session, flags, id)
        .print_all(std::vector<client::LogLine>(lines.begin(), lines.end()), last);
    return exit_ok;
}

}  // namespace

void add_job_logs_command(Command& job) {
    Command& command = job.add_command("logs", "Show a job's log");
    LogFlags& flags = command.runs(show_logs);
    command.add_argument("ID", &flags.id, "A job: its id, the beginning of it, or @last");
    command.add_flag("-f,--follow", &flags.follow, "Go on with what comes, until the job's end");
    command.add_option("--tail", &flags.tail, "N", "Only the last lines");
    command.add_option("--since", &flags.since, "DURATION", "Only lines of this time");
    command.add_flag("--prefix", &flags.prefix, "Begin each line with the job, attempt and level");
    command.add_flag("--timestamps", &flags.timestamps, "Begin each line with its time");
    add_common_flags(command, flags.common);
    command.set_footer(examples({
        "sluice job logs -f @last",
        "sluice job logs @last --tail 20 --timestamps",
        "sluice job logs @last -o jsonl",
    }));
}

}  // namespace sluice::cli
