#pragma once

#include <functional>

#include "infrastructure/postgres/maintenance/import_check.hpp"
#include "infrastructure/sql/whole_store.hpp"

namespace sluice::postgres {

enum class ImportStage { copying, checking };

// Called now and then, with the counts of what was copied or checked so far.
using OnImport = std::function<void(ImportStage stage, const Imported& so_far)>;

// Copies all of another store into the schema of the database, which must have no store and serve
// no engine; migrates it first. Every lease gets one fresh term, as at a start, since no heartbeat
// can arrive meanwhile. The copy is compared with its source, and every chain of events is
// verified, before the one commit: when this throws, or the process dies, no job is in the
// database. Throws std::runtime_error with what is wrong.
Imported import_store(WholeStore& source, const Database& target, const OnImport& on_import);

}  // namespace sluice::postgres
