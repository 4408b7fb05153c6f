#pragma once

#include <filesystem>

#include "infrastructure/sql/migration.hpp"

struct sqlite3;

namespace sluice::sqlite {

// The steps that this binary carries, in order.
std::span<const Migration> embedded_migrations();

// Applies the missing steps, each in a transaction of its own. Throws std::runtime_error, and
// changes nothing, when the file has a step that this binary does not know or knows with another
// text.
void migrate(sqlite3* connection, std::span<const Migration> known, Timestamp now);

// Every step that the file or the binary knows, in order. Reads only.
std::vector<MigrationStatus> migration_status(sqlite3* connection,
                                              std::span<const Migration> known);
std::vector<MigrationStatus> migration_status(const std::filesystem::path& path);

}  // namespace sluice::sqlite
