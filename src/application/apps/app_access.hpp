#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "application/entities/entity_changes.hpp"
#include "domain/access/caller.hpp"

// Apps, and the entities that belong to them: changesets, releases, environments, deployments, temp
// environments and runtime profiles. Seed 000.
namespace sluice::apps {

// The weakest first.
enum class Role { user, reviewer, config_manager, app_admin };
std::string_view to_text(Role role);
std::optional<Role> parse_role(std::string_view text);

// The member's role, if the caller is one. Admins count as app_admin everywhere.
std::optional<Role> role_of(const Entity& app, const Caller& caller);

// The app, when there is one and the caller is a member with at least this role: else not_found or
// forbidden. The first only reads, the second locks the app for a change.
Result<Entity> find_app(EntityReader& entities, const Caller& caller, const std::string& app_id,
                        Role at_least = Role::user);
Result<Entity> find_app(EntityChanges& changes, const Caller& caller, const std::string& app_id,
                        Role at_least);

// An entity of this kind that belongs to the app; not_found when it belongs to another app.
Result<Entity> find_in_app(EntityReader& entities, const Entity& app, std::string_view kind,
                           const std::string& id);
Result<Entity> find_in_app(EntityChanges& changes, const Entity& app, std::string_view kind,
                           const std::string& id);

}  // namespace sluice::apps
