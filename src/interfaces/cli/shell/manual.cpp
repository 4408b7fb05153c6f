#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "domain/values/utf8.hpp"
#include "interfaces/cli/framework/cli.hpp"
#include "interfaces/cli/framework/common_flags.hpp"

namespace sluice::cli {
namespace {

struct Entry {
    std::string_view name;
    std::string_view text;
};

constexpr auto exit_statuses = std::to_array<Entry>({
    {"0", "It was done; a job that was waited for has succeeded."},
    {"1", "Something went wrong that has no number of its own."},
    {"2", "The command line, or what it asks for, makes no sense."},
    {"3", "The job that was waited for has failed or timed out."},
    {"4", "The engine did not let you in."},
    {"5", "There is no such job."},
    {"6", "The job's state does not allow it, or a history is broken."},
    {"7", "The time to wait is up; the job goes on."},
    {"8", "The job that was waited for was canceled."},
    {"9", "The engine asks for fewer requests."},
    {"10", "No engine answers, or it cannot answer now."},
    {"130", "Ctrl-C; a job that was waited for goes on."},
});

constexpr auto environment = std::to_array<Entry>({
    {"SLUICE_SERVER", "Where the engine is, when --server does not say."},
    {"SLUICE_TOKEN", "The token, when --token does not say."},
    {"SLUICE_TENANT", "The tenant, when --tenant does not say."},
    {"SLUICE_CA_FILE", "The authority to trust for https://, when --ca-file does not say."},
    {"NO_COLOR", "When set and not empty: no colours."},
    {"TERM", "When it is dumb: no colours, and no line is drawn over."},
    {"COLUMNS", "The width of tables on a terminal, in place of the terminal's own."},
    {"XDG_STATE_HOME", "Where the last job is remembered."},
});

constexpr auto known_files = std::to_array<Entry>({
    {"~/.local/state/sluice/last-*",
     "The last job that you submitted to each engine, which @last stands for."},
    {"./sluice-data", "Where sluice dev keeps jobs, unless told otherwise."},
});

void append_character(std::string& out, std::string_view bytes) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    unsigned point = byte(0) & (0x7Fu >> bytes.size());
    for (std::size_t i = 1; i < bytes.size(); ++i) point = point << 6 | (byte(i) & 0x3Fu);
    fmt::format_to(std::back_inserter(out), "\\[u{:04X}]", point);
}

// The text, escaped so that no part of it is an instruction to roff.
std::string roff(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t length =
            std::max<std::size_t>(1, utf8_length(text.data(), text.data() + text.size()));
        const bool at_line_start = out.empty() || out.back() == '\n';
        if (length > 1) {
            append_character(out, text.substr(0, length));
        } else {
            switch (text[0]) {
                case '\\': out += "\\e"; break;
                case '-': out += "\\-"; break;
                case '\'': out += "\\(aq"; break;
                case '`': out += "\\(ga"; break;
                case '^': out += "\\(ha"; break;
                case '~': out += "\\(ti"; break;
                case '.': out += at_line_start ? "\\&." : "."; break;
                default: out += text[0];
            }
        }
        text.remove_prefix(length);
    }
    return out;
}

void append_entry(std::string& out, const std::string& name, std::string_view text) {
    out += fmt::format(".TP\n{}\n{}\n", name, roff(text));
}

// "-o, --output FORMAT", the names in bold and the value in italics.
std::string flag_heading(const Option& flag) {
    std::string out;
    for (const std::string& name : flag.names) {
        out += fmt::format("{}\\fB{}\\fR", out.empty() ? "" : ", ", roff(name));
    }
    if (flag.takes_value()) out += fmt::format(" \\fI{}\\fR", roff(flag.value_name));
    return out;
}

void append_flag(std::string& out, const Option& flag) {
    std::string text = flag.help;
    if (!flag.default_text.empty()) text += " (default: " + flag.default_text + ")";
    if (!flag.variable.empty()) text += " (environment: " + flag.variable + ")";
    append_entry(out, flag_heading(flag), text + ".");
}

