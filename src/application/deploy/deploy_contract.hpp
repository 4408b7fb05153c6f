#pragma once

#include "application/toolkit/contract_rules.hpp"

namespace sluice::deploy {

// A claim of one of its jobs puts the job's app on a runtime node; only admins change nodes and
// placements by the general requests.
ContractRules contract_rules();

}  // namespace sluice::deploy
