#include "infrastructure/postgres/schema/windows.hpp"

#include <algorithm>
#include <limits>

namespace sluice::postgres {
namespace {

constexpr int tick_shift = 22;  // of the milliseconds in an id
constexpr Timestamp first_week = from_micros(1'577'836'800'000'000);  // 2020-01-01
constexpr std::int64_t week_millis = 604'800'000;

constexpr Query find_windows{"find_windows", R"sql(
SELECT substr(c.relname, 5)::int8, pg_get_expr(c.relpartbound, c.oid) LIKE '%MINVALUE%'
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'job'::regclass ORDER BY 1)sql"};

// The number is any constant: nodes of a store that add windows at once do so one after the other.
constexpr Query lock_windows{"lock_windows", R"sql(
SELECT set_config('lock_timeout', '2s', true),
    pg_advisory_xact_lock(7310002, hashtext(current_schema())))sql"};
constexpr Query add_windows{"add_windows",
                            "SELECT add_window(week, false) FROM unnest($1::int8[]) week"};

constexpr Query be_patient{"be_patient", "SELECT set_config('statement_timeout', '60s', true)"};

// Whether a window must stay, from the cheapest reason to the dearest; the first reason that holds
// ends the search. Cutoffs are by state, from the first one on; an unknown state makes the row a
// damaged one, which stays.
constexpr Query is_needed{"is_window_needed", R"sql(
SELECT EXISTS (SELECT FROM lease WHERE id >= $1::int8 AND id < $2::int8)
    OR EXISTS (SELECT FROM requeued WHERE id >= $1::int8 AND id < $2::int8)
    OR EXISTS (SELECT FROM blocker WHERE depends_on >= $1::int8 AND depends_on < $2::int8)
    OR EXISTS (SELECT FROM blocker WHERE job_id >= $1::int8 AND job_id < $2::int8)
    OR EXISTS (SELECT FROM parked WHERE id >= $1::int8 AND id < $2::int8)
    OR EXISTS (SELECT FROM timed WHERE id >= $1::int8 AND id < $2::int8)
    OR EXISTS (SELECT FROM ready WHERE id >= $1::int8 AND id < $2::int8)
    OR EXISTS (SELECT FROM open_dependency o
               WHERE o.depends_on >= $1::int8 AND o.depends_on < $2::int8
                   AND NOT EXISTS (SELECT FROM done d WHERE d.id = o.job_id))
    OR EXISTS (SELECT FROM idempotency WHERE at < $4::int8)
    OR EXISTS (SELECT FROM job j JOIN done d ON d.id = j.id
               WHERE j.id >= $1::int8 AND j.id < $2::int8 AND d.id >= $1::int8 AND d.id < $2::int8
                   AND j.entity_id IS NOT NULL AND d.state = 2)
    OR EXISTS (SELECT FROM done
               WHERE id >= $1::int8 AND id < $2::int8
                   AND coalesce(completed_at >= ($3::int8[])[state + 1], true))
    OR EXISTS (SELECT FROM job j WHERE j.id >= $1::int8 AND j.id < $2::int8
                   AND NOT EXISTS (SELECT FROM done d WHERE d.id = j.id
                                       AND d.id >= $1::int8 AND d.id < $2::int8)))sql"};

struct Window {
    std::int64_t week = 0;
    bool takes_older = false;  // all ids before its week are its, too

    Timestamp start() const { return first_week + from_millis(week * week_millis); }
    Timestamp end() const { return first_week + from_millis((week + 1) * week_millis); }
    std::int64_t first_id() const {
        return takes_older ? std::numeric_limits<std::int64_t>::min()
                           : (week * week_millis) << tick_shift;
    }
    std::int64_t end_id() const { return ((week + 1) * week_millis) << tick_shift; }
};

std::int64_t week_of(Timestamp time) {
    return std::chrono::floor<std::chrono::weeks>(time - first_week).count();
}

std::vector<Window> all_windows(Connection& connection) {
    const Connection::Ticket ticket = connection.post(find_windows);
    connection.sync();
    const Result result = connection.take(ticket);
    std::vector<Window> windows;
    for (int i = 0; i < result.rows(); ++i) {
        Row row(result, i);
        windows.push_back({.week = row.integer(), .takes_older = row.flag()});
    }
    return windows;
}

void ensure(Connection& connection, const std::vector<std::int64_t>& weeks) {
    const std::vector<Window> windows = all_windows(connection);
    std::vector<std::int64_t> missing;
    for (const std::int64_t week : weeks) {
        const bool is_there =
            std::any_of(windows.begin(), windows.end(), [&](const Window& window) {
                return window.week == week || (window.takes_older && week < window.week);
            });
        if (!is_there) missing.push_back(week);
    }
    if (missing.empty()) return;
    connection.begin();
    connection.send(lock_windows);
    connection.send(add_windows, Params(missing));
    connection.commit();
}

bool must_stay(Connection& connection, const Window& window,
               const std::vector<std::int64_t>& cutoffs) {
    connection.begin();
    connection.send(be_patient);
    const Result answer = connection.ask(
        is_needed, Params(window.first_id(), window.end_id(), cutoffs, window.end()));
    connection.commit();
    return Row(answer, 0).flag();
}

// To drop a partition locks its parent against all other sessions, and new ones queue behind the
// lock. So each of the four locks is waited for no longer than a tenth of a second, together less
// than a committer waits for a lock. They are taken in one order before anything is dropped. A job
// that has come to depend on a job of the window since the check has committed by then, and is
// seen.
bool drop(Connection& connection, const Window& window) {
    const std::string week = std::to_string(window.week);
    try {
        connection.execute(
            "SET LOCAL lock_timeout = '100ms';"
            "LOCK TABLE ONLY job, ONLY done, ONLY event, ONLY log "
            "IN ACCESS EXCLUSIVE MODE;"
            "DO $$ BEGIN IF EXISTS (SELECT FROM open_dependency o WHERE o.depends_on >= " +
            std::to_string(window.first_id()) + " AND o.depends_on < " +
            std::to_string(window.end_id()) +
            " AND NOT EXISTS (SELECT FROM done d WHERE d.id = o.job_id)) "
            "THEN RAISE EXCEPTION 'the window is needed' USING ERRCODE = '55P03'; END IF; END $$;"
            "DROP TABLE job_" +
            week + ", done_" + week + ", event_" + week + ", log_" + week);
    } catch (const ConnectionLost&) {
        throw;
    } catch (const StoreConflict&) {
        connection.roll_back();
        return false;
    }
    return true;
}

}  // namespace

std::int64_t window_of(JobId id) {
    return (id.value >> tick_shift) / week_millis;
}

void ensure_windows(Connection& connection, Timestamp now) {
    const std::int64_t this_week = week_of(now);
    ensure(connection, {this_week, this_week + 1, this_week + 2});
}

void ensure_window_for(Connection& connection, JobId id) {
    ensure(connection, {window_of(id)});
}

DroppedWindows drop_ended_windows(Connection& connection, Timestamp now,
                                  const Retention& retention) {
    DroppedWindows dropped;
    const auto cutoff = retention.latest_cutoff(now);
    if (!cutoff) return dropped;
    const std::vector<std::int64_t> cutoffs = retention.cutoffs(now);
    for (const Window& window : all_windows(connection)) {
        if (window.week >= week_of(now) || window.end() > *cutoff) break;  // and all later ones
        if (must_stay(connection, window, cutoffs) || !drop(connection, window)) {
            dropped.past_below = JobId{window.end_id()};
            continue;
        }
        dropped.dates.push_back(to_rfc3339(window.start()).substr(0, 10));
    }
    return dropped;
}

}  // namespace sluice::postgres
