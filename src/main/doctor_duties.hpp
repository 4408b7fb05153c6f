#pragma once

#include "main/config.hpp"
#include "main/doctor_findings.hpp"

namespace sluice {

// A line for each duty whose backlog the store shows: how much is overdue. The rest is in the
// metrics of a running engine.
void look_at_duties(const Config& config, Findings& out);

}  // namespace sluice
