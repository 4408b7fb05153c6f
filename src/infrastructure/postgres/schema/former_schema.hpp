#pragma once

#include "infrastructure/postgres/connection/connection.hpp"

// Up to migration 0004 every store was in a schema called "sluice", by which all SQL named it.
namespace sluice::postgres {

inline constexpr int last_step_in_former_schema = 4;

// Whether the schema of the connection has no store and the former schema has one of that time. A
// later store in a schema of that name is there on purpose.
bool is_in_former_schema(Connection& connection);

SchemaName former_schema();

// The names of the nodes that use the store in this schema; empty: none does, or there is no store.
// No node can join it until the open transaction has ended.
std::string living_nodes(Connection& connection, const SchemaName& schema);

// Renames the former schema to that of the connection, in the transaction that is open, in which no
// other node migrates. A sign stays under the former name that no version can take for a store of
// its own: an engine of the earlier version that is started again refuses to start, rather than
// begin an empty store. Throws std::runtime_error, with what to do, while engines use the former
// schema, and when the new name is taken.
void move_former_store(Connection& connection);

}  // namespace sluice::postgres
