#pragma once

#include <vector>

#include "application/secrets/redactor.hpp"
#include "application/secrets/secret_marks.hpp"
#include "application/toolkit/contract_rules.hpp"
#include "domain/entities/entity_kind.hpp"
#include "domain/jobs/job_type.hpp"
#include "domain/values/by_type.hpp"

namespace sluice {

// The operator's rules about jobs and entities. They do not change while the engine runs.
struct Rules {
    JobTypes types = Catalog::built_in().types;
    EntityKinds kinds = Catalog::built_in().kinds;
    SecretMarks secrets{};   // in payloads
    Redactor own_secrets{};  // values of the engine's own settings, hidden in workers' texts
    ByType settings{};       // of contracts, which know their types
    std::vector<ContractRules> contracts = ContractRules::built_in();

    static const Rules& built_in();
};

}  // namespace sluice
