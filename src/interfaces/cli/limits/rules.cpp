// `sluice limit list|get|add|change|lift`: rules in general.
#include <fmt/format.h>

#include "domain/values/percent_encoding.hpp"
#include "interfaces/cli/framework/api_path.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/limits/flag_words.hpp"
#include "interfaces/cli/limits/limit_commands.hpp"
#include "interfaces/cli/limits/rule_choice.hpp"
#include "interfaces/cli/limits/rule_flags.hpp"
#include "interfaces/cli/limits/rule_view.hpp"
#include "interfaces/cli/terminal/exit_code.hpp"

namespace sluice::cli {
namespace {

const std::string rules_path = "/api/v1/limits";
constexpr const char* rule_help = "A rule: its id, the beginning of it, or its name";

std::string rule_path(Session& session, const std::string& word) {
    return rules_path + "/" + percent_encoded(find_rule_id(session, rules_path, word));
}

struct ListedFlags {
    CommonFlags common{};
    std::string kind{};
};

int list_rules(const ListedFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, rule_listing().fields);
    if (!flags.kind.empty()) {
        check_word("--kind", flags.kind, {"limit", "throttle", "quota", "maintenance", "block"});
    }
    const std::string path =
        rules_path + query_text({{"kind", flags.kind}, {"tenant", flags.common.tenant}});
    print_rules(session, session.client().call("GET", path, "", true), "limits");
    return exit_ok;
}

struct RuleFlags {
    CommonFlags common{};
    std::string id{};
};

int show_rule(const RuleFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, rule_listing().fields);
    const std::string path =
        rule_path(session, flags.id) + query_text({{"tenant", flags.common.tenant}});
    print_rule(session, get_rule(session, path, flags.id));
    return exit_ok;
}

struct WriteFlags {
    ChangeFlags change{};
    ScopeFlags scope{};
    BoundFlags bounds{};
    std::string id{};
    std::string kind{};
    std::string name{};
    std::string until{};
    bool paused = false;
    bool resumed = false;
};

void write_rule(JsonWriter& json, const WriteFlags& flags) {
    if (!flags.kind.empty()) {
        check_word("--kind", flags.kind, {"limit", "throttle"});
        json.field("kind", flags.kind);
    }
    if (!flags.name.empty()) json.field("name", flags.name);
    write_scope(json, flags.scope, flags.change.common.tenant);
    write_limit_bounds(json, flags.bounds);
    if (flags.paused) json.field("paused", true);
    if (flags.resumed) json.field("paused", false);
    write_until(json, flags.until);
}

int add_rule(const WriteFlags& flags) {
    Session session(flags.change.common);
    session.fields_or({}, rule_listing().fields);
    if (flags.bounds.rate.empty() && !flags.bounds.burst.empty()) {
        throw CommandError(exit_usage, "--burst needs --rate");
    }
    const std::string body =
        change_body(flags.change, [&](JsonWriter& json) { write_rule(json, flags); });
    print_change(session, flags.change, call_limits(session, "POST", rules_path, body, false));
    return exit_ok;
}

int change_rule(const WriteFlags& flags) {
    Session session(flags.change.common);
    session.fields_or({}, rule_listing().fields);
    const std::string body =
        change_body(flags.change, [&](JsonWriter& json) { write_rule(json, flags); });
    const std::string path = rule_path(session, flags.id);
    print_change(session, flags.change, post_rule(session, flags.change, path, "", body, flags.id));
    return exit_ok;
}

int lift_rule(const WriteFlags& flags) {
    Session session(flags.change.common);
    session.fields_or({}, rule_listing().fields);
    const std::string body = change_body(flags.change);
    const std::string path = rule_path(session, flags.id);
    print_change(session, flags.change,
                 post_rule(session, flags.change, path, "lift", body, flags.id));
    return exit_ok;
}

void add_write_flags(Command& command, WriteFlags& flags) {
    command.add_option("--name", &flags.name, "NAME", "A name for it, for you");
    add_scope_flags(command, flags.scope);
    add_per_flag(command, flags.scope);
    add_limit_bounds(command, flags.bounds);
    command.add_flag("--paused", &flags.paused, "Nothing of it starts");
    add_until_flag(command, flags.until);
}

void add_list_command(Command& limit) {
    Command& command = limit.add_command("list", "List the rules, with their use");
    ListedFlags& flags = command.runs(list_rules);
    command.add_option("--kind", &flags.kind, "KIND",
                       "limit, throttle, quota, maintenance or block");
    add_common_flags(command, flags.common);
    command.set_footer(examples({"sluice limit list", "sluice limit list --kind throttle",
                                 "sluice limit list --json --fields id,use,held,closed"}));
}

void add_get_command(Command& limit) {
    Command& command = limit.add_command("get", "Show a rule and what it counts");
    RuleFlags& flags = command.runs(show_rule);
    command.add_argument("ID", &flags.id, rule_help);
    add_common_flags(command, flags.common);
    command.set_footer(
        examples({"sluice limit add --name smtp --type 'mail.*' --max-active 8 --reason 'the relay "
                  "takes 8' && sluice limit get smtp"}));
}

void add_add_command(Command& limit) {
    Command& command = limit.add_command("add", "Add a rule about what may run");
    WriteFlags& flags = command.runs(add_rule);
    command.add_option("--kind", &flags.kind, "KIND",
                       "limit, or throttle: for a while, by an operator (default: limit)");
    add_write_flags(command, flags);
    add_change_flags(command, flags.change);
    command.set_footer(
        "It covers the jobs that --tenant, --type, --queue and --source select; without these, "
        "all.\n\n" +
        examples({"sluice limit add --type scan --per tenant --max-active 4 --reason 'fair "
                  "share' --dry-run",
                  "sluice limit add --kind throttle --type 'mail.*' --rate 100/min --until 2h "
                  "--reason 'the relay is slow' --ticket OPS-7"}));
}

void add_change_command(Command& limit) {
    Command& command = limit.add_command("change", "Change a rule");
    WriteFlags& flags = command.runs(change_rule);
    command.add_argument("ID", &flags.id, rule_help);
    add_write_flags(command, flags);
    command.add_flag("--resume", &flags.resumed, "No longer paused").excludes = "--paused";
    add_revision_flag(command, flags.change);
    add_change_flags(command, flags.change);
    command.set_footer(
        "What no flag names stays; none takes a bound or an end away.\n\n" +
        examples({"sluice limit add --name disk --queue backup --max-active 2 --reason 'one "
                  "disk' && sluice limit change disk --max-active 4 --reason 'a second disk'"}));
}

void add_lift_command(Command& limit) {
    Command& command = limit.add_command("lift", "End a rule");
    WriteFlags& flags = command.runs(lift_rule);
    command.add_argument("ID", &flags.id, rule_help);
    add_revision_flag(command, flags.change);
    add_change_flags(command, flags.change);
    command.set_footer(
        examples({"sluice limit add --name night --queue batch --paused --until 8h --reason "
                  "'busy' && sluice limit lift night --reason 'not busy'"}));
}

}  // namespace

void add_rule_commands(Command& limit) {
    add_list_command(limit);
    add_get_command(limit);
    add_add_command(limit);
    add_change_command(limit);
    add_lift_command(limit);
}

}  // namespace sluice::cli
