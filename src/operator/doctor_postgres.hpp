#pragma once

#include "config/config.hpp"
#include "infrastructure/sql/migration.hpp"
#include "operator/doctor_findings.hpp"

namespace sluice {

// Looks at the database of the store, which is one of PostgreSQL, and at its other users.
void look_at_postgres(const Config& config, Findings& out);

// Whether this version can use a store with these steps; `name` is its name in the finding.
void look_at_steps(const std::vector<MigrationStatus>& steps, const std::string& name,
                   Findings& out);

}  // namespace sluice
