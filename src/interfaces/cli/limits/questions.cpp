// `sluice limit check|can-start`.
#include <fmt/format.h>

#include "domain/values/time.hpp"
#include "interfaces/cli/framework/api_path.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/limits/limit_commands.hpp"
#include "interfaces/cli/limits/rule_flags.hpp"
#include "interfaces/cli/limits/rule_view.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/exit_code.hpp"

namespace sluice::cli {
namespace {

// ── check ──

const Listing& difference_listing() {
    static const Listing listing{
        .name = "differences",
        .id_field = "rule",
        .fields = {"rule", "meter", "counted", "leased"},
        .table = {{"rule", "RULE"},
                  {"meter", "METER"},
                  {"counted", "COUNTED"},
                  {"leased", "LEASED"}},
        .wide = {},
        .plain = {"rule", "meter", "counted", "leased"},
    };
    return listing;
}

struct CheckFlags {
    CommonFlags common{};
    bool repair = false;
    std::string reason{};
    std::string ticket{};
};

int check_meters(const CheckFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, difference_listing().fields);
    const std::string body = json_object_text([&](JsonWriter& json) {
        json.field("repair", flags.repair);
        if (!flags.reason.empty()) json.field("reason", flags.reason);
        if (!flags.ticket.empty()) json.field("ticket", flags.ticket);
    });
    const std::string document =
        session.client().call("POST", "/api/v1/limits/check", body, !flags.repair);
    const std::vector<std::string> differences = JsonObject(document).elements("differences");
    if (!differences.empty() || session.prints_json()) {
        print_listing(session, difference_listing(), differences, {.json = document});
    }
    if (differences.empty()) {
        session.say("every meter agrees with the leases");
        return exit_ok;
    }
    session.say(fmt::format("{} meters {} with the leases", differences.size(),
                            flags.repair ? "agree again" : "do not agree"));
    if (!flags.repair) session.say("repair them with: sluice limit check --repair");
    return flags.repair ? exit_ok : exit_conflict;
}

// ── can-start ──

struct StartFlags {
    CommonFlags common{};
    ScopeFlags scope{};
};

int can_start(const StartFlags& flags) {
    Session session(flags.common);
    static const Listing listing{.name = "held_by",
                                 .id_field = "can_start",
                                 .fields = {"can_start", "held_by", "next_eligible_at"}};
    session.fields_or({}, listing.fields);
    if (flags.scope.type.empty()) throw CommandError(exit_usage, "--type is required: of which?");
    const std::string path =
        "/api/v1/limits/can-start" + query_text({{"tenant", flags.common.tenant},
                                                 {"type", flags.scope.type},
                                                 {"queue", flags.scope.queue},
                                                 {"source", flags.scope.source}});
    const std::string answer = session.client().call("GET", path, "", true);
    const JsonObject start(answer);
    const bool can = start.text("can_start") == "true";
    if (session.prints_json() || session.has_fields() || session.was_asked_for_a_format()) {
        print_object(session, listing, answer);
        return can ? exit_ok : exit_conflict;
    }
    session.put_line(can ? "yes" : "no");
    for (const std::string& text : start.elements("held_by")) {
        const JsonObject held(text);
        session.put_line(
            fmt::format("  {}  {}", printable(held.text("code")), printable(held.text("detail"))));
    }
    if (const auto at = parse_rfc3339(start.text("next_eligible_at")); at && *at > now()) {
        session.put_line(fmt::format("  not before {} (in {})", absolute_time(*at),
                                     short_duration(*at - now())));
    }
    return can ? exit_ok : exit_conflict;
}

void add_check_command(Command& limit) {
    Command& command =
        limit.add_command("check", "Compare what rules have counted with the leases");
    CheckFlags& flags = command.runs(check_meters);
    command.add_flag("--repair", &flags.repair, "Set right what differs");
    command.add_option("--reason", &flags.reason, "TEXT", "With --repair: why; kept for audit");
    command.add_option("--ticket", &flags.ticket, "ID", "With --repair: the ticket for it");
    add_common_flags(command, flags.common);
    command.set_footer("Ends with 6 when they differ and are not repaired.\n\n" +
                       examples({"sluice limit check"}));
}

void add_can_start_command(Command& limit) {
    Command& command =
        limit.add_command("can-start", "Whether rules would let such a job start now");
    StartFlags& flags = command.runs(can_start);
    command.add_option("--type", &flags.scope.type, "TYPE", "Of this type");
    command.add_option("--queue", &flags.scope.queue, "NAME", "In this queue (default: default)");
    command.add_option("--source", &flags.scope.source, "NAME", "From this source");
    add_common_flags(command, flags.common);
    command.set_footer("Ends with 6 when they do not.\n\n" +
                       examples({"sluice limit can-start --type scan"}));
}

}  // namespace

void add_question_commands(Command& limit) {
    add_check_command(limit);
    add_can_start_command(limit);
}

}  // namespace sluice::cli
