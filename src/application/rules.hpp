#pragma once

#include <vector>

#include "application/contract_rules.hpp"
#include "application/deploy/placement_rules.hpp"
#include "application/redactor.hpp"
#include "application/secret_marks.hpp"
#include "domain/entity_kind.hpp"
#include "domain/job_type.hpp"

namespace sluice {

// What the operator has laid down about jobs and what they are about. Does not change while the
// engine runs.
struct Rules {
    JobTypes types = JobTypes::built_in();
    EntityKinds kinds = EntityKinds::built_in();
    SecretMarks secrets{};   // in payloads
    Redactor own_secrets{};  // values of the engine's own settings, which no worker may tell
    deploy::PlacementRules placement{};
    std::vector<ContractRules> contracts = ContractRules::built_in();

    static const Rules& built_in();
};

}  // namespace sluice
