#pragma once

#include <string>
#include <vector>

#include "application/caller.hpp"
#include "application/commands.hpp"
#include "application/entity_desk.hpp"

// What clients say about entities of any kind. Each call is one EntityAction: it decides all or
// refuses and has changed nothing.
//
// Each contract says which of its kinds only admins change here (ContractRules::refuse_change):
// what belongs to an app, say, has its own ways of being changed, with the rules of its roles.
namespace sluice {

// The refusal for a kind that only admins change here.
Error only_admins_change(const EntityKey& key);

Result<EntityAnswer> create_entity(EntityDesk& desk, const Caller& caller, NewEntity wanted);

struct ChangeEntity {
    EntityKey key;
    std::string action{};     // empty: only the attributes change
    Attributes attributes{};  // what is to be written; a null takes the attribute away
};

// Takes an action of the kind's table. Actions that follow jobs are taken by jobs alone. A reset is
// for admins, and is refused as resource_not_failed where there is nothing to reset.
Result<EntityAnswer> change_entity(EntityDesk& desk, const Caller& caller,
                                   const ChangeEntity& change);

}  // namespace sluice
