#pragma once

#include "infrastructure/postgres/connection/connection.hpp"
#include "infrastructure/sql/migration.hpp"

namespace sluice::postgres {

// The steps that this binary carries, in order.
std::span<const Migration> embedded_migrations();

// Applies the missing steps, each in a transaction of its own, in which no other node applies one;
// the first renames the schema of a store that an earlier version has made (former_schema.hpp). Any
// number of nodes may do so at once, and each of them may be killed at any moment. Where no step is
// missing, this only reads. Throws std::runtime_error, and changes nothing, when the database has a
// step that this binary does not know or knows with another text, and while engines of an earlier
// version live that could not work beside this one.
//
// The first overload opens a connection that is patient enough for a step of any length.
void migrate(ConnectOptions options, std::span<const Migration> known = embedded_migrations());
void migrate(Connection& connection, std::span<const Migration> known = embedded_migrations());

// Every step that the database or the binary knows, in order; of a store that is still in the
// former schema, the steps that it has there. Reads only.
std::vector<MigrationStatus> migration_status(
    Connection& connection, std::span<const Migration> known = embedded_migrations());

}  // namespace sluice::postgres
