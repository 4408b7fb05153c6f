// Runtime nodes: heartbeats of their agents, and requests of admins about them.
#include "application/deploy/deploy_jobs.hpp"
#include "application/entities/entity_changes.hpp"
#include "interfaces/http/deploy/envelope.hpp"
#include "interfaces/http/deploy/handlers.hpp"
#include "interfaces/http/deploy/job_answers.hpp"
#include "interfaces/http/deploy/read_requests.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/caller.hpp"
#include "json/json_writer.hpp"

namespace sluice::http::deploy {
namespace {

using sluice::deploy::app_kind;
using sluice::deploy::node_key;
using sluice::deploy::node_kind;
using sluice::deploy::nodes_max;

void write_node(JsonWriter& json, const Entity& entity, const Showing& showing) {
    json.begin_object();
    write_node_members(json, to_node(entity), showing);
    json.field("createdAt", entity.created_at);
    json.end_object();
}

void write_placement(JsonWriter& json, const Entity& app, const Entity& node) {
    json.begin_object();
    json.field("appId", app.key.id);
    json.field("nodeId", to_node(node).id);
    json.field("nodeName", node.key.id);
    json.field("updatedAt", app.updated_at);
    json.end_object();
}

using Decide = std::function<Result<EntityAnswer>(EntityChanges&)>;
using Render = std::function<void(JsonWriter&, const EntityAnswer&)>;

// Decides in the next commit, and answers with what `render` makes of it.
void change(const Call& call, std::string actor, std::vector<EntityKey> touches, Decide decide,
            Render render) {
    const auto decide_as = [actor = std::move(actor),
                            decide = std::move(decide)](EntityChanges& changes) {
        changes.act_as(actor);
        return decide(changes);
    };
    call.app.commands.post_one<EntityAction>(
        {std::move(touches), decide_as},
        [reply = call.reply, render = std::move(render)](const Result<EntityAnswer>& answer) {
            if (!answer) return reply.send(refused(answer.error()));
            std::string data;
            JsonWriter json(data);
            render(json, *answer);
            reply.send(success(data));
        });
}

Render render_node(const Call& call) {
    return [showing = showing_to(call)](JsonWriter& json, const EntityAnswer& answer) {
        write_node(json, *answer.entity, showing);
    };
}

std::optional<bool> read_truth(std::string_view text) {
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
    return std::nullopt;
}

struct PlacementsPage {
    std::string node{};
    std::int64_t offset = 0;
    int limit = 0;
};

Result<PlacementsPage> read_page(const Request& request) {
    const auto params = read_query(request, {"nodeId", "offset", "limit"});
    if (!params) return params.error();
    const std::string* node = params->find("nodeId");
    if (node == nullptr || node->empty()) {
        return Error{ErrorCode::malformed, "nodeId is required", ""};
    }
    const auto offset = number_param(*params, "offset", 0, INT64_MAX, 0);
    if (!offset) return offset.error();
    const auto limit = read_limit(*params, usual_limit);
    if (!limit) return limit.error();
    return PlacementsPage{*node, *offset, *limit};
}

Result<std::string> placements_text(EntityReader& entities, const PlacementsPage& page) {
    const auto node = sluice::deploy::find_node(entities, page.node);
    if (!node) return sluice::deploy::no_node(page.node);
    const EntityFilter filter{.kind = app_kind, .parent = node->key.id};
    return json_object_text([&](JsonWriter& json) {
        json.field("total", entities.count(filter));
        json.field("offset", page.offset);
        json.field("limit", page.limit);
        json.key("items");
        json.begin_array();
        for (const Entity& app : entities.list(filter, newest_entity, page.offset, page.limit)) {
            write_placement(json, app, *node);
        }
        json.end_array();
    });
}

}  // namespace

void health(Call call) {
    const std::string data = json_object_text([&](JsonWriter& json) {
        json.field("status", "UP");
        json.field("service", "sluice");
        json.field("timestamp", call.app.clock.now());
    });
    call.reply.send(success(data));
}

void node_heartbeat(Call call) {
    const auto update = read_node_heartbeat(call);
    if (!update) return call.reply.send(refused(update.error()));
    change(
        call, "node:" + update->name, {node_key(update->name)},
        [update = *update](EntityChanges& changes) {
            return sluice::deploy::note_heartbeat(changes, update);
        },
        render_node(call));
}

void list_nodes(Call call) {
    answer_with_text(call, [showing = showing_to(call)](JobReader& reader) -> Result<std::string> {
        std::string out;
        JsonWriter json(out);
        json.begin_array();
        for (const Entity& node :
             reader.entities().list({.kind = node_kind}, newest_entity, 0, nodes_max)) {
            write_node(json, node, showing);
        }
        json.end_array();
        return out;
    });
}

void upsert_node(Call call) {
    const auto update = read_node(call);
    if (!update) return call.reply.send(refused(update.error()));
    change(
        call, actor_name(*call.caller), {node_key(update->name)},
        [update = *update](EntityChanges& changes) {
            return sluice::deploy::put_node(changes, update);
        },
        render_node(call));
}

void set_node_enabled(Call call) {
    const auto params = read_query(call.request, {"name", "enabled"});
    if (!params) return call.reply.send(refused(params.error()));
    const std::string* name = params->find("name");
    const std::string* text = params->find("enabled");
    const auto enabled = text ? read_truth(*text) : std::nullopt;
    if (name == nullptr || !enabled) {
        return call.reply.send(refused(
            {ErrorCode::malformed, "name and enabled (true, false, 1 or 0) are required", ""}));
    }
    change(
        call, actor_name(*call.caller), {node_key(*name)},
        [name = *name, on = *enabled](EntityChanges& changes) {
            return sluice::deploy::set_enabled(changes, name, on);
        },
        [on = *enabled](JsonWriter& json, const EntityAnswer&) {
            json.value(on ? "enabled" : "disabled");
        });
}

void list_placements(Call call) {
    const auto page = read_page(call.request);
    if (!page) return call.reply.send(refused(page.error()));
    answer_with_text(call, [page = *page](JobReader& reader) {
        return placements_text(reader.entities(), page);
    });
}

void reassign(Call call) {
    const auto wanted = read_reassignment(call);
    if (!wanted) return call.reply.send(refused(wanted.error()));
    change(
        call, actor_name(*call.caller),
        {sluice::deploy::app_key(wanted->app_id), node_key(wanted->target)},
        [wanted = *wanted](EntityChanges& changes) {
            return sluice::deploy::reassign_app(changes, wanted.app_id, wanted.target);
        },
        [](JsonWriter& json, const EntityAnswer&) { json.value("ok"); });
}

void drain(Call call) {
    const auto wanted = read_drain(call);
    if (!wanted) return call.reply.send(refused(wanted.error()));
    change(
        call, actor_name(*call.caller), {node_key(wanted->target)},
        [wanted = *wanted](EntityChanges& changes) {
            return sluice::deploy::drain_node(changes, wanted);
        },
        [](JsonWriter& json, const EntityAnswer& answer) {
            json.begin_object();
            json.field("moved", answer.others.size());
            json.array("items", answer.others,
                       [&](const Entity& app) { write_placement(json, app, *answer.entity); });
            json.end_object();
        });
}

}  // namespace sluice::http::deploy
