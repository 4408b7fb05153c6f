#include "infrastructure/postgres/schema/former_schema.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace sluice::postgres {
namespace {

// A schema that this role may not look into belongs to another application.
constexpr Query find_former{"", R"sql(
SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'sluice' AND c.relname = 'migration'
        AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')),
    to_regclass($1::text || '.migration') IS NOT NULL,
    to_regnamespace($1::text) IS NOT NULL)sql"};
constexpr Query read_last_step{"", "SELECT coalesce(max(number), 0) FROM sluice.migration"};

// Seats are renewed for two minutes every other second; see tick.cpp for which nodes count. Only
// steps up to 12 ask, which renames the column.
constexpr const char* shut_out = "LOCK TABLE {}.seat IN ACCESS EXCLUSIVE MODE";
constexpr const char* list_living = R"sql(
SELECT coalesce(string_agg(DISTINCT name, ', '), '') FROM {}.seat
WHERE until > now() + interval '105 seconds')sql";
constexpr Query has_seats{"", "SELECT to_regclass($1::text || '.seat') IS NOT NULL"};

struct Schemas {
    bool former = false;
    bool own = false;
    bool own_schema = false;
};

Schemas find_schemas(Connection& connection) {
    if (connection.schema() == former_schema()) return {};
    const Result result = connection.ask(find_former, Params(connection.schema().quoted()));
    Row row(result, 0);
    Schemas found;
    found.former = row.flag();
    found.own = row.flag();
    found.own_schema = row.flag();
    return found;
}

bool is_of_that_time(Connection& connection) {
    const Result last = connection.ask(read_last_step);
    return Row(last, 0).small() <= last_step_in_former_schema;
}

// The names of the steps tell an engine of the earlier version, and its operator, what happened.
std::string text_of_move(const std::string& schema, const std::string& quoted) {
    return fmt::format(
        "ALTER SCHEMA sluice RENAME TO {1}; CREATE SCHEMA sluice;"
        "CREATE TABLE sluice.migration (LIKE {1}.migration INCLUDING ALL);"
        "INSERT INTO sluice.migration SELECT * FROM {1}.migration;"
        "INSERT INTO sluice.migration SELECT 9999, '9999_moved_to_the_schema_{0}', '', "
        "max(applied_at) FROM {1}.migration;"
        "COMMENT ON SCHEMA sluice IS 'The store is in the schema {0} now. This one keeps engines "
        "of "
        "an earlier version from beginning another store; drop it when there are none.'",
        schema, quoted);
}

}  // namespace

SchemaName former_schema() {
    return *SchemaName::resolve("sluice");
}

std::string living_nodes(Connection& connection, const SchemaName& schema) {
    const Result seats = connection.ask(has_seats, Params(schema.quoted()));
    if (!Row(seats, 0).flag()) return "";
    connection.execute(fmt::format(shut_out, schema.quoted()));
    const std::string text = fmt::format(list_living, schema.quoted());
    const Result living = connection.ask({"", text});
    return Row(living, 0).text();
}

bool is_in_former_schema(Connection& connection) {
    const Schemas found = find_schemas(connection);
    return found.former && !found.own && is_of_that_time(connection);
}

void move_former_store(Connection& connection) {
    const std::string& schema = connection.schema().text();
    if (find_schemas(connection).own_schema) {
        throw std::runtime_error(fmt::format(
            "the store of an earlier version in the schema \"sluice\" is to be renamed to "
            "\"{0}\", and there is a schema of that name without a store: drop it (DROP SCHEMA "
            "{0}) "
            "and try again, or keep the name with store_schema = \"sluice\"",
            schema));
    }
    const std::string nodes = living_nodes(connection, former_schema());
    if (!nodes.empty()) {
        throw std::runtime_error(fmt::format(
            "engines of an earlier version still use the schema \"sluice\": {}. This version "
            "renames it to \"{}\", and cannot share it with them: stop them all and try again (one "
            "that was killed counts for a quarter of a minute), or keep the name with store_schema "
            "= \"sluice\"",
            nodes, schema));
    }
    connection.execute(text_of_move(schema, connection.schema().quoted()));
}

}  // namespace sluice::postgres
