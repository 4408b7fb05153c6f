#include "application/access/access_tokens.hpp"
#include "application/apps/app_contract.hpp"
#include "application/deploy/deploy_contract.hpp"
#include "application/limits/stored_rules.hpp"
#include "application/sites/sites_contract.hpp"
#include "application/toolkit/contract_rules.hpp"
#include "application/toolkit/rules.hpp"

namespace sluice {

// The only list of the contracts that come with the engine.
std::vector<ContractRules> ContractRules::built_in() {
    return {sites::contract_rules(), access_rules(), deploy::contract_rules(),
            apps::contract_rules(), limit_contract_rules()};
}

Catalog Catalog::built_in() {
    Catalog catalog;
    for (const ContractRules& contract : ContractRules::built_in()) {
        if (contract.declare) contract.declare(catalog.types, catalog.kinds);
    }
    return catalog;
}

const Rules& Rules::built_in() {
    static const Rules rules;
    return rules;
}

}  // namespace sluice
