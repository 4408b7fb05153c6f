// `sluice maintenance …` and `sluice tenant …`: everything stops, or one tenant does.
#include <fmt/format.h>

#include "domain/values/time.hpp"
#include "interfaces/cli/framework/api_path.hpp"
#include "interfaces/cli/limits/flag_words.hpp"
#include "interfaces/cli/limits/limit_commands.hpp"
#include "interfaces/cli/limits/rule_flags.hpp"
#include "interfaces/cli/limits/rule_view.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/exit_code.hpp"

namespace sluice::cli {
namespace {

const std::string maintenance_path = "/api/v1/maintenance";
const std::string tenants_path = "/api/v1/tenants";

struct HaltFlags {
    ChangeFlags change{};
    std::string tenant{};  // an argument
    std::string until{};
    bool refuse_submits = false;
    bool take_submits = false;
    bool cancel_running = false;
};

void write_tenant(JsonWriter& json, const HaltFlags& flags) {
    if (!flags.change.common.tenant.empty()) json.field("tenant", flags.change.common.tenant);
}

int show_maintenance(const CommonFlags& flags) {
    Session session(flags);
    session.fields_or({}, rule_listing().fields);
    const std::string path = maintenance_path + query_text({{"tenant", flags.tenant}});
    print_rules(session, session.client().call("GET", path, "", true), "maintenance");
    return exit_ok;
}

// What maintenance does, beside what it holds back now.
std::string maintenance_text(const JsonObject& rule, bool is_dry) {
    const auto until = parse_rfc3339(rule.text("until"));
    const std::string tenant = rule.text("tenant");
    return fmt::format(
        "no job{} {} {}; what runs {} on, and submits {} {}",
        tenant.empty() ? "" : " of tenant " + printable(tenant), is_dry ? "would start" : "starts",
        until ? "until " + absolute_time(*until) : "from now on", is_dry ? "would go" : "goes",
        is_dry ? "would be" : "are", rule.text("refuses_submits") == "true" ? "refused" : "taken");
}

int start_maintenance(const HaltFlags& flags) {
    Session session(flags.change.common);
    session.fields_or({}, rule_listing().fields);
    const std::string body = change_body(flags.change, [&](JsonWriter& json) {
        write_tenant(json, flags);
        write_until(json, flags.until);
        if (flags.refuse_submits) json.field("submits", "refuse");
        if (flags.take_submits) json.field("submits", "take");
    });
    const std::string answer = call_limits(session, "POST", maintenance_path, body, true);
    print_change(session, flags.change, answer);
    session.say(maintenance_text(JsonObject(answer), flags.change.dry_run));
    return exit_ok;
}

int end_maintenance(const HaltFlags& flags) {
    Session session(flags.change.common);
    session.fields_or({}, rule_listing().fields);
    const std::string body =
        change_body(flags.change, [&](JsonWriter& json) { write_tenant(json, flags); });
    print_change(session, flags.change,
                 call_limits(session, "POST", maintenance_path + "/end", body, true));
    return exit_ok;
}

std::string tenant_body(const HaltFlags& flags,
                        const std::function<void(JsonWriter&)>& write = {}) {
    return change_body(flags.change, [&](JsonWriter& json) {
        json.field("tenant", flags.tenant);
        if (write) write(json);
    });
}

std::string canceled_text(const std::string& count, bool is_dry) {
    const char* jobs = count == "1" ? "running job" : "running jobs";
    return is_dry ? fmt::format("it would cancel {} {}", count, jobs)
                  : fmt::format("{} {} canceled", count, jobs);
}

int block_tenant(const HaltFlags& flags) {
    Session session(flags.change.common);
    session.fields_or({}, rule_listing().fields);
    const std::string body = tenant_body(flags, [&](JsonWriter& json) {
        write_until(json, flags.until);
        if (flags.cancel_running) json.field("running", "cancel");
    });
    const std::string answer =
        call_limits(session, "POST", tenants_path + "/block", body, true, "tenant");
    print_change(session, flags.change, answer);
    if (flags.cancel_running) {
        session.say(canceled_text(JsonObject(answer).text("canceled"), flags.change.dry_run));
    }
    return exit_ok;
}

int unblock_tenant(const HaltFlags& flags) {
    Session session(flags.change.common);
    session.fields_or({}, rule_listing().fields);
    print_change(session, flags.change,
                 call_limits(session, "POST", tenants_path + "/unblock", tenant_body(flags), true,
                             "tenant"));
    return exit_ok;
}

int list_blocked(const CommonFlags& flags) {
    Session session(flags);
    session.fields_or({}, rule_listing().fields);
    print_rules(session, session.client().call("GET", tenants_path + "/blocked", "", true),
                "tenants");
    return exit_ok;
}

}  // namespace

void add_maintenance_commands(Command& program) {
    Command& group = program.add_command("maintenance", "Let nothing start, for a while");
    Command& show = group.add_command("show", "Whether there is maintenance, and why");
    add_common_flags(show, show.runs(show_maintenance));
    show.set_footer(examples({"sluice maintenance show"}));

    Command& start = group.add_command("start", "From now on no job starts");
    HaltFlags& started = start.runs(start_maintenance);
    start.add_flag("--refuse-submits", &started.refuse_submits,
                   "Also take no jobs (503); else they are taken and wait");
    start.add_flag("--take-submits", &started.take_submits, "Take jobs again, which wait")
        .excludes = "--refuse-submits";
    add_until_flag(start, started.until);
    add_change_flags(start, started.change);
    start.set_footer(
        "What runs goes on. With --tenant it is for that tenant only. While there is maintenance, "
        "what\nno flag names stays.\n\n" +
        examples({"sluice maintenance start --until 30m --reason 'a new database' --dry-run"}));

    Command& end = group.add_command("end", "Jobs start again");
    HaltFlags& ended = end.runs(end_maintenance);
    add_change_flags(end, ended.change);
    end.set_footer(
        examples({"sluice maintenance start --reason 'a test' && sluice maintenance "
                  "end --reason 'it was one'"}));
}

void add_tenant_commands(Command& program) {
    Command& tenant = program.add_command("tenant", "Block tenants, and let them work again");
    Command& list = tenant.add_command("list", "List the tenants that are blocked");
    add_common_flags(list, list.runs(list_blocked));
    list.set_footer(examples({"sluice tenant list"}));

    Command& block = tenant.add_command("block", "Take no jobs of a tenant, and start none");
    HaltFlags& blocked = block.runs(block_tenant);
    block.add_argument("NAME", &blocked.tenant, "Which tenant");
    block.add_flag("--cancel-running", &blocked.cancel_running,
                   "Cancel what runs; else it goes on to its end");
    add_until_flag(block, blocked.until);
    add_change_flags(block, blocked.change);
    block.set_footer(
        "Its jobs that wait stay as they are, and it may read everything.\n\n" +
        examples({"sluice tenant block mallory --reason 'a stolen token' --ticket SEC-3"}));

    Command& unblock = tenant.add_command("unblock", "Let a tenant work again");
    HaltFlags& unblocked = unblock.runs(unblock_tenant);
    unblock.add_argument("NAME", &unblocked.tenant, "Which tenant");
    add_change_flags(unblock, unblocked.change);
    unblock.set_footer(
        examples({"sluice tenant block trudy --reason 'a test' && sluice tenant unblock trudy "
                  "--reason 'it was one'"}));
}

}  // namespace sluice::cli
