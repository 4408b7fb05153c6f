#pragma once

#include "application/toolkit/contract_rules.hpp"

namespace sluice::sites {

// Nodes, the machines that playbooks run on, are changed by admins only, since they say where
// playbooks run and with which key.
ContractRules contract_rules();

void declare(JobTypes& types, EntityKinds& kinds);  // catalog.cpp

}  // namespace sluice::sites
