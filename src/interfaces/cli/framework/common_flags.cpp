#include "interfaces/cli/framework/common_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "domain/values/duration_text.hpp"
#include "domain/values/suggestion.hpp"
#include "domain/values/time.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/terminal/display_text.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t token_bytes_max = 16 * 1024;
constexpr std::chrono::hours moment_reach{24 * 36'500};

// The contents of the file are never shown: they are a secret, or were meant for something else.
std::string read_token_file(const char* origin, const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(token_bytes_max + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    const bool is_token =
        !text.empty() && text.size() <= token_bytes_max &&
        std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
    if (is_token) return text;
    throw CommandError(exit_usage,
                       fmt::format("{} {}: must be a file that can be read and holds a token in "
                                   "one line",
                                   origin, printable(path)));
}

}  // namespace

const std::vector<std::string>& output_formats() {
    static const std::vector<std::string> formats{"table", "wide",  "plain",
                                                  "json",  "jsonl", "name"};
    return formats;
}

const std::vector<std::string>& state_names() {
    static const std::vector<std::string> names{"queued", "running",  "succeeded",
                                                "failed", "canceled", "timed_out"};
    return names;
}

void add_connection_flags(Command& command, ConnectionFlags& flags) {
    command.begin_heading(connection_heading);
    command.add_option("--server", &flags.server, "URL", "Where the engine is").variable =
        "SLUICE_SERVER";
    command.add_option("--token-file", &flags.token_file, "FILE",
                       "A file with the token to sign in with (also: SLUICE_TOKEN_FILE)");
    command
        .add_option("--token", &flags.token, "TOKEN",
                    "The token itself; other users of this machine can see flags, so better set "
                    "the variable")
        .variable = "SLUICE_TOKEN";
    command.add_option("--tenant", &flags.tenant, "NAME", "Whose jobs (default: the token's)")
        .variable = "SLUICE_TENANT";
    command.add_option("--ca-file", &flags.ca_file, "FILE", "Authority to trust for https:// (PEM)")
        .variable = "SLUICE_CA_FILE";
    command.add_flag("--no-color", &flags.no_colour, "No colours (also: NO_COLOR)");
    command.add_flag("-q,--quiet", &flags.quiet, "Say nothing beside data and errors");
    command.begin_heading();
}

std::string token_of(const ConnectionFlags& flags) {
    if (!flags.token_file.empty()) return read_token_file("--token-file", flags.token_file);
    if (!flags.token.empty()) return flags.token;
    const char* file = std::getenv("SLUICE_TOKEN_FILE");
    if (file == nullptr || *file == '\0') return "";
    return read_token_file("SLUICE_TOKEN_FILE", file);
}

void add_common_flags(Command& command, CommonFlags& flags, TimeoutFlag timeout) {
    add_connection_flags(command, flags);
    command.begin_heading(connection_heading);
    command.add_option("-o,--output", &flags.output, "FORMAT",
                       "table, wide, plain, json, jsonl or name "
                       "(default: table on a terminal, plain on a pipe)");
    command.add_flag("--json", &flags.json, "The same as -o json");
    command.add_option("--fields", &flags.fields, "A,B",
                       "Only these fields, with commas between them");
    const bool is_short = timeout == TimeoutFlag::of_requests;
    command.add_option(is_short ? "--timeout,--request-timeout" : "--request-timeout",
                       &flags.request_timeout, "DURATION",
                       "How long a request may take (default: 30s)");
    command.add_flag("--curl", &flags.show_curl,
                     "Print the request as a curl command instead of sending it");
    command.begin_heading();
}

void check_word(const std::string& what, const std::string& word,
                const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), word) != known.end()) return;
    throw CommandError(
        exit_usage, fmt::format("{} \"{}\" is not known; {}", what, word, suggestion(word, known)));
}

OutputFormat output_format(const CommonFlags& flags) {
    if (flags.json && !flags.output.empty() && flags.output != "json") {
        throw CommandError(exit_usage, "--json and -o " + flags.output + " contradict each other");
    }
    if (flags.json) return OutputFormat::json;
    if (flags.output.empty()) return OutputFormat::automatic;
    check_word("--output", flags.output, output_formats());
    if (flags.output == "table") return OutputFormat::table;
    if (flags.output == "wide") return OutputFormat::wide;
    if (flags.output == "plain") return OutputFormat::plain;
    if (flags.output == "json") return OutputFormat::json;
    if (flags.output == "jsonl") return OutputFormat::jsonl;
    return OutputFormat::name;
}

client::Millis duration_flag(const std::string& flag, const std::string& text) {
    const auto duration = parse_duration(text);
    if (!duration) {
        throw CommandError(exit_usage,
                           fmt::format("{} \"{}\" is no duration; write it like 500ms, 30s, 5m, "
                                       "1h30m or 7d",
                                       flag, text));
    }
    return std::chrono::duration_cast<client::Millis>(*duration);
}

client::Time time_flag(const std::string& flag, const std::string& text) {
    const auto time = parse_rfc3339(text);
    if (!time) {
        throw CommandError(exit_usage,
                           fmt::format("{} \"{}\" is no time; write it like 2026-11-15T18:00:00Z "
                                       "or 2026-11-15T18:00:00+01:00",
                                       flag, text));
    }
    return *time;
}

std::string moment_flag(const std::string& flag, const std::string& text, int sign) {
    if (const auto time = parse_rfc3339(text)) return to_rfc3339(*time);
    const auto duration = parse_duration(text);
    if (duration && *duration <= moment_reach) return to_rfc3339(now() + sign * *duration);
    throw CommandError(exit_usage,
                       fmt::format("{} \"{}\" is neither a duration (5m, 7d; up to 36500d) nor a "
                                   "time (2026-11-15T18:00:00Z)",
                                   flag, printable(text)));
}

std::vector<std::string> comma_list(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        if (const auto word = text.substr(0, comma); !word.empty()) words.emplace_back(word);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return words;
}

std::vector<std::string> comma_lists(const std::vector<std::string>& texts) {
    std::vector<std::string> all;
    for (const std::string& text : texts) {
        for (std::string& word : comma_list(text)) all.push_back(std::move(word));
    }
    return all;
}

}  // namespace sluice::cli
