#include "application/entities/entity_requests.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t attributes_max = 200;
constexpr std::string_view reset = "reset";

std::optional<Error> refuse_stranger(EntityChanges& changes, const Caller& caller,
                                     const EntityKey& key, const std::string& parent) {
    if (caller.is_admin()) return std::nullopt;
    for (const ContractRules& contract : changes.rules().contracts) {
        if (!contract.refuse_change) continue;
        if (auto refusal = contract.refuse_change(changes, key, parent)) return refusal;
    }
    return std::nullopt;
}

// Attributes in which the engine remembers the job that has moved the entity.
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

std::optional<Error> check_attributes(const Rules& rules, const EntityKey& key,
                                      const Attributes& attributes) {
    if (auto refusal = check_extent(attributes)) return refusal;
    for (const ContractRules& contract : rules.contracts) {
        if (!contract.check_attributes) continue;
        if (auto refusal = contract.check_attributes(key, attributes)) return refusal;
    }
    return std::nullopt;
}

std::optional<Error> check_key(const NewEntity& wanted) {
    if (wanted.key.kind.empty()) return refuse("kind", "is required: say what this is");
    if (auto refusal = check_tenant("tenant", wanted.key.tenant)) return refusal;
    if (auto refusal = check_path_id("id", wanted.key.id)) return refusal;
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
        return no_such_action(kind, action);
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

void write_attributes(Attributes& attributes, const Attributes& wanted) {
    for (const auto& [name, value] : wanted) {
        if (value == "null") {
            attributes.erase(name);
        } else {
            attributes.insert_or_assign(name, value);
        }
    }
}

}  // namespace

Error only_admins_change(const EntityKey& key) {
    return {ErrorCode::forbidden, fmt::format("only admins change a {}", key.kind), ""};
}

Result<EntityAnswer> create_entity(EntityChanges& changes, const Caller& caller, NewEntity wanted) {
    if (auto refusal = check_key(wanted)) return *std::move(refusal);
    if (auto refusal = refuse_stranger(changes, caller, wanted.key, wanted.parent)) {
        return *std::move(refusal);
    }
    if (auto refusal = check_wish(wanted.attributes)) return *std::move(refusal);
    std::erase_if(wanted.attributes, [](const auto& item) { return item.second == "null"; });
    if (auto refusal = check_attributes(changes.rules(), wanted.key, wanted.attributes)) {
        return *std::move(refusal);
    }
    changes.act_as(actor_name(caller));
    auto created = changes.create(std::move(wanted));
    if (!created) return created.error();
    return EntityAnswer{.entity = *std::move(created)};
}

Result<EntityAnswer> change_entity(EntityChanges& changes, const Caller& caller,
                                   const ChangeEntity& change) {
    const EntityKind* kind = changes.rules().kinds.find(change.key.kind);
    std::optional<Entity> entity = kind ? changes.find(change.key) : std::nullopt;
    if (!entity) return no_such_entity(changes.rules().kinds, change.key);
    if (auto refusal = refuse_stranger(changes, caller, entity->key, entity->parent)) {
        return *std::move(refusal);
    }
    if (!change.action.empty()) {
        if (auto refusal = check_action(caller, *kind, *entity, change.action)) {
            return *std::move(refusal);
        }
    }
    if (auto refusal = check_wish(change.attributes)) return *std::move(refusal);
    write_attributes(entity->attributes, change.attributes);
    if (auto refusal = check_attributes(changes.rules(), entity->key, entity->attributes)) {
        return *std::move(refusal);
    }
    changes.act_as(actor_name(caller));
    if (change.action.empty()) {
        changes.save(*entity);
    } else if (auto refusal = changes.act(*entity, change.action)) {
        return *std::move(refusal);
    }
    return EntityAnswer{.entity = *std::move(entity)};
}

}  // namespace sluice
