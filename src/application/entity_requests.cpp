#include "application/entity_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "application/json_values.hpp"

namespace sluice {
namespace {

constexpr std::size_t attributes_max = 200;
constexpr std::string_view reset = "reset";

constexpr auto kinds_of_apps =
    std::to_array<std::string_view>({"app", "changeset", "release", "deployment",
                                     "temp_environment", "runtime_profile", "migration"});

// Machines that jobs run on, and what the deploy contract has doors of its own for.
constexpr auto kinds_of_admins = std::to_array<std::string_view>(
    {"node", "runtime_node", "runtime_node_numbers", "deploy_app", "access_token", "engine_key"});

bool is_of_app(EntityDesk& desk, const EntityKey& key, const std::string& parent) {
    const bool by_kind =
        std::find(kinds_of_apps.begin(), kinds_of_apps.end(), key.kind) != kinds_of_apps.end();
    return by_kind || (!parent.empty() && desk.find({key.tenant, "app", parent}));
}

std::optional<Error> refuse_stranger(EntityDesk& desk, const Caller& caller, const EntityKey& key,
                                     const std::string& parent) {
    if (caller.is_admin()) return std::nullopt;
    const bool is_admins = std::find(kinds_of_admins.begin(), kinds_of_admins.end(), key.kind) !=
                           kinds_of_admins.end();
    if (is_admins) {
        return Error{ErrorCode::forbidden, fmt::format("only admins change a {}", key.kind), ""};
    }
    if (!is_of_app(desk, key, parent)) return std::nullopt;
    return Error{
        ErrorCode::forbidden,
        fmt::format("a {} of an app is changed under /api/apps; only admins change it here",
                    key.kind),
        ""};
}

// By these the engine remembers which job has moved the entity.
bool is_the_engines(std::string_view attribute) {
    return attribute == "job_id" || attribute == "job_ids";
}

std::optional<Error> check_wish(const Attributes& wanted) {
    for (const auto& [name, value] : wanted) {
        if (name.empty()) return refuse("attributes", "has a name that is empty");
        if (auto refusal = check_name("attributes", name)) return refusal;
        if (is_the_engines(name)) {
            return refuse(fmt::format("attributes/{}", name), "is written by the engine alone");
        }
    }
    return std::nullopt;
}

std::optional<Error> check_extent(const Attributes& attributes) {
    if (attributes.size() <= attributes_max) return check_size(attributes);
    return refuse("attributes", fmt::format("has more than {} members", attributes_max),
                  ErrorCode::too_large);
}

// Ansible evaluates such texts of an inventory, and could run commands by that.
bool is_template(std::string_view text) {
    return text.find("{{") != std::string_view::npos || text.find("{%") != std::string_view::npos ||
           text.find("{#") != std::string_view::npos;
}

std::optional<Error> check_node(const Attributes& attributes) {
    for (const char* name : {"hostname", "user", "key_file", "connection"}) {
        const auto text = text_of(attributes, name);
        if (attributes.contains(name) && (!text || text->empty() || text->size() > 4096)) {
            return refuse(fmt::format("attributes/{}", name), "must be a text that is not empty");
        }
        if (text && is_template(*text)) {
            return refuse(fmt::format("attributes/{}", name),
                          "must not have {{, {% or {#: Ansible would evaluate them");
        }
    }
    if (!attributes.contains("hostname")) {
        return refuse("attributes/hostname",
                      "is required: the name or address by which the node is reached");
    }
    const auto port = integer_of(attributes, "port");
    if (attributes.contains("port") && (!port || *port < 1 || *port > 65535)) {
        return refuse("attributes/port", "must be a whole number between 1 and 65535");
    }
    return std::nullopt;
}

std::optional<Error> check_attributes(const EntityKey& key, const Attributes& attributes) {
    if (auto refusal = check_extent(attributes)) return refusal;
    return key.kind == "node" ? check_node(attributes) : std::nullopt;
}

std::optional<Error> check_key(const NewEntity& wanted) {
    if (wanted.key.kind.empty()) return refuse("kind", "is required: say what this is");
    if (auto refusal = check_tenant("tenant", wanted.key.tenant)) return refusal;
    if (auto refusal = check_name("id", wanted.key.id)) return refusal;
    return check_name("parent", wanted.parent);
}

bool is_taken_by_jobs(const EntityKind& kind, const std::string& action) {
    return std::any_of(kind.follows.begin(), kind.follows.end(), [&](const Follow& follow) {
        const auto leads_there = [&](const auto& outcome) { return outcome.second == action; };
        return follow.on_start == action || follow.on_success == action ||
               follow.on_failure == action ||
               std::any_of(follow.on_outcome.begin(), follow.on_outcome.end(), leads_there);
    });
}

std::optional<Error> check_action(const Caller& caller, const EntityKind& kind,
                                  const Entity& entity, const std::string& action) {
    if (!kind.has_action(action)) {
        return refuse("action", fmt::format("a {} has no action \"{}\"", kind.name, action));
    }
    if (is_taken_by_jobs(kind, action)) {
        return Error{ErrorCode::forbidden,
                     fmt::format("\"{}\" follows from jobs, and is not taken by hand", action), ""};
    }
    if (action != reset) return std::nullopt;
    if (!caller.is_admin()) return Error{ErrorCode::forbidden, "only admins reset", ""};
    if (kind.next_state(entity.state, reset)) return std::nullopt;
    return Error{ErrorCode::resource_not_failed,
                 fmt::format("{} is {}, so that there is nothing to reset", to_text(entity.key),
                             entity.state),
                 ""};
}

void write_attributes(Attributes& attributes, const Attributes& changes) {
    for (const auto& [name, value] : changes) {
        if (value == "null") {
            attributes.erase(name);
        } else {
            attributes.insert_or_assign(name, value);
        }
    }
}

Error no_such_entity(const EntityKey& key) {
    return {ErrorCode::not_found, fmt::format("there is no {}", to_text(key)), ""};
}

}  // namespace

Result<EntityAnswer> create_entity(EntityDesk& desk, const Caller& caller, NewEntity wanted) {
    if (auto refusal = check_key(wanted)) return *std::move(refusal);
    if (auto refusal = refuse_stranger(desk, caller, wanted.key, wanted.parent)) {
        return *std::move(refusal);
    }
    if (auto refusal = check_wish(wanted.attributes)) return *std::move(refusal);
    std::erase_if(wanted.attributes, [](const auto& item) { return item.second == "null"; });
    if (auto refusal = check_attributes(wanted.key, wanted.attributes)) return *std::move(refusal);
    desk.act_as(actor_name(caller));
    auto created = desk.create(std::move(wanted));
    if (!created) return created.error();
    return EntityAnswer{.entity = *std::move(created)};
}

Result<EntityAnswer> change_entity(EntityDesk& desk, const Caller& caller,
                                   const ChangeEntity& change) {
    const EntityKind* kind = desk.rules().kinds.find(change.key.kind);
    std::optional<Entity> entity = kind ? desk.find(change.key) : std::nullopt;
    if (!entity) return no_such_entity(change.key);
    if (auto refusal = refuse_stranger(desk, caller, entity->key, entity->parent)) {
        return *std::move(refusal);
    }
    if (!change.action.empty()) {
        if (auto refusal = check_action(caller, *kind, *entity, change.action)) {
            return *std::move(refusal);
        }
    }
    if (auto refusal = check_wish(change.attributes)) return *std::move(refusal);
    write_attributes(entity->attributes, change.attributes);
    if (auto refusal = check_attributes(entity->key, entity->attributes)) {
        return *std::move(refusal);
    }
    desk.act_as(actor_name(caller));
    if (change.action.empty()) {
        desk.save(*entity);
    } else if (auto refusal = desk.act(*entity, change.action)) {
        return *std::move(refusal);
    }
    return EntityAnswer{.entity = *std::move(entity)};
}

}  // namespace sluice
