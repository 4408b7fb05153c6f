#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "application/toolkit/contract_rules.hpp"

namespace sluice::apps {

// The consequences of jobs about entities of an app, and the rules for callers that change these.
ContractRules contract_rules();

void declare(JobTypes& types, EntityKinds& kinds);  // catalog.cpp

// The entities that a change in an app will ask for: the app, the entity of this kind and id, each
// unless its id is empty, and those that fields of the request name, such as "release_id".
std::vector<EntityKey> touched_in_app(const std::string& tenant, const std::string& app,
                                      std::string_view kind, const std::string& id,
                                      const Attributes& fields);

}  // namespace sluice::apps
