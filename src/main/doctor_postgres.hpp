#pragma once

#include "infrastructure/migration.hpp"
#include "main/config.hpp"
#include "main/doctor_findings.hpp"

namespace sluice {

// Looks at the database of the store, which is one of PostgreSQL, and at who else uses it.
void look_at_postgres(const Config& config, Findings& out);

// Whether this version can use a store with these steps; `name` is what it is called.
void look_at_steps(const std::vector<MigrationStatus>& steps, const std::string& name,
                   Findings& out);

}  // namespace sluice
