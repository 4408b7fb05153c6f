#include "application/deploy/runtime_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "json/json_values.hpp"

namespace sluice::deploy {
namespace {

constexpr const char* id_attribute = "nodeId";
constexpr const char* agent_attribute = "agentBaseUrl";
constexpr const char* gateway_attribute = "gatewayBaseUrl";
constexpr const char* enabled_attribute = "enabled";
constexpr const char* weight_attribute = "weight";
constexpr const char* heartbeat_attribute = "lastHeartbeatAt";
constexpr const char* disk_pct_attribute = "diskFreePct";
constexpr const char* disk_bytes_attribute = "diskFreeBytes";
constexpr const char* containers_attribute = "containerCount";

// The last number that a node has got.
const EntityKey numbers_key{.kind = "runtime_node_numbers", .id = "runtime_node"};

std::optional<double> real_of(const Attributes& attributes, std::string_view name) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return std::nullopt;
    const std::string& text = found->second;
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return number;
}

// Applies a message about the node; returns whether its history is to tell of a change.
bool take_over(Entity& node, const NodeUpdate& update) {
    Attributes& said = node.attributes;
    const Attributes before = said;
    if (update.agent_base_url) said[agent_attribute] = json_string(*update.agent_base_url);
    if (update.gateway_base_url) said[gateway_attribute] = json_string(*update.gateway_base_url);
    if (update.enabled) said[enabled_attribute] = *update.enabled ? "true" : "false";
    if (update.weight) said[weight_attribute] = std::to_string(*update.weight);
    return said != before;
}

// Values that change with every heartbeat.
void take_measures(Entity& node, const NodeUpdate& update) {
    Attributes& said = node.attributes;
    if (update.disk_free_pct) said[disk_pct_attribute] = fmt::format("{}", *update.disk_free_pct);
    if (update.disk_free_bytes)
        said[disk_bytes_attribute] = std::to_string(*update.disk_free_bytes);
    if (update.container_count)
        said[containers_attribute] = std::to_string(*update.container_count);
}

// The entity that counts is locked until the commit, so that no two nodes get the same number.
Result<std::int64_t> next_number(EntityChanges& changes) {
    std::optional<Entity> numbers = changes.find(numbers_key);
    if (!numbers) {
        auto created = changes.create({.key = numbers_key});
        if (!created) return created.error();
        numbers = *std::move(created);
    }
    const std::int64_t number = integer_of(numbers->attributes, "last").value_or(0) + 1;
    numbers->attributes["last"] = std::to_string(number);
    changes.touch(*numbers);
    return number;
}

// The node, added if need be, with a number. It is not saved.
Result<Entity> numbered_node(EntityChanges& changes, const NodeUpdate& update) {
    std::optional<Entity> node = changes.find(node_key(update.name));
    if (!node) {
        NewEntity wanted{.key = node_key(update.name)};
        Entity blank;
        take_over(blank, update);
        wanted.attributes = std::move(blank.attributes);
        wanted.attributes.try_emplace(enabled_attribute, "true");
        auto added = changes.create(std::move(wanted));
        if (!added) return added.error();
        node = *std::move(added);
    }
    if (!node->attributes.contains(id_attribute)) {
        const auto number = next_number(changes);
        if (!number) return number.error();
        node->attributes[id_attribute] = std::to_string(*number);
        changes.touch(*node);
    }
    return *std::move(node);
}

EntityAnswer changed(Entity node) {
    EntityAnswer answer;
    answer.entity = std::move(node);
    return answer;
}

}  // namespace

EntityKey node_key(const std::string& name) {
    return {.kind = node_kind, .id = name};
}

Error no_node(const std::string& number_or_name) {
    return {ErrorCode::not_found,
            fmt::format("no runtime node has the id or name \"{}\"", number_or_name), ""};
}

NodeHealth RuntimeNode::health(Timestamp now, Duration memory) const {
    if (!enabled) return NodeHealth::draining;
    if (agent_base_url.empty() || gateway_base_url.empty()) return NodeHealth::unhealthy;
    const bool is_heard = last_heartbeat_at && now - *last_heartbeat_at < memory;
    return is_heard ? NodeHealth::healthy : NodeHealth::stale;
}

RuntimeNode to_node(const Entity& entity) {
    const Attributes& said = entity.attributes;
    return {.id = integer_of(said, id_attribute),
            .name = entity.key.id,
            .agent_base_url = text_of(said, agent_attribute).value_or(""),
            .gateway_base_url = text_of(said, gateway_attribute).value_or(""),
            .enabled = truth_of(said, enabled_attribute).value_or(true),
            .weight = integer_of(said, weight_attribute).value_or(usual_weight),
            .last_heartbeat_at = time_of(said, heartbeat_attribute),
            .disk_free_pct = real_of(said, disk_pct_attribute),
            .disk_free_bytes = integer_of(said, disk_bytes_attribute),
            .container_count = integer_of(said, containers_attribute)};
}

Result<EntityAnswer> note_heartbeat(EntityChanges& changes, const NodeUpdate& update) {
    auto node = numbered_node(changes, update);
    if (!node) return node.error();
    const bool is_news = take_over(*node, update);
    take_measures(*node, update);
    node->attributes[heartbeat_attribute] = json_time(changes.now());
    if (is_news) {
        changes.save(*node);
    } else {
        changes.touch(*node);
    }
    return changed(*std::move(node));
}

Result<EntityAnswer> put_node(EntityChanges& changes, const NodeUpdate& update) {
    auto node = numbered_node(changes, update);
    if (!node) return node.error();
    if (take_over(*node, update)) changes.save(*node);
    return changed(*std::move(node));
}

Result<EntityAnswer> set_enabled(EntityChanges& changes, const std::string& name, bool enabled) {
    if (!changes.find(node_key(name))) return no_node(name);
    return put_node(changes, {.name = name, .enabled = enabled});
}

std::optional<Entity> find_node(EntityReader& entities, const std::string& number_or_name) {
    std::int64_t number = 0;
    const char* const end = number_or_name.data() + number_or_name.size();
    const auto read = std::from_chars(number_or_name.data(), end, number);
    if (read.ec == std::errc() && read.ptr == end) {
        auto nodes = entities.list({.kind = node_kind}, newest_entity, 0, nodes_max);
        const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Entity& node) {
            return to_node(node).id == number;
        });
        if (found != nodes.end()) return std::move(*found);
    }
    return entities.find_one(node_key(number_or_name));
}

}  // namespace sluice::deploy
