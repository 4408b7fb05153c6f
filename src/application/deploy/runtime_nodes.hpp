#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "application/entity_desk.hpp"

// The machines that deployed apps run on, and which app is on which. An app belongs to the node
// that it is on: that is its entity's parent.
namespace sluice::deploy {

inline constexpr const char* node_kind = "runtime_node";
inline constexpr int nodes_max = 1000;  // more are not looked at

EntityKey node_key(const std::string& name);

struct RuntimeNode {
    std::string name{};
    std::string agent_base_url{};
    std::string gateway_base_url{};
    bool enabled = true;
    std::optional<Timestamp> last_heartbeat_at{};

    // Whether apps can be put on it. `memory` is the age that its last heartbeat may have.
    bool is_healthy(Timestamp now, Duration memory) const;
};
RuntimeNode to_node(const Entity& entity);

// What is said about a node; what is not said stays as it is.
struct NodeWords {
    std::string name{};
    std::optional<std::string> agent_base_url{};
    std::optional<std::string> gateway_base_url{};
    std::optional<bool> enabled{};
};

// The node's agent is alive. A node that nobody knew is added.
Result<EntityAnswer> note_heartbeat(EntityDesk& desk, const NodeWords& words);

// Adds or changes a node; it takes apps once its agent is heard of.
Result<EntityAnswer> put_node(EntityDesk& desk, const NodeWords& words);

// The same for a node that must be there.
Result<EntityAnswer> set_enabled(EntityDesk& desk, const std::string& name, bool enabled);

// The node that the app is on, if it is on one.
std::optional<Entity> node_of(EntityDesk& desk, const Entity& app);

// The app with the node that it is on, which `others` has. An app that is on none is put on one of
// the healthy nodes, by its hash, and stays there; while there is none, it is on none.
Result<EntityAnswer> place_app(EntityDesk& desk, const std::string& app_id, Duration memory);

// Puts the app on another node, which must be healthy.
Result<EntityAnswer> reassign_app(EntityDesk& desk, const std::string& app_id,
                                  const std::string& target, Duration memory);

// Puts up to `limit` of the apps of one node on another; `others` has them.
struct Drain {
    std::string source{};
    std::string target{};
    int limit = 0;
};
Result<EntityAnswer> drain_node(EntityDesk& desk, const Drain& drain, Duration memory);

// The node that each job's app is on, if it is on one.
std::vector<std::optional<RuntimeNode>> nodes_of(EntityReader& entities, std::span<const Job> jobs);

}  // namespace sluice::deploy
