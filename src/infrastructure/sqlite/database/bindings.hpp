#pragma once

#include "infrastructure/sqlite/database/statement.hpp"
#include "infrastructure/sqlite/database/tables.hpp"

// Rows (see tables.hpp) as values of statements.
namespace sluice::sqlite {

// Bind a row to the placeholders after the first `offset` ones.
void bind_job(Statement& insert, int offset, const Job& job);
void bind_requeued(Statement& insert, int offset, const Job& job);
void bind_lease(Statement& insert, int offset, const Job& job);
void bind_done(Statement& insert, int offset, const Job& job);
void bind_event(Statement& insert, int offset, const Event& event);
void bind_line(Statement& insert, int offset, const LogLine& line);
void bind_dependency(Statement& insert, int offset, const tables::Dependency& dependency);
void bind_entity_event(Statement& insert, int offset, const EntityEvent& event);

// Run sql::update_lease and sql::update_done, on a row that must exist.
void update_lease(Statement& update, const Job& job);
void update_done(Statement& update, const Job& job);

// Run sql::insert_unfinished and sql::delete_unfinished.
void run_on_unfinished(Statement& statement, const JobSpec& spec);

// Run sql::put_entity and sql::put_request.
void put_entity(Statement& put, const Entity& entity);
void put_request(Statement& put, const IdempotentRequest& request);

// Run sql::put_meter, sql::put_source and sql::add_to_source_hour.
void put_meter(Statement& put, const StoredMeter& meter);
void put_source(Statement& put, const StoredSource& source);
void add_to_source_hour(Statement& add, const StoredSourceHour& hour);

}  // namespace sluice::sqlite
