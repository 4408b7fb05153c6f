#include "infrastructure/sqlite/reading/backlog.hpp"

#include "domain/jobs/ids.hpp"
#include "infrastructure/sqlite/database/connection.hpp"
#include "infrastructure/sqlite/database/queries.hpp"
#include "infrastructure/sqlite/database/statement.hpp"

namespace sluice::sqlite {
namespace {

template <class... Values>
std::int64_t count(sqlite3* connection, const char* sql, const Values&... values) {
    Statement statement(connection, sql);
    return statement.with(values...).next_row() ? statement.integer(0) : 0;
}

}  // namespace

DutyBacklog look_at_backlog(const std::filesystem::path& path, const BacklogQuestion& question) {
    const Connection opened = open_reader(path);
    sqlite3* connection = opened.get();
    DutyBacklog seen;
    seen.deadlines = count(connection, sql::count_deadlines, question.now);
    seen.leases = count(connection, sql::count_expired, question.now);
    seen.keys = count(connection, sql::count_requests, question.now - question.idempotency_memory);
    const auto newest = question.retention.latest_cutoff(question.now);
    if (!newest) return seen;
    const auto cutoffs = question.retention.cutoffs(question.now);
    seen.old_jobs = count(connection, sql::count_old_jobs, first_id_at(*newest), cutoffs[2],
                          cutoffs[3], cutoffs[4], cutoffs[5], backlog_counted);
    return seen;
}

}  // namespace sluice::sqlite
