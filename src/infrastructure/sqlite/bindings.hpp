#pragma once

#include "infrastructure/entity_rows.hpp"
#include "infrastructure/job_rows.hpp"
#include "infrastructure/sqlite/statement.hpp"

// Rows (see infrastructure/job_rows.hpp and entity_rows.hpp) as values of statements.
namespace sluice::sqlite {

// Bind a row to the placeholders after the first `place` ones.
void bind_job(Statement& insert, int place, const Job& job, const JobTexts& texts);
void bind_requeued(Statement& insert, int place, const Job& job);
void bind_lease(Statement& insert, int place, const Job& job);
void bind_done(Statement& insert, int place, const Job& job);
void bind_event(Statement& insert, int place, const Event& event);
void bind_line(Statement& insert, int place, const LogLine& line);
void bind_entity_event(Statement& insert, int place, const EntityEvent& event);

// Run sql::update_lease and sql::update_done, on a row that must be there.
void update_lease(Statement& update, const Job& job);
void update_done(Statement& update, const Job& job);

// Runs sql::put_entity.
void put_entity(Statement& put, const Entity& entity);

}  // namespace sluice::sqlite
