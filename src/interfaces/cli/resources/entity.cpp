// Entities, the subjects of jobs: `sluice entity …`, and `sluice site reset`.
#include <fmt/format.h>

#include <algorithm>

#include "domain/values/percent_encoding.hpp"
#include "interfaces/cli/framework/api_path.hpp"
#include "interfaces/cli/framework/cli.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "json/json_writer.hpp"

namespace sluice::cli {
namespace {

constexpr int page_max = 200;

std::string entity_path(const std::string& kind, const std::string& id, const CommonFlags& flags) {
    if (id.empty() || kind.find('/') != std::string::npos) {
        throw CommandError(exit_usage,
                           "write kind and id as two words: sluice entity get site shop");
    }
    return "/api/v1/entities/" + percent_encoded(kind) + "/" + percent_encoded(id) +
           query_text({{"tenant", flags.tenant}});
}

// NAME=VALUE, where the value is JSON or else a text.
void write_attributes(JsonWriter& json, const std::vector<std::string>& settings) {
    json.key("attributes");
    std::string members;
    for (const std::string& setting : settings) {
        const std::size_t equals = setting.find('=');
        if (equals == 0 || equals == std::string::npos) {
            throw CommandError(exit_usage,
                               fmt::format("--set {}: must be NAME=VALUE", printable(setting)));
        }
        const std::string value = setting.substr(equals + 1);
        members += members.empty() ? "" : ",";
        append_json_string(members, setting.substr(0, equals));
        members += ':';
        if (json_problem(value)) {
            append_json_string(members, value);
        } else {
            members += value;
        }
    }
    json.raw_value("{" + members + "}");
}

void print_entity(const Session& session, const std::string& answer) {
    print_object(session, entity_listing(), answer);
}

struct ListFlags {
    CommonFlags common{};
    std::string kind{};
    std::string parent{};
    std::string state{};
    int limit = 50;
    bool all = false;
};

int list_entities(const ListFlags& flags) {
    Session session(flags.common);
    if (flags.limit < 1) throw CommandError(exit_usage, "--limit must be at least 1");
    session.fields_or({}, entity_listing().fields);
    std::vector<std::string> entities;
    std::string cursor;
    do {
        const int left = flags.all ? page_max : flags.limit - static_cast<int>(entities.size());
        const std::string page = session.client().call(
            "GET",
            "/api/v1/entities" + query_text({{"kind", flags.kind},
                                             {"parent", flags.parent},
                                             {"state", flags.state},
                                             {"tenant", flags.common.tenant},
                                             {"limit", std::to_string(std::min(page_max, left))},
                                             {"cursor", cursor}}),
            "", true);
        for (std::string& entity : JsonObject(page).elements("entities"))
            entities.push_back(std::move(entity));
        cursor = JsonObject(page).text("next_cursor");
    } while (!cursor.empty() && (flags.all || static_cast<int>(entities.size()) < flags.limit));
    const std::string more = cursor.empty() ? "null" : "\"" + cursor + "\"";
    print_listing(session, entity_listing(), entities, {.more_name = "next_cursor", .more = more});
    return exit_ok;
}

struct EntityFlags {
    CommonFlags common{};
    std::string kind{};
    std::string id{};
    std::string parent{};
    std::string action{};
    std::vector<std::string> settings{};
};

int get_entity(const EntityFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, entity_listing().fields);
    print_entity(session, session.client().call(
                              "GET", entity_path(flags.kind, flags.id, flags.common), "", true));
    return exit_ok;
}

int create_entity(const EntityFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, entity_listing().fields);
    const std::string body = json_object_text([&](JsonWriter& json) {
        json.field("kind", flags.kind);
        if (!flags.id.empty()) json.field("id", flags.id);
        if (!flags.parent.empty()) json.field("parent", flags.parent);
        if (!flags.common.tenant.empty()) json.field("tenant", flags.common.tenant);
        write_attributes(json, flags.settings);
    });
    print_entity(session, session.client().call("POST", "/api/v1/entities", body, false));
    return exit_ok;
}

int act_on_entity(const EntityFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, entity_listing().fields);
    const std::string body = json_object_text([&](JsonWriter& json) {
        if (!flags.action.empty()) json.field("action", flags.action);
        if (!flags.settings.empty()) write_attributes(json, flags.settings);
    });
    print_entity(session,
                 session.client().call("POST", entity_path(flags.kind, flags.id, flags.common),
                                       body, false));
    return exit_ok;
}

int reset_site(const EntityFlags& flags) {
    EntityFlags reset = flags;
    reset.kind = "site";
    reset.action = "reset";
    return act_on_entity(reset);
}

void add_settings(Command& command, EntityFlags& flags) {
    command.add_option("--set", &flags.settings, "NAME=VALUE",
                       "An attribute; JSON or text; null takes it away");
}

void add_list_command(Command& entity) {
    Command& command = entity.add_command("list", "List entities, newest first");
    ListFlags& flags = command.runs(list_entities);
    command.add_option("--kind", &flags.kind, "KIND", "Of this kind");
    command.add_option("--parent", &flags.parent, "ID", "That belong to this");
    command.add_option("--state", &flags.state, "STATE", "In these states, with commas");
    command.add_option("--limit", &flags.limit, "N", "How many at most");
    command.add_flag("--all", &flags.all, "All of them, however many").excludes = "--limit";
    add_common_flags(command, flags.common);
    command.set_footer(examples({"sluice entity list --kind site --state failed"}));
}

void add_create_command(Command& entity) {
    Command& command = entity.add_command("create", "Add an entity in its kind's first state");
    EntityFlags& flags = command.runs(create_entity);
    command.add_argument("KIND", &flags.kind, "site, environment, node, …");
    command.add_argument("ID", &flags.id, "Which one (default: a new id)").is_required = false;
    command.add_option("--parent", &flags.parent, "ID", "What it belongs to");
    add_settings(command, flags);
    add_common_flags(command, flags.common);
    command.set_footer(examples({"sluice entity create site shop --set title=Shop"}));
}

void add_get_command(Command& entity) {
    Command& command = entity.add_command("get", "Show one entity");
    EntityFlags& flags = command.runs(get_entity);
    command.add_argument("KIND", &flags.kind, "Its kind");
    command.add_argument("ID", &flags.id, "Which one").is_required = false;
    add_common_flags(command, flags.common);
    command.set_footer(examples({"sluice entity get site shop"}));
}

void add_act_command(Command& entity) {
    Command& command =
        entity.add_command("act", "Take an action of its kind, change attributes, or both");
    EntityFlags& flags = command.runs(act_on_entity);
    command.add_argument("KIND", &flags.kind, "Its kind");
    command.add_argument("ID", &flags.id, "Which one").is_required = false;
    command.add_argument("ACTION", &flags.action, "What to do").is_required = false;
    add_settings(command, flags);
    add_common_flags(command, flags.common);
    command.set_footer(examples({"sluice entity act site shop --set title='The shop'"}));
}

}  // namespace

void add_entity_commands(Command& program) {
    Command& entity = program.add_command("entity", "Look at what jobs are about, and change it");
    add_create_command(entity);
    add_list_command(entity);
    add_get_command(entity);
    add_act_command(entity);

    Command& site = program.add_command("site", "Look after sites");
    Command& reset = site.add_command("reset", "Let a site that has failed be used again");
    EntityFlags& flags = reset.runs(reset_site);
    reset.add_argument("ID", &flags.id, "Which one");
    add_common_flags(reset, flags.common);
    reset.set_footer(examples({"sluice site reset shop --curl"}));
}

}  // namespace sluice::cli
