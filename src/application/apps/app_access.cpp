#include "application/apps/app_access.hpp"

#include <fmt/format.h>

#include <array>

#include "application/apps/app_parts.hpp"
#include "json/json_values.hpp"

namespace sluice::apps {
namespace {

constexpr auto role_names =
    std::to_array<std::string_view>({"user", "reviewer", "config_manager", "app_admin"});

EntityKey app_key(const Caller& caller, const std::string& id) {
    return {caller.tenant, "app", id};
}

Result<Entity> admit(std::optional<Entity> app, const Caller& caller, const std::string& app_id,
                     Role at_least) {
    if (!app) return Error{ErrorCode::not_found, fmt::format("no app has the id {}", app_id), {}};
    const std::optional<Role> role = role_of(*app, caller);
    if (!role) {
        return Error{ErrorCode::forbidden,
                     fmt::format("{} is not a member of app {}", name_of(caller), app_id),
                     {}};
    }
    if (*role < at_least) {
        return Error{ErrorCode::forbidden,
                     fmt::format("this needs the role {} or above in app {}; {} has {}",
                                 to_text(at_least), app_id, name_of(caller), to_text(*role)),
                     {}};
    }
    return *std::move(app);
}

Result<Entity> belonging(std::optional<Entity> entity, const Entity& app, const EntityKey& key) {
    if (entity && entity->parent == app.key.id) return *std::move(entity);
    return Error{
        ErrorCode::not_found, fmt::format("app {} has no {}", app.key.id, to_text(key)), {}};
}

}  // namespace

std::string_view to_text(Role role) {
    return role_names[static_cast<std::size_t>(role)];
}

std::optional<Role> parse_role(std::string_view text) {
    for (std::size_t i = 0; i < role_names.size(); ++i) {
        if (role_names[i] == text) return static_cast<Role>(i);
    }
    return std::nullopt;
}

std::optional<Role> role_of(const Entity& app, const Caller& caller) {
    if (caller.is_admin()) return Role::app_admin;
    const auto role = text_of(json_members(json_of(app.attributes, "members")), caller.name);
    return role ? parse_role(*role) : std::nullopt;
}

Result<Entity> find_app(EntityReader& entities, const Caller& caller, const std::string& app_id,
                        Role at_least) {
    return admit(entities.find_one(app_key(caller, app_id)), caller, app_id, at_least);
}

Result<Entity> find_app(EntityChanges& changes, const Caller& caller, const std::string& app_id,
                        Role at_least) {
    changes.act_as(actor_name(caller));
    return admit(changes.find(app_key(caller, app_id)), caller, app_id, at_least);
}

Result<Entity> find_in_app(EntityReader& entities, const Entity& app, std::string_view kind,
                           const std::string& id) {
    const EntityKey key = sibling(app, kind, id);
    return belonging(entities.find_one(key), app, key);
}

Result<Entity> find_in_app(EntityChanges& changes, const Entity& app, std::string_view kind,
                           const std::string& id) {
    const EntityKey key = sibling(app, kind, id);
    return belonging(changes.find(key), app, key);
}

}  // namespace sluice::apps
