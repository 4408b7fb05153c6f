#pragma once

#include <string>

#include "application/entities/entity_changes.hpp"
#include "application/ports/commands.hpp"
#include "domain/access/caller.hpp"

// Requests of clients about entities of any kind. Each call is one EntityAction: it decides all, or
// refuses and has changed nothing.
//
// Each contract says which of its kinds only admins change here (ContractRules::refuse_change):
// entities of an app, say, have their own requests, with the rules of their roles.
namespace sluice {

// The refusal for a kind that only admins change here.
Error only_admins_change(const EntityKey& key);

Result<EntityAnswer> create_entity(EntityChanges& changes, const Caller& caller, NewEntity wanted);

struct ChangeEntity {
    EntityKey key;
    std::string action{};     // empty: only the attributes change
    Attributes attributes{};  // to be written; a null removes the attribute
};

// Takes an action of the kind's table. Actions that follow jobs are taken by jobs alone. A reset is
// for admins, and is refused as resource_not_failed where there is nothing to reset.
Result<EntityAnswer> change_entity(EntityChanges& changes, const Caller& caller,
                                   const ChangeEntity& change);

}  // namespace sluice
