#include "infrastructure/postgres/schema/migrations.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "infrastructure/postgres/schema/former_schema.hpp"

namespace sluice::postgres {
namespace {

constexpr Migration embedded[] = {
#include "postgres_migrations.inc"
};

// A server that is gone is noticed by the operating system's keepalives.
constexpr Millis patience_with_a_step = std::chrono::hours(24);

constexpr Query find_tables{"", R"sql(
SELECT to_regnamespace($1::text) IS NOT NULL,
    to_regclass($1::text || '.migration') IS NOT NULL)sql"};
constexpr const char* create_table = R"sql(
CREATE TABLE migration (
    number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
    applied_at bigint NOT NULL))sql";
constexpr Query insert_applied{"", R"sql(
INSERT INTO migration (number, name, checksum, applied_at)
VALUES ($1::int4, $2::text, $3::text,
    (extract(epoch FROM clock_timestamp()) * 1000000)::int8))sql"};

// The locks end with the transaction, whatever becomes of this process and of a pooler in between.
// Each schema has one, also before it exists; the number beside its name is any constant. A
// transaction that may rename the former schema takes another lock, too: the number is "sluice" in
// ASCII, by which earlier versions lock. The locks are waited for in turns that are shorter than
// the patience of a connection; once they are held, a step may take as long as it needs.
constexpr Query wait_in_turns{"", R"sql(
SELECT set_config('lock_timeout', '2s', true), set_config('statement_timeout', '0', true),
    set_config('idle_in_transaction_session_timeout', '0', true))sql"};
constexpr Query lock{"", "SELECT pg_advisory_xact_lock(7310003, hashtext($1::text))"};
constexpr Query lock_former{"", "SELECT pg_advisory_xact_lock(126909663503205)"};
constexpr Query wait_forever{"", "SELECT set_config('lock_timeout', '0', true)"};

// The steps up to this one were written when the schema had only one name, and contain it. Released
// text is never changed, so the qualifier is removed as the text is run: its tables are then made
// in the schema of the connection.
constexpr std::string_view qualifier = "sluice.";

std::string text_of(const Migration& step) {
    std::string text(step.text);
    if (step.number > last_step_in_former_schema) return text;
    for (std::size_t at = text.find(qualifier); at != std::string::npos;
         at = text.find(qualifier, at)) {
        text.erase(at, qualifier.size());
    }
    return text;
}

struct FoundTables {
    bool schema = false;
    bool table = false;
};

FoundTables find_migration_table(Connection& connection) {
    const Result found = connection.ask(find_tables, Params(connection.schema().quoted()));
    Row row(found, 0);
    const bool schema = row.flag();
    return {schema, row.flag()};
}

std::vector<AppliedMigration> applied_migrations(Connection& connection) {
    std::vector<AppliedMigration> applied;
    const bool is_in_former = is_in_former_schema(connection);
    if (!is_in_former && !find_migration_table(connection).table) return applied;

    const SchemaName schema = is_in_former ? former_schema() : connection.schema();
    const std::string text = "SELECT number, name, checksum, applied_at FROM " + schema.quoted() +
                             ".migration ORDER BY number";
    const Result rows = connection.ask({"", text});
    for (int i = 0; i < rows.rows(); ++i) {
        Row row(rows, i);
        AppliedMigration& step = applied.emplace_back();
        step.number = row.small();
        step.name = row.text();
        step.checksum = row.text();
        step.at = row.time();
    }
    const bool was_moved =
        is_in_former && !applied.empty() && applied.back().number > last_step_in_former_schema;
    return was_moved ? applied_migrations(connection) : applied;  // by another node, just now
}

// Begins a transaction that is the only one of its kind in its schema until it ends.
void begin_alone(Connection& connection) {
    while (true) {
        connection.begin();
        try {
            connection.send(wait_in_turns);
            connection.send(lock, Params(connection.schema().text()));
            const bool may_rename =
                connection.schema() == former_schema() || is_in_former_schema(connection);
            if (may_rename) connection.send(lock_former);
            connection.ask(wait_forever);
            return;
        } catch (const ConnectionLost&) {
            throw;
        } catch (const StoreConflict&) {
            connection.roll_back();  // another node migrates
        }
    }
}

// The right to create a schema is needed only where it does not exist.
void make_migration_table(Connection& connection) {
    const FoundTables found_tables = find_migration_table(connection);
    if (!found_tables.schema) connection.execute("CREATE SCHEMA " + connection.schema().quoted());
    if (!found_tables.table) connection.execute(create_table);
}

// Nodes of versions that lack one of the steps up to this one leave out values that other nodes
// rely on: the hashes of log lines and entities, the dependencies of open jobs, and the rules about
// what may run. So they must be gone before that step.
constexpr int last_step_without_others = 12;

void refuse_beside_others(Connection& connection, const Migration& next) {
    const std::string nodes = living_nodes(connection, connection.schema());
    if (nodes.empty()) return;
    throw std::runtime_error(fmt::format(
        "engines of an earlier version still use the store: {}. Migration {} changes what every "
        "engine must write, so no earlier one may work beside it: stop them all and try again (one "
        "that was killed counts for a quarter of a minute)",
        nodes, next.name));
}

// Returns whether a step is left.
bool apply_next(Connection& connection, std::span<const Migration> known) {
    begin_alone(connection);
    // Reads the applied steps again: another node may have been faster.
    const std::vector<Migration> missing =
        missing_migrations(applied_migrations(connection), known);
    if (missing.empty()) {
        connection.roll_back();
        return false;
    }
    if (is_in_former_schema(connection)) move_former_store(connection);
    const Migration& next = missing.front();
    if (next.number <= last_step_without_others) refuse_beside_others(connection, next);
    make_migration_table(connection);
    connection.execute(text_of(next));
    connection.send(insert_applied, Params(next.number, next.name, checksum_of(next)));
    connection.commit();
    return missing.size() > 1;
}

}  // namespace

std::span<const Migration> embedded_migrations() {
    return embedded;
}

void migrate(ConnectOptions options, std::span<const Migration> known) {
    options.answer_patience = patience_with_a_step;
    Connection connection(options);
    migrate(connection, known);
}

void migrate(Connection& connection, std::span<const Migration> known) {
    try {
        bool more = !missing_migrations(applied_migrations(connection), known).empty();
        connection.sync();
        while (more) more = apply_next(connection, known);
    } catch (...) {
        connection.roll_back();
        throw;
    }
}

std::vector<MigrationStatus> migration_status(Connection& connection,
                                              std::span<const Migration> known) {
    std::vector<MigrationStatus> statuses =
        compare_migrations(applied_migrations(connection), known);
    connection.sync();
    return statuses;
}

}  // namespace sluice::postgres
