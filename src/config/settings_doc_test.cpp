// Writes the example file and the tables of docs/configuration.md from the rows of settings, and
// compares. SLUICE_WRITE_DOCS=1 writes the texts into these files instead.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "config/config_flags.hpp"
#include "config/settings.hpp"

namespace sluice {
namespace {

constexpr const char* how_to_write =
    " differs from the rows of settings; write it anew with\n"
    "SLUICE_WRITE_DOCS=1 build/tests/main_tests --gtest_filter='SettingsDoc.*'";
const std::string example_path = SLUICE_SOURCE_DIR "/docs/sluice.example.toml";
const std::string page_path = SLUICE_SOURCE_DIR "/docs/configuration.md";
const std::string example_end = "# Examples: job types, executors, nodes, kinds of entities.\n";

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void expect_in_file(const std::string& path, const std::string& begin, const std::string& end,
                    const std::string& wanted) {
    const std::string text = text_of(path);
    const std::size_t from = text.find(begin);
    ASSERT_NE(from, std::string::npos) << path << " has no " << begin;
    const std::size_t to = text.find(end, from + begin.size());
    ASSERT_NE(to, std::string::npos) << path << " has no " << end;
    if (std::getenv("SLUICE_WRITE_DOCS") != nullptr) {
        std::ofstream(path) << text.substr(0, from) << begin << wanted << text.substr(to);
        return;
    }
    const std::size_t length = to - from - begin.size();
    EXPECT_TRUE(text.substr(from + begin.size(), length) == wanted) << path << how_to_write;
}

Config every_default() {
    Config config;
    config.store = default_store;
    config.jwt.emplace();
    return config;
}

// The default as it would stand in a file; nothing when there is none.
template <class Owner>
std::string default_of(const Row<Owner>& row, const Owner& owner) {
    const Origins none;
    Listing out(none);
    if (row.form.show) row.form.show(out, {row.key}, owner);
    const auto settings = out.take();
    if (settings.empty() || settings.front().value == "\"\"") return "";
    return settings.front().value;
}

// The text as a comment of lines that are not too long.
std::string comment(const std::string& text) {
    std::istringstream words(text);
    std::string out, line = "#";
    for (std::string word; words >> word; line += " " + word) {
        if (line.size() + 1 + word.size() <= 100) continue;
        out += line + "\n";
        line = "#";
    }
    return out + line + "\n";
}

// The text about the setting after its help: "1 to 8; SLUICE_NODE".
template <class Owner>
std::string remarks(const Row<Owner>& row) {
    std::vector<std::string> parts;
    const bool is_plain =
        row.form.range.find(' ') == std::string::npos || row.form.kind == TomlValue::Kind::flag;
    if (!is_plain) parts.push_back(row.form.range);
    if (!row.outside.variable.empty()) parts.push_back(row.outside.variable);
    if (!row.outside.flag.empty()) parts.push_back(row.outside.flag);
    if (!row.other_key.empty()) parts.push_back("or " + row.other_key);
    return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, "; "));
}

template <class Owner>
std::string example_lines(const Row<Owner>& row, const Owner& defaults) {
    if (!row.in_file || (!row.form.show && row.example.empty())) return "";
    const std::string key = row.key.substr(row.key.rfind('.') + 1);
    const std::string value = row.example.empty() ? default_of(row, defaults) : row.example;
    return fmt::format("{}{}{} = {}\n", comment(row.help + remarks(row)),
                       row.example.empty() ? "" : "# ", key, value);
}

bool is_absent(const std::string& path) {
    return path == "auth.jwt" || path == "governance";
}

// A part that is absent by default is a comment as a whole.
std::string commented(const std::string& text) {
    std::istringstream lines(text);
    std::string out;
    for (std::string line; std::getline(lines, line);) {
        const bool is_value = line.starts_with("# ") && line.find(" = ") != std::string::npos &&
                              line.find(' ', 2) == line.find(" = ");
        out += (is_value ? "" : "# ") + line + "\n";
    }
    return out;
}

struct Heading {
    std::string path;
    std::string text;
};
const std::vector<Heading> headings{
    {"", ""},
    {"retention_of", "Outcomes whose jobs are kept for another time than retention."},
    {"log", ""},
    {"lease", ""},
    {"tls",
     "HTTPS instead of HTTP: TLS 1.2 and above. SIGHUP has both files read again, for the "
     "connections to come."},
    {"limits", "Limits of the HTTP server, and of each caller, so that no caller takes it all."},
    {"auth",
     "Access, which docs/security.md explains. Access tokens are made with \"sluice token "
     "create\"."},
    {"runner",
     "Runs jobs in the engine's own process: those of the types below that have an "
     "executor."},
    {"auth.jwt",
     "JSON Web Tokens of an identity provider, beside the engine's own tokens. The "
     "first three settings are needed."},
    {"deploy", "The deploy control plane, /deploy/jobs. docs/contracts/deploy.md explains it."},
    {"secrets", "Secrets in payloads. docs/security-data.md explains it."},
    {"governance", "Rules about which jobs may run now. docs/limits.md explains them."},
};

