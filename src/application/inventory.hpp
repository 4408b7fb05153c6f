#pragma once

#include "application/contract_rules.hpp"

namespace sluice {

// Nodes: the machines that playbooks run on. Only admins change them, since they say where
// playbooks run and with which key.
ContractRules inventory_rules();

}  // namespace sluice
