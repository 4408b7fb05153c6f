#include "application/deploy/runtime_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "application/deploy/deploy_jobs.hpp"
#include "application/json_values.hpp"
#include "domain/sha256.hpp"

namespace sluice::deploy {
namespace {

constexpr const char* agent_attribute = "agentBaseUrl";
constexpr const char* gateway_attribute = "gatewayBaseUrl";
constexpr const char* enabled_attribute = "enabled";
constexpr const char* heartbeat_attribute = "lastHeartbeatAt";

Error no_node(const std::string& name) {
    return {ErrorCode::not_found, fmt::format("no runtime node has the name \"{}\"", name), ""};
}

// Takes over what was said; answers whether that changes anything.
bool take_over(Entity& node, const NodeWords& words) {
    const Attributes before = node.attributes;
    if (words.agent_base_url) {
        node.attributes[agent_attribute] = json_string(*words.agent_base_url);
    }
    if (words.gateway_base_url) {
        node.attributes[gateway_attribute] = json_string(*words.gateway_base_url);
    }
    if (words.enabled) node.attributes[enabled_attribute] = *words.enabled ? "true" : "false";
    return node.attributes != before;
}

Result<Entity> added_node(EntityDesk& desk, const NodeWords& words) {
    NewEntity wanted{.key = node_key(words.name)};
    Entity blank;
    take_over(blank, words);
    wanted.attributes = std::move(blank.attributes);
    wanted.attributes.try_emplace(enabled_attribute, "true");
    return desk.create(std::move(wanted));
}

EntityAnswer changed(Entity node) {
    EntityAnswer answer;
    answer.entity = std::move(node);
    return answer;
}

// Not kept from changing: claims must not wait for heartbeats of nodes, nor for each other.
std::vector<Entity> all_nodes(EntityDesk& desk) {
    return desk.list({.kind = node_kind}, nodes_max);
}

// The node of this name, when apps can be put on it.
Result<Entity> healthy_node(EntityDesk& desk, const std::string& name, Duration memory) {
    auto node = desk.find(node_key(name));
    if (!node) return no_node(name);
    if (!to_node(*node).is_healthy(desk.now(), memory)) {
        return Error{ErrorCode::conflict,
                     fmt::format("runtime node {} is not healthy: it is disabled, lacks an address "
                                 "or has not been heard of lately",
                                 name),
                     ""};
    }
    return *std::move(node);
}

// One of the healthy nodes; the same app meets the same one as long as they are the same.
std::optional<Entity> chosen_node(EntityDesk& desk, const std::string& app_id, Duration memory) {
    std::vector<Entity> nodes = all_nodes(desk);
    std::erase_if(
        nodes, [&](const Entity& node) { return !to_node(node).is_healthy(desk.now(), memory); });
    if (nodes.empty()) return std::nullopt;
    std::sort(nodes.begin(), nodes.end(),
              [](const Entity& a, const Entity& b) { return a.key.id < b.key.id; });
    std::uint64_t hash = 0;
    std::memcpy(&hash, sha256(app_id).data(), sizeof hash);
    return std::move(nodes[hash % nodes.size()]);
}

void move_to(EntityDesk& desk, Entity& app, const std::string& node, std::string_view action) {
    const std::string detail =
        fmt::format(R"({{"from":{},"to":{}}})", json_string(app.parent), json_string(node));
    app.parent = node;
    desk.save(app, action, detail);
}

}  // namespace

EntityKey node_key(const std::string& name) {
    return {.kind = node_kind, .id = name};
}

bool RuntimeNode::is_healthy(Timestamp now, Duration memory) const {
    return enabled && !agent_base_url.empty() && !gateway_base_url.empty() && last_heartbeat_at &&
           now - *last_heartbeat_at < memory;
}

RuntimeNode to_node(const Entity& entity) {
    const Attributes& said = entity.attributes;
    return {.name = entity.key.id,
            .agent_base_url = text_of(said, agent_attribute).value_or(""),
            .gateway_base_url = text_of(said, gateway_attribute).value_or(""),
            .enabled = truth_of(said, enabled_attribute).value_or(true),
            .last_heartbeat_at = time_of(said, heartbeat_attribute)};
}

Result<EntityAnswer> note_heartbeat(EntityDesk& desk, const NodeWords& words) {
    auto node = desk.find(node_key(words.name));
    if (!node) {
        auto added = added_node(desk, words);
        if (!added) return added.error();
        node = *std::move(added);
    }
    const bool is_news = take_over(*node, words);
    node->attributes[heartbeat_attribute] = json_time(desk.now());
    if (is_news) {
        desk.save(*node);
    } else {
        desk.touch(*node);
    }
    return changed(*std::move(node));
}

Result<EntityAnswer> put_node(EntityDesk& desk, const NodeWords& words) {
    auto node = desk.find(node_key(words.name));
    if (!node) {
        auto added = added_node(desk, words);
        if (!added) return added.error();
        return changed(*std::move(added));
    }
    if (take_over(*node, words)) desk.save(*node);
    return changed(*std::move(node));
}

Result<EntityAnswer> set_enabled(EntityDesk& desk, const std::string& name, bool enabled) {
    if (!desk.find(node_key(name))) return no_node(name);
    return put_node(desk, {.name = name, .enabled = enabled});
}

std::optional<Entity> node_of(EntityDesk& desk, const Entity& app) {
    if (app.parent.empty()) return std::nullopt;
    return desk.jobs().entities().find_one(node_key(app.parent));
}

Result<EntityAnswer> place_app(EntityDesk& desk, const std::string& app_id, Duration memory) {
    EntityAnswer answer;
    auto app = desk.find(app_key(app_id));
    if (!app) return answer;
    auto node = node_of(desk, *app);
    if (!node) {
        node = chosen_node(desk, app_id, memory);
        if (node) move_to(desk, *app, node->key.id, "placed");
    }
    if (node) answer.others.push_back(*std::move(node));
    answer.entity = *std::move(app);
    return answer;
}

Result<EntityAnswer> reassign_app(EntityDesk& desk, const std::string& app_id,
                                  const std::string& target, Duration memory) {
    auto node = healthy_node(desk, target, memory);
    if (!node) return node.error();
    auto app = desk.find(app_key(app_id));
    if (!app) {
        return Error{ErrorCode::not_found, fmt::format("no job has named app \"{}\"", app_id), ""};
    }
    if (app->parent != target) move_to(desk, *app, target, "reassigned");
    EntityAnswer answer;
    answer.entity = *std::move(app);
    answer.others.push_back(*std::move(node));
    return answer;
}

Result<EntityAnswer> drain_node(EntityDesk& desk, const Drain& drain, Duration memory) {
    if (!desk.find(node_key(drain.source))) return no_node(drain.source);
    const auto target = healthy_node(desk, drain.target, memory);
    if (!target) return target.error();
    EntityAnswer answer;
    for (const Entity& listed :
         desk.list({.kind = app_kind, .parent = drain.source}, drain.limit)) {
        auto app = desk.find(listed.key);
        if (!app || app->parent != drain.source) continue;  // another one was faster
        move_to(desk, *app, drain.target, "reassigned");
        answer.others.push_back(*std::move(app));
    }
    return answer;
}

std::vector<std::optional<RuntimeNode>> nodes_of(EntityReader& entities,
                                                 std::span<const Job> jobs) {
    std::vector<EntityKey> apps;
    for (const Job& job : jobs) apps.push_back(app_key(app_of(job)));
    std::vector<EntityKey> names;
    for (const auto& app : entities.find(apps)) {
        names.push_back(node_key(app ? app->parent : std::string()));
    }
    std::vector<std::optional<RuntimeNode>> nodes;
    for (const auto& node : entities.find(names)) {
        nodes.push_back(node ? std::optional(to_node(*node)) : std::nullopt);
    }
    return nodes;
}

}  // namespace sluice::deploy
