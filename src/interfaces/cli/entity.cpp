// What jobs are about: `sluice entity …`, and `sluice site reset`.
#include <fmt/format.h>

#include <algorithm>

#include "client/http_place.hpp"
#include "interfaces/cli/cli.hpp"
#include "interfaces/cli/command_error.hpp"
#include "interfaces/cli/command_tree.hpp"
#include "interfaces/cli/display_text.hpp"
#include "interfaces/cli/listing.hpp"
#include "json/json_reader.hpp"
#include "json/json_writer.hpp"

namespace sluice::cli {
namespace {

using client::url_encoded;

constexpr int page_max = 200;

std::string query_text(const std::vector<std::pair<std::string, std::string>>& params) {
    std::string text;
    for (const auto& [name, value] : params) {
        if (value.empty()) continue;
        text += (text.empty() ? "?" : "&") + name + "=" + url_encoded(value);
    }
    return text;
}

std::string entity_path(const std::string& kind, const std::string& id, const CommonFlags& flags) {
    if (kind.empty() || id.empty()) {
        throw CommandError(exit_usage, "a kind or an id is empty");
    }
    return "/api/v1/entities/" + url_encoded(kind) + "/" + url_encoded(id) +
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

// The objects of the page's list, as they stand.
std::vector<std::string> entities_in(const std::string& page) {
    std::vector<std::string> entities;
    const JsonObject document(page);
    const std::string* list = document.raw("entities");
    if (!list) return entities;
    JsonReader reader(*list, JsonLimits::depth_possible);
    reader.array([&](std::size_t) { entities.emplace_back(reader.raw()); });
    return entities;
}

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
        for (std::string& entity : entities_in(page)) entities.push_back(std::move(entity));
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
    std::string body;
    JsonWriter json(body);
    json.begin_object();
    json.field("kind", flags.kind);
    if (!flags.id.empty()) json.field("id", flags.id);
    if (!flags.parent.empty()) json.field("parent", flags.parent);
    if (!flags.common.tenant.empty()) json.field("tenant", flags.common.tenant);
    write_attributes(json, flags.settings);
    json.end_object();
    print_entity(session, session.client().call("POST", "/api/v1/entities", body, false));
    return exit_ok;
}

int act_on_entity(const EntityFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, entity_listing().fields);
    std::string body;
    JsonWriter json(body);
    json.begin_object();
    if (!flags.action.empty()) json.field("action", flags.action);
    if (!flags.settings.empty()) write_attributes(json, flags.settings);
    json.end_object();
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

void add_settings(CLI::App& command, EntityFlags& flags) {
    command.add_option("--set", flags.settings, "An attribute; JSON or text; null takes it away")
        ->allow_extra_args(false)
        ->type_name("NAME=VALUE");
}

void add_list_command(CLI::App& entity, Chosen& chosen) {
    const auto flags = std::make_shared<ListFlags>();
    CLI::App* command = entity.add_subcommand("list", "List entities, newest first");
    command->add_option("--kind", flags->kind, "Of this kind")->type_name("KIND");
    command->add_option("--parent", flags->parent, "That belong to this")->type_name("ID");
    command->add_option("--state", flags->state, "In these states, with commas")
        ->type_name("STATE");
    command->add_option("--limit", flags->limit, "How many at most")
        ->type_name("N")
        ->capture_default_str();
    command->add_flag("--all", flags->all, "All of them, however many");
    add_common_flags(*command, flags->common);
    command->footer(examples({"sluice entity list --kind site --state failed"}));
    on_command(*command, chosen, flags, list_entities);
}

void add_create_command(CLI::App& entity, Chosen& chosen) {
    const auto flags = std::make_shared<EntityFlags>();
    CLI::App* command = entity.add_subcommand("create", "Add an entity in its kind's first state");
    command->add_option("KIND", flags->kind, "site, environment, node, …")
        ->required()
        ->type_name("");
    command->add_option("ID", flags->id, "Which one (default: a new id)")->type_name("");
    command->add_option("--parent", flags->parent, "What it belongs to")->type_name("ID");
    add_settings(*command, *flags);
    add_common_flags(*command, flags->common);
    command->footer(examples({"sluice entity create site shop --set title=Shop"}));
    on_command(*command, chosen, flags, create_entity);
}

void add_get_command(CLI::App& entity, Chosen& chosen) {
    const auto flags = std::make_shared<EntityFlags>();
    CLI::App* command = entity.add_subcommand("get", "Show one entity");
    command->add_option("KIND", flags->kind, "Its kind")->required()->type_name("");
    command->add_option("ID", flags->id, "Which one")->required()->type_name("");
    add_common_flags(*command, flags->common);
    command->footer(examples({"sluice entity get site shop"}));
    on_command(*command, chosen, flags, get_entity);
}

void add_act_command(CLI::App& entity, Chosen& chosen) {
    const auto flags = std::make_shared<EntityFlags>();
    CLI::App* command =
        entity.add_subcommand("act", "Take an action of its kind, change attributes, or both");
    command->add_option("KIND", flags->kind, "Its kind")->required()->type_name("");
    command->add_option("ID", flags->id, "Which one")->required()->type_name("");
    command->add_option("ACTION", flags->action, "What to do")->type_name("");
    add_settings(*command, *flags);
    add_common_flags(*command, flags->common);
    command->footer(examples({"sluice entity act site shop --set title='The shop'"}));
    on_command(*command, chosen, flags, act_on_entity);
}

}  // namespace

void add_entity_commands(CLI::App& app, Chosen& chosen) {
    CLI::App* entity = app.add_subcommand("entity", "Look at what jobs are about, and change it");
    entity->require_subcommand(1);
    add_create_command(*entity, chosen);
    add_list_command(*entity, chosen);
    add_get_command(*entity, chosen);
    add_act_command(*entity, chosen);

    CLI::App* site = app.add_subcommand("site", "Look after sites");
    site->require_subcommand(1);
    const auto flags = std::make_shared<EntityFlags>();
    CLI::App* reset = site->add_subcommand("reset", "Let a site that has failed be used again");
    reset->add_option("ID", flags->id, "Which one")->required()->type_name("");
    add_common_flags(*reset, flags->common);
    reset->footer(examples({"sluice site reset shop --curl"}));
    on_command(*reset, chosen, flags, reset_site);
}

}  // namespace sluice::cli
