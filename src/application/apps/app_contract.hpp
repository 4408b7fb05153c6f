#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "application/contract_rules.hpp"

namespace sluice::apps {

// The consequences of jobs that are about something in an app, and who may change what belongs to
// one.
ContractRules contract_rules();

// The entities that a change in an app will ask for: the app, the entity of this kind and id, each
// unless its id is empty, and what the fields of the request name, such as "release_id".
std::vector<EntityKey> touched_in_app(const std::string& tenant, const std::string& app,
                                      std::string_view kind, const std::string& id,
                                      const Attributes& fields);

}  // namespace sluice::apps
