#pragma once

#include "config/config.hpp"
#include "operator/doctor_findings.hpp"

namespace sluice {

// Looks at the rules about what may run: at maintenance and blocked tenants, and whether what the
// rules have counted agrees with the leases, which only a running engine can tell.
void look_at_rules(const Config& config, Findings& out);

}  // namespace sluice
