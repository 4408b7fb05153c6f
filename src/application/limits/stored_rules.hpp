#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "application/ports/entity_store.hpp"
#include "application/toolkit/contract_rules.hpp"
#include "domain/limits/limit_rules.hpp"

// Rules about what may run are entities of the tenant "@sluice", which no request can name: so
// their changes are chained, sealed, copied and verified like those of every other entity.
//
//   limit          a rule; "active" or "lifted"
//   limit_profile  the tenants that are given a profile of quotas; its id is the profile's name
//   limit_control  one entity: its events are the control history, one for each change of any rule
//                  or profile, with its author, reason, ticket, and what there was before and
//                  after; its revision is the version of the rules
namespace sluice {

EntityKey limit_key(std::string_view id);
EntityKey profile_key(std::string_view name);
EntityKey control_key();

// The rule as attributes of its entity, and back. What a rule does not have is not written.
Attributes attributes_of(const LimitRule& rule);
LimitRule read_rule(const Entity& entity);

// The rules that are in force. `known`: rules that were read before, of which only those that have
// changed since are read.
std::shared_ptr<const LimitRules> load_rules(
    EntityReader& entities, const std::shared_ptr<const LimitRules>& known = LimitRules::none());

// The rules that were known, with the entities of these keys as they are now.
std::shared_ptr<const LimitRules> with_changes(EntityReader& entities, const LimitRules& known,
                                               std::span<const EntityKey> changed,
                                               std::int64_t version);

// The profiles that are in force, as they are stored, by name.
struct StoredProfile {
    std::string name{};
    std::vector<std::string> tenants{};
    std::int64_t revision = 0;
};
std::vector<StoredProfile> stored_profiles(EntityReader& entities);

// The version of the rules, without reading them; 0: there never was one.
std::int64_t rules_version(EntityReader& entities);

// The kinds of entities above, which only the requests about limits change.
ContractRules limit_contract_rules();

}  // namespace sluice
