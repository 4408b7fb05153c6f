#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "application/deploy/placement_rules.hpp"
#include "application/deploy/runtime_nodes.hpp"

// Which app is on which runtime node. An app belongs to the node that it is on: that is its
// entity's parent.
namespace sluice::deploy {

// The node that the app is on, if it is on one.
std::optional<Entity> node_of(EntityChanges& changes, const Entity& app);

// The node that the app is on. An app that is on none is put on one of the healthy nodes, by the
// operator's strategy, and stays there; while there is no healthy node, it is on none.
std::optional<Entity> place(EntityChanges& changes, Entity& app);

// The same for the app of this id: the app with its node, which `others` has.
Result<EntityAnswer> place_app(EntityChanges& changes, const std::string& app_id);

// Whether place_app() would find a node for an app that is on none.
bool has_healthy_node(EntityReader& entities, const PlacementRules& rules, Timestamp now);

// Puts the app, known or not, on another node, which must be enabled.
Result<EntityAnswer> reassign_app(EntityChanges& changes, const std::string& app_id,
                                  const std::string& target);

// Puts up to `limit` of the apps of one node on another, which must be enabled; `others` has these
// apps, and `entity` the node that they are on now.
struct Drain {
    std::string source{};
    std::string target{};
    int limit = 0;
};
Result<EntityAnswer> drain_node(EntityChanges& changes, const Drain& drain);

// The node that the app of this key is on, if it is on one.
std::optional<RuntimeNode> node_of_app(EntityReader& entities, const EntityKey& app);

// The node that each job's app is on, if it is on one.
std::vector<std::optional<RuntimeNode>> nodes_of(EntityReader& entities, std::span<const Job> jobs);

}  // namespace sluice::deploy
