// `sluice quota …`: how much each tenant may run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "domain/values/percent_encoding.hpp"
#include "interfaces/cli/framework/api_path.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/limits/flag_words.hpp"
#include "interfaces/cli/limits/limit_commands.hpp"
#include "interfaces/cli/limits/rule_choice.hpp"
#include "interfaces/cli/limits/rule_flags.hpp"
#include "interfaces/cli/limits/rule_view.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/exit_code.hpp"

namespace sluice::cli {
namespace {

const std::string quotas_path = "/api/v1/quotas";

struct QuotaFlags {
    ChangeFlags change{};
    BoundFlags bounds{};
    std::string id{};
    std::string profile{};
    std::string type{};
    std::string until{};
    std::vector<std::string> tenants{};
    bool paused = false;
};

int list_quotas(const CommonFlags& flags) {
    Session session(flags);
    session.fields_or({}, rule_listing().fields);
    const std::string path = quotas_path + query_text({{"tenant", flags.tenant}});
    print_rules(session, session.client().call("GET", path, "", true), "quotas");
    return exit_ok;
}

// The flags say one thing: a quota by its id, or that of a tenant, or that of a profile.
void check_choice(const QuotaFlags& flags) {
    if (!flags.profile.empty() && !flags.change.common.tenant.empty()) {
        throw CommandError(exit_usage,
                           "--profile and --tenant (or SLUICE_TENANT) contradict each other: a "
                           "quota is for one tenant, or for each tenant with the profile");
    }
    if (!flags.id.empty() && !(flags.profile.empty() && flags.type.empty())) {
        throw CommandError(exit_usage,
                           "the ID says which quota: leave out --profile and --type, or the ID");
    }
}

// The tenant whose quota is meant: a token of one tenant means its own.
std::string meant_tenant(Session& session, const QuotaFlags& flags) {
    const std::string& named = flags.change.common.tenant;
    if (!named.empty() || !flags.profile.empty()) return named;
    const JsonObject caller(session.asking().call("GET", "/api/v1/whoami", "", true));
    return caller.text("all_tenants") == "true" ? "" : caller.text("tenant");
}

// The id of the quota for exactly these jobs; empty: there is none.
std::string existing_quota(Session& session, const QuotaFlags& flags) {
    const std::string tenant = meant_tenant(session, flags);
    for (const std::string& text : listed(session.asking().call("GET", quotas_path, "", true))) {
        const JsonObject quota(text);
        const bool is_the_same = quota.text("tenant") == tenant &&
                                 quota.text("profile") == flags.profile &&
                                 quota.text("type") == flags.type;
        if (is_the_same) return quota.text("id");
    }
    return "";
}

// The flags that say which jobs, for a command that is shown: "--tenant acme --type 'scan.*'".
std::string shown_choice(const QuotaFlags& flags) {
    std::string text;
    for (const auto& [flag, value] :
         {std::pair{"--tenant", &flags.change.common.tenant},
          std::pair{"--profile", &flags.profile}, std::pair{"--type", &flags.type}}) {
        if (!value->empty()) text += fmt::format(" {} {}", flag, shell_word(printable(*value)));
    }
    return text;
}

constexpr const char* no_quota =
    "there is no quota for exactly these jobs; give --tenant or --profile, and --type, as sluice "
    "quota list shows them";

// By the id, or by the jobs that the quota is for. `otherwise`: what the message adds when there is
// none for these jobs.
std::string quota_path(Session& session, const QuotaFlags& flags,
                       const std::string& otherwise = {}) {
    check_choice(flags);
    const std::string id = flags.id.empty() ? existing_quota(session, flags)
                                            : find_rule_id(session, quotas_path, flags.id);
    if (id.empty()) throw CommandError(exit_not_found, no_quota + otherwise);
    return quotas_path + "/" + percent_encoded(id);
}

int get_quota(const QuotaFlags& flags) {
    Session session(flags.change.common);
    session.fields_or({}, rule_listing().fields);
    const std::string path = quota_path(session, flags);
    print_rule(session, get_rule(session, path, flags.id));
    return exit_ok;
}

// Makes the quota, or changes the one that is there: then what no flag names stays.
int set_quota(const QuotaFlags& flags) {
    Session session(flags.change.common);
    session.fields_or({}, rule_listing().fields);
    check_choice(flags);
    const std::string& tenant = flags.change.common.tenant;
    const std::string body = change_body(flags.change, [&](JsonWriter& json) {
        if (!tenant.empty()) json.field("tenant", tenant);
        if (!flags.profile.empty()) json.field("profile", flags.profile);
        if (!flags.type.empty()) json.field("type", flags.type);
        write_quota_bounds(json, flags.bounds);
        if (flags.paused) json.field("paused", true);
        write_until(json, flags.until);
    });
    const std::string id = existing_quota(session, flags);
    if (id.empty() && !flags.change.if_revision.empty()) {
        throw CommandError(exit_not_found, no_quota);
    }
    const std::string path = quotas_path + "/" + percent_encoded(id);
    print_change(session, flags.change,
                 id.empty() ? call_limits(session, "POST", quotas_path, body, false)
                            : post_rule(session, flags.change, path, "", body, ""));
    return exit_ok;
}

int act_on_quota(const QuotaFlags& flags, const std::string& action,
                 const std::string& otherwise = {}) {
    Session session(flags.change.common);
    session.fields_or({}, rule_listing().fields);
    const std::string body = change_body(flags.change);
    const std::string path = quota_path(session, flags, otherwise);
    print_change(session, flags.change,
                 post_rule(session, flags.change, path, action, body, flags.id));
    return exit_ok;
}

int lift_quota(const QuotaFlags& flags) {
    return act_on_quota(flags, "lift");
}
// Jobs without a quota can be paused, too.
int pause_quota(const QuotaFlags& flags) {
    const std::string choice = shown_choice(flags);
    if (choice.empty()) return act_on_quota(flags, "pause");
    const char* command = flags.profile.empty() ? "limit add --kind throttle" : "quota set";
    return act_on_quota(flags, "pause",
                        fmt::format(". To let nothing of them start all the same: sluice {}{} "
                                    "--paused --reason TEXT",
                                    command, choice));
}
int resume_quota(const QuotaFlags& flags) {
    return act_on_quota(flags, "resume");
}

// ── profiles ──

const Listing& profile_listing() {
    static const Listing listing{
        .name = "profiles",
        .id_field = "name",
        .fields = {"name", "tenants"},
        .table = {{"name", "PROFILE"}, {"tenants", "TENANTS"}},
        .wide = {},
        .plain = {"name", "tenants"},
    };
    return listing;
}

int list_profiles(const CommonFlags& flags) {
    Session session(flags);
    session.fields_or({}, profile_listing().fields);
    const std::string document = session.client().call("GET", quotas_path + "/profiles", "", true);
    print_listing(session, profile_listing(), listed(document), {.json = document});
    return exit_ok;
}

int set_profile(const QuotaFlags& flags) {
    Session session(flags.change.common);
    session.fields_or({}, profile_listing().fields);
    std::vector<std::string> tenants = comma_lists(flags.tenants);
    if (tenants == std::vector<std::string>{"none"}) tenants.clear();
    const std::string body =
        change_body(flags.change, [&](JsonWriter& json) { json.list("tenants", tenants); });
    const std::string path = quotas_path + "/profiles/" + percent_encoded(flags.profile);
    const std::string answer = call_limits(session, "POST", path, body, true);
    if (session.was_asked_for_a_format() || session.has_fields()) {
        print_object(session, profile_listing(), answer);
    } else {
        print_change(session, flags.change, answer);
    }
    return exit_ok;
}

void add_profile_commands(Command& quota) {
    Command& profile = quota.add_command("profile", "Named sets of quotas, and who is given them");
    Command& list = profile.add_command("list", "List the profiles with their tenants");
    add_common_flags(list, list.runs(list_profiles));
    list.set_footer(examples({"sluice quota profile list"}));

    Command& set = profile.add_command("set", "Give a profile to these tenants, and to no others");
    QuotaFlags& flags = set.runs(set_profile);
    set.add_argument("NAME", &flags.profile, "The profile");
    set.add_argument("TENANTS", &flags.tenants, "Tenants; none: the profile is removed");
    add_change_flags(set, flags.change);
    set.set_footer(
        examples({"sluice quota profile set gold acme globex --reason 'new contracts'"}));
}

// The quota that a command is about.
void add_choice(Command& command, QuotaFlags& flags) {
    command.add_argument("ID", &flags.id, "Its id, or the beginning of it").is_required = false;
    command.add_option("--profile", &flags.profile, "NAME", "The one of this profile");
    command.add_option("--type", &flags.type, "TYPE", "The one for this type");
}

void add_action(Command& quota, const char* name, const char* summary,
                int (*run)(const QuotaFlags&)) {
    Command& command = quota.add_command(name, summary);
    QuotaFlags& flags = command.runs(run);
    add_choice(command, flags);
    add_revision_flag(command, flags.change);
    add_change_flags(command, flags.change);
    command.set_footer(examples(
        {fmt::format("sluice quota set --tenant acme --type scan --max-active 8 --reason 'as "
                     "agreed' && sluice quota {} --tenant acme --type scan --reason 'by mail'",
                     name)}));
}

void add_set_command(Command& quota) {
    Command& command =
        quota.add_command("set", "Make a quota, or change the one for the same jobs");
    QuotaFlags& flags = command.runs(set_quota);
    command.add_option("--profile", &flags.profile, "NAME",
                       "For each tenant that is given this profile, instead of --tenant");
    command.add_option("--type", &flags.type, "TYPE",
                       "For jobs of this type; scan.*: that begin so (default: all together)");
    add_quota_bounds(command, flags.bounds);
    command.add_flag("--paused", &flags.paused, "Nothing of it starts, until sluice quota resume");
    add_until_flag(command, flags.until);
    add_revision_flag(command, flags.change);
    add_change_flags(command, flags.change);
    command.set_footer(
        "Without --tenant and --profile it is the default: for each tenant that has none of its "
        "own.\nWhat no flag names stays as it is; none takes a bound away.\n\n" +
        examples({"sluice quota set --tenant acme --type scan --max-active 8 --max-per-hour 5000 "
                  "--reason 'as agreed' --ticket OPS-12",
                  "sluice quota set --max-active 20 --reason 'the default of all' --dry-run"}));
}

}  // namespace

void add_quota_commands(Command& program) {
    Command& quota =
        program.add_command("quota", "Look at how much each tenant may run, and set it");
    Command& list = quota.add_command("list", "List the quotas, with their use");
    add_common_flags(list, list.runs(list_quotas));
    list.set_footer(examples({"sluice quota list"}));

    add_set_command(quota);
    Command& get = quota.add_command("get", "Show a quota and what it counts");
    QuotaFlags& flags = get.runs(get_quota);
    add_choice(get, flags);
    add_common_flags(get, flags.change.common);
    get.set_footer(
        examples({"sluice quota set --tenant acme --max-active 9 --reason 'as agreed' "
                  "&& sluice quota get --tenant acme"}));
    add_action(quota, "lift", "End a quota", lift_quota);
    add_action(quota, "pause", "Let nothing of a quota start", pause_quota);
    add_action(quota, "resume", "Let it start again", resume_quota);
    add_profile_commands(quota);
}

}  // namespace sluice::cli
