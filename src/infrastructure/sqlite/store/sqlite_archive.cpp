#include "infrastructure/sqlite/store/sqlite_archive.hpp"

#include <algorithm>

#include "infrastructure/sqlite/database/bindings.hpp"
#include "infrastructure/sqlite/database/queries.hpp"

namespace sluice::sqlite {

SqliteArchive::SqliteArchive(sqlite3* connection)
    : list_ended_(connection, sql::list_ended),
      has_open_dependent_(connection, sql::has_open_dependent),
      has_key_(connection, sql::has_key),
      delete_lines_(connection, sql::delete_lines),
      delete_some_lines_(connection, sql::delete_some_lines),
      deletes_{Statement(connection, sql::delete_events),
               Statement(connection, sql::delete_dependencies),
               Statement(connection, sql::delete_job)},
      delete_done_(connection, sql::delete_done),
      has_line_(connection, sql::has_line) {}

std::vector<EndedJob> SqliteArchive::ended(JobId after, JobId before, int limit) {
    std::vector<EndedJob> found;
    list_ended_.with(rows_at_once, after, before, std::max(limit, 0));
    while (list_ended_.next_row()) {
        Row row(list_ended_);
        EndedJob& job = found.emplace_back();
        job.id = JobId{row.integer()};
        job.state = row.one_of(JobState::succeeded, JobState::timed_out, JobState::failed, "state");
        job.completed_at = row.time();
        job.rows = row.integer();
        job.is_rest = row.flag();
    }
    list_ended_.rewind();
    return found;
}

bool SqliteArchive::finds(Statement& statement, JobId id) {
    const bool found = statement.with(id).next_row();
    statement.rewind();
    return found;
}

std::vector<JobId> SqliteArchive::unneeded(std::span<const JobId> ids) {
    std::vector<JobId> found;
    std::copy_if(ids.begin(), ids.end(), std::back_inserter(found),
                 [&](JobId id) { return !finds(has_open_dependent_, id) && !finds(has_key_, id); });
    return found;
}

void SqliteArchive::remove(std::span<const JobId> ids) {
    for (const JobId id : ids) {
        delete_lines_.with(id).run();
        for (Statement& statement : deletes_) statement.with(id).run();
        delete_done_.with(id).run();
    }
}

bool SqliteArchive::remove_part(JobId id) {
    for (Statement& statement : deletes_) statement.with(id).run();
    delete_some_lines_.with(id, id, rows_at_once).run();
    if (finds(has_line_, id)) return false;
    delete_done_.with(id).run();
    return true;
}

}  // namespace sluice::sqlite
