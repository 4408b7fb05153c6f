#include "application/deploy/placements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "application/deploy/deploy_jobs.hpp"
#include "domain/values/sha256.hpp"
#include "json/json_values.hpp"

namespace sluice::deploy {
namespace {

// The nodes are not locked: claims must not wait for heartbeats of nodes, nor for each other.
std::vector<Entity> healthy_nodes(std::vector<Entity> nodes, const PlacementRules& rules,
                                  Timestamp now) {
    std::erase_if(nodes, [&](const Entity& node) {
        return !to_node(node).is_healthy(now, rules.node_memory);
    });
    std::sort(nodes.begin(), nodes.end(),
              [](const Entity& a, const Entity& b) { return a.key.id < b.key.id; });
    return nodes;
}

// The same app gets the same node as long as the nodes are the same.
std::size_t choose_by_hash(const std::string& app_id, std::size_t count) {
    std::uint64_t hash = 0;
    std::memcpy(&hash, sha256(app_id).data(), sizeof hash);
    return hash % count;
}

// Nodes whose free disk is not known come last; of equals the first by name.
std::size_t choose_by_disk(const std::vector<Entity>& nodes) {
    const auto free_disk = [](const Entity& entity) {
        const RuntimeNode node = to_node(entity);
        return std::tuple(node.disk_free_pct, node.disk_free_bytes);
    };
    const auto most = std::max_element(
        nodes.begin(), nodes.end(),
        [&](const Entity& a, const Entity& b) { return free_disk(a) < free_disk(b); });
    return static_cast<std::size_t>(most - nodes.begin());
}

std::optional<Entity> chosen_node(EntityChanges& changes, const std::string& app_id) {
    const PlacementRules& rules = changes.rules().settings.get<PlacementRules>();
    std::vector<Entity> nodes =
        healthy_nodes(changes.list({.kind = node_kind}, nodes_max), rules, changes.now());
    if (nodes.empty()) return std::nullopt;
    const std::size_t chosen = rules.strategy == PlacementStrategy::disk_aware
                                   ? choose_by_disk(nodes)
                                   : choose_by_hash(app_id, nodes.size());
    return std::move(nodes[chosen]);
}

// The node that admins have named, when apps may be moved to it.
Result<Entity> enabled_node(EntityChanges& changes, const std::string& number_or_name) {
    auto found = find_node(changes.looks(), number_or_name);
    auto node = found ? changes.find(found->key) : std::nullopt;
    if (!node) return no_node(number_or_name);
    if (to_node(*node).enabled) return *std::move(node);
    return Error{ErrorCode::conflict, fmt::format("runtime node {} is disabled", node->key.id), ""};
}

void move_to(EntityChanges& changes, Entity& app, const std::string& node,
             std::string_view action) {
    const std::string detail =
        fmt::format(R"({{"from":{},"to":{}}})", json_string(app.parent), json_string(node));
    app.parent = node;
    changes.save(app, action, detail);
}

}  // namespace

std::optional<Entity> node_of(EntityChanges& changes, const Entity& app) {
    if (app.parent.empty()) return std::nullopt;
    return changes.looks().find_one(node_key(app.parent));
}

std::optional<Entity> place(EntityChanges& changes, Entity& app) {
    std::optional<Entity> node = node_of(changes, app);
    if (node) return node;
    node = chosen_node(changes, app.key.id);
    if (node) move_to(changes, app, node->key.id, "placed");
    return node;
}

Result<EntityAnswer> place_app(EntityChanges& changes, const std::string& app_id) {
    EntityAnswer answer;
    auto app = changes.find(app_key(app_id));
    if (!app) return answer;
    if (auto node = place(changes, *app)) answer.others.push_back(*std::move(node));
    answer.entity = *std::move(app);
    return answer;
}

bool has_healthy_node(EntityReader& entities, const PlacementRules& rules, Timestamp now) {
    auto nodes = entities.list({.kind = node_kind}, newest_entity, 0, nodes_max);
    return !healthy_nodes(std::move(nodes), rules, now).empty();
}

Result<EntityAnswer> reassign_app(EntityChanges& changes, const std::string& app_id,
                                  const std::string& target) {
    auto node = enabled_node(changes, target);
    if (!node) return node.error();
    auto app = found_or_created(changes, app_key(app_id));
    if (!app) return app.error();
    if (app->parent != node->key.id) move_to(changes, *app, node->key.id, "reassigned");
    EntityAnswer answer;
    answer.entity = *std::move(app);
    answer.others.push_back(*std::move(node));
    return answer;
}

Result<EntityAnswer> drain_node(EntityChanges& changes, const Drain& drain) {
    const auto source = find_node(changes.looks(), drain.source);
    if (!source) return no_node(drain.source);
    auto target = enabled_node(changes, drain.target);
    if (!target) return target.error();
    if (target->key == source->key) {
        return Error{ErrorCode::invalid, "must be another node", "/targetNodeId"};
    }
    EntityAnswer answer;
    const std::vector<Entity> apps =
        changes.list({.kind = app_kind, .parent = source->key.id}, drain.limit);
    std::vector<EntityKey> keys;
    for (const Entity& listed : apps) keys.push_back(listed.key);
    changes.fetch(std::move(keys));
    for (const Entity& listed : apps) {
        auto app = changes.find(listed.key);
        if (!app || app->parent != source->key.id) continue;  // another session was faster
        move_to(changes, *app, target->key.id, "reassigned");
        answer.others.push_back(*std::move(app));
    }
    answer.entity = *std::move(target);
    return answer;
}

std::optional<RuntimeNode> node_of_app(EntityReader& entities, const EntityKey& key) {
    const auto app = entities.find_one(key);
    if (!app || app->parent.empty()) return std::nullopt;
    const auto node = entities.find_one(node_key(app->parent));
    return node ? std::optional(to_node(*node)) : std::nullopt;
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
