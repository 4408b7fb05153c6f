#pragma once

#include <optional>
#include <string>

#include "application/entities/entity_changes.hpp"

// The machines that deployed apps run on. placements.hpp says which app is on which.
namespace sluice::deploy {

inline constexpr const char* node_kind = "runtime_node";
inline constexpr int nodes_max = 1000;  // more are not read
inline constexpr int usual_weight = 100;

EntityKey node_key(const std::string& name);

enum class NodeHealth {
    healthy,    // apps can be put on it
    stale,      // its agent sent no heartbeat lately
    draining,   // it is disabled
    unhealthy,  // one of its addresses is not known
};

struct RuntimeNode {
    // Small, unique among the nodes of its tenant, and never given again. A node from before nodes
    // had numbers gets one with the next message about it.
    std::optional<std::int64_t> id{};
    std::string name{};
    std::string agent_base_url{};
    std::string gateway_base_url{};
    bool enabled = true;
    std::int64_t weight = usual_weight;
    std::optional<Timestamp> last_heartbeat_at{};
    // Measured by its agent, if the agent sent it.
    std::optional<double> disk_free_pct{};
    std::optional<std::int64_t> disk_free_bytes{};
    std::optional<std::int64_t> container_count{};

    // `memory` is the age that its last heartbeat may have.
    NodeHealth health(Timestamp now, Duration memory) const;
    bool is_healthy(Timestamp now, Duration memory) const {
        return health(now, memory) == NodeHealth::healthy;
    }
};
RuntimeNode to_node(const Entity& entity);

// A message about a node; fields that are not set stay as they are.
struct NodeUpdate {
    std::string name{};
    std::optional<std::string> agent_base_url{};
    std::optional<std::string> gateway_base_url{};
    std::optional<bool> enabled{};
    std::optional<std::int64_t> weight{};
    std::optional<double> disk_free_pct{};
    std::optional<std::int64_t> disk_free_bytes{};
    std::optional<std::int64_t> container_count{};
};

// The node's agent is alive. An unknown node is added.
Result<EntityAnswer> note_heartbeat(EntityChanges& changes, const NodeUpdate& update);

// Adds or changes a node; it takes apps once its agent sends heartbeats.
Result<EntityAnswer> put_node(EntityChanges& changes, const NodeUpdate& update);

// The same for a node that must exist.
Result<EntityAnswer> set_enabled(EntityChanges& changes, const std::string& name, bool enabled);

// The node of this number or name, as admins write it: a text of digits is a number first.
std::optional<Entity> find_node(EntityReader& entities, const std::string& number_or_name);

// The refusal when there is no such node.
Error no_node(const std::string& number_or_name);

}  // namespace sluice::deploy
