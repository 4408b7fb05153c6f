#pragma once

#include "config/config.hpp"
#include "operator/doctor_findings.hpp"

namespace sluice {

// A line for each duty: how much is overdue where the store shows it, or else where a running
// engine tells of it.
void look_at_duties(const Config& config, Findings& out);

}  // namespace sluice
