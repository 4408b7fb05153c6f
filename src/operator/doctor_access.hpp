#pragma once

#include "config/config.hpp"
#include "operator/doctor_findings.hpp"

namespace sluice {

// Looks at access: tokens that are missing or about to expire, and a first admin token that is not
// needed any more.
void look_at_access(const Config& config, Findings& out);

}  // namespace sluice
