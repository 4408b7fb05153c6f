#include "application/access_tokens.hpp"
#include "application/apps/app_contract.hpp"
#include "application/contract_rules.hpp"
#include "application/deploy/deploy_contract.hpp"
#include "application/inventory.hpp"

namespace sluice {

// The one place that knows which contracts there are.
std::vector<ContractRules> ContractRules::built_in() {
    return {inventory_rules(), access_rules(), deploy::contract_rules(), apps::contract_rules()};
}

}  // namespace sluice
