#include "infrastructure/sqlite/migrations.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "domain/sha256.hpp"
#include "infrastructure/sqlite/connection.hpp"
#include "infrastructure/sqlite/queries.hpp"
#include "infrastructure/sqlite/statement.hpp"

namespace sluice::sqlite {
namespace {

constexpr Migration embedded[] = {
#include "sqlite_migrations.inc"
};

struct Applied {
    std::string name;
    std::string checksum;
    Timestamp at{};
};

std::map<int, Applied> applied_migrations(sqlite3* connection) {
    std::map<int, Applied> applied;
    if (!Statement(connection, sql::find_migration_table).next_row()) return applied;

    Statement query(connection, sql::list_migrations);
    while (query.next_row()) {
        Row row(query);
        const int number = row.small();
        const std::string name{row.text()};
        const std::string checksum{row.text()};
        applied[number] = {name, checksum, row.time()};
    }
    return applied;
}

void refuse_strangers(const std::vector<MigrationStatus>& statuses,
                      std::span<const Migration> known) {
    const int newest = known.empty() ? 0 : known.back().number;
    for (const MigrationStatus& status : statuses) {
        if (status.matches) continue;
        if (status.number > newest) {
            throw std::runtime_error(fmt::format(
                "the store was written by a newer version: it has migration {}, and this one knows "
                "none above {:04}; use the newer version",
                status.name, newest));
        }
        throw std::runtime_error(
            fmt::format("migration {} was applied to the store with another text than this version "
                        "has; use the "
                        "version that the store was made with",
                        status.name));
    }
}

void apply(sqlite3* connection, const Migration& migration, Timestamp now) {
    execute(connection, "BEGIN IMMEDIATE");
    try {
        execute(connection, std::string(migration.text).c_str());
        const std::string checksum = to_hex(sha256(migration.text));
        Statement(connection, sql::insert_migration)
            .with(migration.number, migration.name, checksum, now)
            .run();
        execute(connection, "COMMIT");
    } catch (...) {
        roll_back(connection);
        throw;
    }
}

}  // namespace

std::span<const Migration> embedded_migrations() {
    return embedded;
}

std::vector<MigrationStatus> migration_status(sqlite3* connection,
                                              std::span<const Migration> known) {
    const std::map<int, Applied> applied = applied_migrations(connection);
    std::map<int, MigrationStatus> statuses;
    for (const auto& [number, row] : applied) {
        statuses[number] = {number, row.name, row.at, false};
    }
    for (const Migration& migration : known) {
        const auto found = applied.find(migration.number);
        MigrationStatus& status = statuses[migration.number];
        status.number = migration.number;
        status.name = migration.name;
        status.matches =
            found == applied.end() || found->second.checksum == to_hex(sha256(migration.text));
    }
    std::vector<MigrationStatus> list;
    for (auto& [number, status] : statuses) list.push_back(std::move(status));
    return list;
}

std::vector<MigrationStatus> migration_status(const std::filesystem::path& path) {
    const Connection connection = open_reader(path);
    return migration_status(connection.get(), embedded_migrations());
}

void migrate(sqlite3* connection, std::span<const Migration> known, Timestamp now) {
    const std::vector<MigrationStatus> statuses = migration_status(connection, known);
    refuse_strangers(statuses, known);

    execute(connection, sql::create_migration_table);
    for (const Migration& migration : known) {
        for (const MigrationStatus& status : statuses) {
            if (status.number == migration.number && !status.applied_at) {
                apply(connection, migration, now);
            }
        }
    }
}

}  // namespace sluice::sqlite