// The end of --help: a paragraph, examples, or both.
void append_footer(std::string& out, const std::string& footer) {
    constexpr std::string_view title = "Examples:\n";
    const std::size_t begin = footer.find(title);
    std::string remark = footer.substr(0, begin);
    remark.erase(remark.find_last_not_of('\n') + 1);
    if (!remark.empty()) out += fmt::format(".PP\n{}\n", roff(remark));
    if (begin == std::string::npos) return;
    std::string lines = footer.substr(begin + title.size());
    lines.erase(lines.find_last_not_of('\n') + 1);
    out += fmt::format(".PP\n.nf\n.RS 2\n{}\n.RE\n.fi\n", roff(lines));
}

// Commands that have none below them, each with its flags and arguments.
void append_command(std::string& out, const Command& command, const Command*& talks_to_engine) {
    const auto below = command.visible_commands();
    for (const Command* sub : below) append_command(out, *sub, talks_to_engine);
    if (!below.empty()) return;
    std::string heading = command.path();
    for (const Option& argument : command.arguments()) {
        heading += " " + argument.names.front();
        if (argument.is_list()) heading += "...";
    }
    out += fmt::format(".SS {}\n{}.\n", roff(heading), roff(command.summary()));
    for (const Option& argument : command.arguments()) {
        append_entry(out, fmt::format("\\fI{}\\fR", roff(argument.names.front())),
                     argument.help + ".");
    }
    for (const Option& flag : command.flags()) {
        if (std::holds_alternative<HelpFlag>(flag.target)) continue;
        if (flag.heading == connection_heading) {
            talks_to_engine = &command;
        } else {
            append_flag(out, flag);
        }
    }
    append_footer(out, command.footer());
}

template <std::size_t size>
void append_entries(std::string& out, const char* section, const std::array<Entry, size>& entries) {
    out += fmt::format(".SH {}\n", section);
    for (const Entry& entry : entries) {
        append_entry(out, fmt::format("\\fB{}\\fR", roff(entry.name)), entry.text);
    }
}

}  // namespace

std::string manual_page(const Command& program) {
    std::string out = fmt::format(".TH SLUICE 1 \"\" \"sluice {}\" \"Sluice\"\n", SLUICE_VERSION);
    out += ".SH NAME\nsluice \\- a job engine for control planes\n";
    out += ".SH SYNOPSIS\n\\fBsluice\\fR \\fICOMMAND\\fR [\\fIFLAGS\\fR]\n";
    out +=
        ".SH DESCRIPTION\n"
        "One program is the engine that keeps jobs and their history, the worker that runs them, "
        "and the command line that submits and watches them.\n"
        ".PP\n"
        "Data goes to standard output, everything else to standard error. Lists are tables on a "
        "terminal, and lines with tabs on a pipe.\n"
        ".PP\n"
        "Where a command takes a job's \\fIID\\fR, the first digits of it are enough as long as "
        "no other job has the same ones, and \\fB@last\\fR is the job that you submitted last.\n";
    out += ".SH COMMANDS\n";
    const Command* talks_to_engine = nullptr;
    for (const Command* command : program.visible_commands()) {
        append_command(out, *command, talks_to_engine);
    }
    if (talks_to_engine) {
        out += ".SH COMMON FLAGS\nCommands that talk to an engine also take these.\n";
        for (const Option& flag : talks_to_engine->flags()) {
            if (flag.heading == connection_heading) append_flag(out, flag);
        }
    }
    append_entries(out, "EXIT STATUS", exit_statuses);
    append_entries(out, "ENVIRONMENT", environment);
    append_entries(out, "FILES", known_files);
    out +=
        ".SH EXAMPLES\n"
        "An engine to try it out, and a first job, in two terminals:\n"
        ".PP\n.nf\n.RS 2\n"
        "sluice dev\n"
        "sluice run demo.hello \\-\\-follow\n"
        ".RE\n.fi\n";
    return out;
}

}  // namespace sluice::cli
