#include "interfaces/cli/limits/rule_choice.hpp"

#include <fmt/format.h>

#include "domain/values/duration_text.hpp"
#include "domain/values/time.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/limits/control_history.hpp"
#include "interfaces/cli/limits/flag_words.hpp"
#include "interfaces/cli/limits/rule_view.hpp"
#include "interfaces/cli/terminal/display_text.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t id_digits = 24;

bool is_meant(const JsonObject& rule, const std::string& word) {
    return rule.text("id").starts_with(word) || rule.text("name") == word;
}

// The newest lift of such a rule, as the answer to the question where it is; empty: there is none,
// or the caller may not see it.
std::string lifted_text(Session& session, const std::string& word) {
    std::vector<std::string> events;
    try {
        events = control_history(session.asking());
    } catch (const client::Error&) {
        return "";
    }
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
        const JsonObject lift(with_change(*event));
        if (lift.text("action") != "rule_lifted" || !is_about(lift, word)) continue;
        const auto at = parse_rfc3339(lift.text("at"));
        return fmt::format(
            "{} was lifted at {} by {}{}; see its history with: sluice limit "
            "history --rule {}",
            printable(lift.text("rule")), at ? absolute_time(*at) : "",
            printable(lift.text("actor")),
            lift.text("reason").empty() ? "" : ": " + printable(lift.text("reason")),
            printable(lift.text("id")));
    }
    return "";
}

[[noreturn]] void throw_no_rule(Session& session, const std::string& word) {
    const std::string lifted = lifted_text(session, word);
    if (!lifted.empty()) throw CommandError(exit_not_found, lifted);
    throw CommandError(
        exit_not_found,
        fmt::format("no rule has the name {}, or an id that begins with it", printable(word)));
}

// The revision that the rule must still have.
std::int64_t revision_of(Session& session, const ChangeFlags& flags, const std::string& path) {
    if (!flags.if_revision.empty()) {
        if (const auto revision = parse_integer(flags.if_revision)) return *revision;
        throw CommandError(exit_usage,
                           fmt::format("--if-revision \"{}\": write a whole number, as sluice "
                                       "limit get shows it",
                                       printable(flags.if_revision)));
    }
    const std::string rule = session.asking().call("GET", path, "", true);
    return parse_integer(JsonObject(rule).text("revision")).value_or(0);
}

[[noreturn]] void throw_explained(Session& session, const client::Error& error,
                                  const std::string& word) {
    if (error.status() == 412) {
        throw CommandError(
            exit_conflict,
            fmt::format("somebody else has changed it meanwhile: {}; look at it, and "
                        "give the command again",
                        printable(error.what())));
    }
    if (error.status() != 404 || word.empty()) throw error;
    const std::string lifted = lifted_text(session, word);
    if (lifted.empty()) throw error;
    throw CommandError(exit_not_found, lifted);
}

}  // namespace

std::string find_rule_id(Session& session, const std::string& path, const std::string& word) {
    const bool is_hex = word.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (is_hex && word.size() == id_digits) return word;
    std::vector<std::string> ids;
    std::string choice;
    for (const std::string& text : listed(session.asking().call("GET", path, "", true))) {
        const JsonObject rule(text);
        if (!is_meant(rule, word)) continue;
        ids.push_back(rule.text("id"));
        choice += fmt::format("\n  {}  {}", ids.back(), printable(rule_title(rule)));
    }
    if (ids.size() == 1) return ids.front();
    if (ids.empty()) throw_no_rule(session, word);
    throw CommandError(exit_usage,
                       fmt::format("\"{}\" may be any of these {} rules; give the id:{}",
                                   printable(word), ids.size(), choice));
}

std::string get_rule(Session& session, const std::string& path, const std::string& word) {
    try {
        return call_limits(session, "GET", path, "", true);
    } catch (const client::Error& error) {
        throw_explained(session, error, word);
    }
}

std::string post_rule(Session& session, const ChangeFlags& flags, const std::string& path,
                      const std::string& action, const std::string& body, const std::string& word) {
    try {
        const std::string tag = fmt::format("\"{}\"", revision_of(session, flags, path));
        const std::string whole_path = action.empty() ? path : path + "/" + action;
        return call_limits(session, "POST", whole_path, body, false, {}, {{"If-Match", tag}});
    } catch (const client::Error& error) {
        throw_explained(session, error, word);
    }
}

}  // namespace sluice::cli
