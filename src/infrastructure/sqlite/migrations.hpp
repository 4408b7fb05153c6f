#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/time.hpp"

struct sqlite3;

namespace sluice::sqlite {

// One step of the schema. Its text is never changed once it was released.
struct Migration {
    int number = 0;
    std::string_view name;
    std::string_view text;
};

// The steps that this binary carries, in order.
std::span<const Migration> embedded_migrations();

// Applies what is missing, each step in a transaction of its own. Throws std::runtime_error, and
// changes nothing, when the file has a step that this binary does not know or knows with another
// text.
void migrate(sqlite3* connection, std::span<const Migration> known, Timestamp now);

struct MigrationStatus {
    int number = 0;
    std::string name;
    std::optional<Timestamp> applied_at;
    bool matches = true;  // the file's step and the binary's are the same
};

// Every step that the file or the binary knows, in order. Reads only.
std::vector<MigrationStatus> migration_status(sqlite3* connection,
                                              std::span<const Migration> known);
std::vector<MigrationStatus> migration_status(const std::filesystem::path& path);

}  // namespace sluice::sqlite
