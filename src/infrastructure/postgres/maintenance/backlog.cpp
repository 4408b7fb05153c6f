#include "infrastructure/postgres/maintenance/backlog.hpp"

#include "infrastructure/postgres/schema/windows.hpp"

namespace sluice::postgres {
namespace {

constexpr Query count_due{"", R"sql(
SELECT (SELECT count(*) FROM lease WHERE deadline <= $1::int8 AND NOT stop_requested),
    (SELECT count(*) FROM lease WHERE until <= $1::int8),
    (SELECT count(*) FROM idempotency WHERE at < $2::int8))sql"};

constexpr Query count_old_jobs{"", R"sql(
SELECT count(*) FROM (SELECT FROM done WHERE id < $1::int8
                          AND completed_at < ($2::int8[])[state + 1] LIMIT $3::int8) old)sql"};

constexpr Query count_windows{"", R"sql(
SELECT count(*) FILTER (WHERE week < $1::int8), count(*) FILTER (WHERE week > $1::int8)
FROM (SELECT substr(c.relname, 5)::int8 AS week FROM pg_inherits i
      JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'job'::regclass) w)sql"};

Result ask(Connection& connection, const Query& query, const Params& params) {
    Result result = connection.ask(query, params);
    connection.sync();
    return result;
}

}  // namespace

DutyBacklog look_at_backlog(Connection& connection, const BacklogQuestion& question) {
    DutyBacklog seen;
    const Result due = ask(connection, count_due,
                           Params(question.now, question.now - question.idempotency_memory));
    Row counts(due, 0);
    seen.deadlines = counts.integer();
    seen.leases = counts.integer();
    seen.keys = counts.integer();
    const Result windows =
        ask(connection, count_windows, Params(window_of(first_id_at(question.now))));
    Row weeks(windows, 0);
    seen.old_windows = weeks.integer();
    seen.next_windows = weeks.integer();
    const auto newest = question.retention.latest_cutoff(question.now);
    if (!newest) return seen;
    const Result old = ask(connection, count_old_jobs,
                           Params(first_id_at(*newest), question.retention.cutoffs(question.now),
                                  std::int64_t{backlog_counted}));
    seen.old_jobs = Row(old, 0).integer();
    return seen;
}

}  // namespace sluice::postgres