std::string example_settings() {
    const Config defaults = every_default();
    std::string out;
    for (const Heading& heading : headings) {
        std::string lines;
        for (const Row<Config>& row : setting_rows()) {
            const std::size_t dot = row.key.rfind('.');
            const std::string path = dot == row.key.npos ? "" : row.key.substr(0, dot);
            if (path != heading.path) continue;
            lines += example_lines(row, defaults);
            if (path.empty()) lines += "\n";
        }
        if (heading.path.empty()) {
            out += lines;
            continue;
        }
        if (!heading.text.empty()) out += comment(heading.text);
        lines = fmt::format("[{}]\n{}", heading.path, lines);
        out += (is_absent(heading.path) ? commented(lines) : lines) + "\n";
    }
    out += comment("What a job gets when its submitter does not say otherwise.");
    out += "[job_types.default]\n";
    for (const Row<JobType>& row : job_type_rows()) out += example_lines(row, JobType{});
    return out;
}

std::string code(const std::string& text) {
    return text.empty() ? "" : "`" + text + "`";
}

template <class Owner>
std::string table_of(const Rows<Owner>& rows, const Owner& defaults) {
    std::string out =
        "| setting | default | range | environment, flag | meaning |\n|---|---|---|---|---|\n";
    for (const Row<Owner>& row : rows) {
        std::string outside = code(row.outside.variable);
        if (!row.outside.flag.empty()) {
            outside += ", " + code(row.outside.argument.empty()
                                       ? row.outside.flag
                                       : row.outside.flag + " " + row.outside.argument);
        }
        const bool is_secret = row.form.secrecy == Secrecy::whole;
        out += fmt::format("| {}{} | {} | {}{} | {} | {} |\n", code(row.key),
                           row.in_file ? "" : " (not in files)", code(default_of(row, defaults)),
                           row.form.range, is_secret ? ", secret" : "", outside, row.help);
    }
    return out;
}

TEST(SettingsDoc, TheExampleHasEverySetting) {
    expect_in_file(example_path, "later.\n\n", example_end, example_settings() + "\n");
}

TEST(SettingsDoc, EveryTableOfSettingsHasAHeading) {
    for (const Row<Config>& row : setting_rows()) {
        if (example_lines(row, every_default()).empty()) continue;
        const std::size_t dot = row.key.rfind('.');
        const std::string path = dot == row.key.npos ? "" : row.key.substr(0, dot);
        EXPECT_TRUE(std::any_of(headings.begin(), headings.end(), [&](const Heading& heading) {
            return heading.path == path;
        })) << row.key;
    }
}

TEST(SettingsDoc, TheExampleShowsTheDefaults) {
    const auto none = [](const std::string&) { return std::nullopt; };
    const auto example = load_config(text_of(example_path), "sluice.example.toml", none);

    ASSERT_TRUE(example) << example.error().message;
    for (const Row<Config>& row : setting_rows()) {
        if (row.key.starts_with("auth.jwt.")) continue;
        EXPECT_EQ(default_of(row, *example), default_of(row, every_default())) << row.key;
    }
    EXPECT_EQ(example->job_types.fallback(), JobType{});
}

TEST(SettingsDoc, ThePageHasTheTablesOfTheCode) {
    expect_in_file(page_path, "<!-- settings: begin -->\n", "<!-- settings: end -->",
                   table_of(setting_rows(), every_default()));
    expect_in_file(page_path, "<!-- job types: begin -->\n", "<!-- job types: end -->",
                   table_of(job_type_rows(), JobType{}));
}

TEST(SettingsDoc, FlagsAreExplainedByTheirRows) {
    EXPECT_EQ(flag_help("listen"), "Address to serve on (default 127.0.0.1:7070)");
    EXPECT_EQ(flag_help("store"), "Where jobs are kept: sqlite:PATH, postgres://… or memory:");
    EXPECT_EQ(flag_help("store_schema"),
              "Schema of the tables on PostgreSQL (default orchestrator)");
    EXPECT_EQ(flag_help("runner.concurrency"), "Jobs that this process runs at once (default 8)");
    EXPECT_EQ(flag_help("no_auth"), "Let everybody on this machine in (loopback only)");
}

}  // namespace
}  // namespace sluice
