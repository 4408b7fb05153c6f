#include "infrastructure/sqlite/database/migrations.hpp"

#include "infrastructure/sqlite/database/connection.hpp"
#include "infrastructure/sqlite/database/queries.hpp"
#include "infrastructure/sqlite/database/statement.hpp"

namespace sluice::sqlite {
namespace {

constexpr Migration embedded[] = {
#include "sqlite_migrations.inc"
};

std::vector<AppliedMigration> applied_migrations(sqlite3* connection) {
    std::vector<AppliedMigration> applied;
    if (!Statement(connection, sql::find_migration_table).next_row()) return applied;

    Statement query(connection, sql::list_migrations);
    while (query.next_row()) {
        Row row(query);
        AppliedMigration& step = applied.emplace_back();
        step.number = row.small();
        step.name = row.text();
        step.checksum = row.text();
        step.at = row.time();
    }
    return applied;
}

void apply(sqlite3* connection, const Migration& migration, Timestamp now) {
    execute(connection, "BEGIN IMMEDIATE");
    try {
        execute(connection, std::string(migration.text).c_str());
        const std::string checksum = checksum_of(migration);
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
    return compare_migrations(applied_migrations(connection), known);
}

std::vector<MigrationStatus> migration_status(const std::filesystem::path& path) {
    const Connection connection = open_reader(path);
    return migration_status(connection.get(), embedded_migrations());
}

void migrate(sqlite3* connection, std::span<const Migration> known, Timestamp now) {
    const std::vector<Migration> missing =
        missing_migrations(applied_migrations(connection), known);

    execute(connection, sql::create_migration_table);
    for (const Migration& migration : missing) apply(connection, migration, now);
}

}  // namespace sluice::sqlite
