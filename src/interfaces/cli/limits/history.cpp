// `sluice limit history`.
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/limits/control_history.hpp"
#include "interfaces/cli/limits/limit_commands.hpp"

namespace sluice::cli {
namespace {

const Listing& control_listing() {
    static const Listing listing{
        .name = "events",
        .id_field = "seq",
        .fields = {"seq", "at", "actor", "action", "subject", "reason", "ticket", "detail", "hash",
                   "what", "rule", "change", "id", "name"},
        .table = {{"at", "AT"},
                  {"actor", "BY"},
                  {"what", "WHAT"},
                  {"rule", "RULE"},
                  {"change", "CHANGE"},
                  {"reason", "REASON"},
                  {"ticket", "TICKET"},
                  {"id", "ID"}},
        .wide = {{"seq", "SEQ"}, {"hash", "HASH"}},
        .plain = {"seq", "at", "actor", "action", "subject", "reason", "ticket", "detail"},
    };
    return listing;
}

struct HistoryFlags {
    CommonFlags common{};
    std::string rule{};
    int limit = 50;
};

int show_history(const HistoryFlags& flags) {
    Session session(flags.common);
    if (flags.limit < 1) throw CommandError(exit_usage, "--limit must be at least 1");
    session.fields_or({}, control_listing().fields);
    std::vector<std::string> events = control_history(session.client());
    if (!flags.rule.empty()) {
        std::erase_if(events, [&](const std::string& event) {
            return !is_about(JsonObject(with_change(event)), flags.rule);
        });
    }
    if (std::ssize(events) > flags.limit) events.erase(events.begin(), events.end() - flags.limit);
    if (!session.prints_json() || session.has_fields()) {
        for (std::string& event : events) event = with_change(event);
    }
    print_listing(session, control_listing(), events, {});
    return exit_ok;
}

}  // namespace

void add_history_command(Command& limit) {
    Command& command = limit.add_command("history", "Who changed which rule, when and why");
    HistoryFlags& flags = command.runs(show_history);
    command.add_option("--limit", &flags.limit, "N", "The newest so many");
    command.add_option("--rule", &flags.rule, "ID",
                       "Of this rule, also a lifted one: its id, the beginning of it, or its name");
    add_common_flags(command, flags.common);
    command.set_footer(examples({"sluice limit history --limit 10"}));
}

}  // namespace sluice::cli
