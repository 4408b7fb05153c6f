#include "infrastructure/postgres/watch/housekeeper.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "infrastructure/postgres/schema/table_rows.hpp"
#include "infrastructure/postgres/schema/windows.hpp"
#include "infrastructure/postgres/schema/write_queries.hpp"
#include "infrastructure/system/boot_clock.hpp"
#include "infrastructure/system/log.hpp"

namespace sluice::postgres {
namespace {

using namespace std::chrono_literals;

constexpr Duration retry_after_failure = 1min;
constexpr Millis upkeep_patience = 90s;

// The server's own vacuum comes once a minute. Until then claims step over deleted rows, and their
// rate falls to a third.
constexpr Query find_littered{"find_littered", R"sql(
SELECT relname::text FROM pg_stat_user_tables
WHERE schemaname = current_schema() AND n_dead_tup > 20000
    AND relname IN ('ready', 'lease', 'requeued', 'timed', 'held', 'parked', 'seat', 'meter',
                    'permit_return'))sql"};

// As long as the server knows nothing of the entities, it looks for one among all of its kind: any
// of their indexes is as good to it as the one of their keys.
constexpr Query find_unknown{"find_unknown", R"sql(
SELECT relname::text FROM pg_stat_user_tables
WHERE schemaname = current_schema() AND relname = 'entity' AND n_live_tup > 100
    AND last_analyze IS NULL AND last_autoanalyze IS NULL)sql"};

// Nodes of an older version do not write the project and the type of a job that they end, nor the
// entity of its success, so that lists by type and state, and gates, leave it out. They are gone
// soon after the first newer node has started.
constexpr const char* name_projects = R"sql(
UPDATE done d SET project = j.project, type = j.type FROM job j
WHERE j.project IS NOT NULL AND d.id = j.id AND d.project IS NULL
    AND (SELECT applied_at > (extract(epoch FROM now()) - 7 * 86400) * 1000000
         FROM migration WHERE number = 4))sql";
constexpr const char* name_entities = R"sql(
UPDATE done d SET type = j.type, success_for = octet_length(j.tenant) || ':' || j.tenant
    || coalesce(octet_length(j.entity_type) || ':' || j.entity_type, '0:')
    || octet_length(j.entity_id) || ':' || j.entity_id
FROM job j
WHERE j.entity_id IS NOT NULL AND d.id = j.id AND d.state = 2 AND d.success_for IS NULL
    AND (SELECT applied_at > (extract(epoch FROM now()) - 7 * 86400) * 1000000
         FROM migration WHERE number = 11))sql";

// Keys that no job holds and at which jobs are parked. Each free key has one of these jobs in
// ready, except when a session that had passed over a job's row, and the session that had locked
// it, both ended without seeing the changes of the other, as when a node dies at that moment.
constexpr Query find_free_keys{"find_free_keys", R"sql(
WITH RECURSIVE at (tenant, key) AS (
    (SELECT tenant, key FROM parked ORDER BY tenant, key LIMIT 1)
    UNION ALL
    SELECT n.tenant, n.key FROM at CROSS JOIN LATERAL (
        SELECT p.tenant, p.key FROM parked p WHERE (p.tenant, p.key) > (at.tenant, at.key)
        ORDER BY p.tenant, p.key LIMIT 1) n)
SELECT tenant, key FROM at
WHERE NOT EXISTS (SELECT FROM held h WHERE h.tenant = at.tenant AND h.key = at.key)
LIMIT 200)sql"};

}  // namespace

Housekeeper::Housekeeper(Options options, Cluster& cluster)
    : options_(std::move(options)),
      cluster_(cluster),
      time_(cluster.time),
      thread_([this] { run(); }) {}

Housekeeper::~Housekeeper() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
        // Whatever the thread waits for, it now finds the connection closed.
        if (socket_ >= 0) shutdown(socket_, SHUT_RDWR);
    }
    asked_.notify_one();
    thread_.join();
}

void Housekeeper::run_due(bool is_busy) {
    {
        const std::lock_guard lock(mutex_);
        is_asked_ = true;
        is_busy_ = is_busy_ || is_busy;
    }
    asked_.notify_one();
}

void Housekeeper::run() {
    for (std::unique_lock lock(mutex_);;) {
        asked_.wait(lock, [this] { return stop_ || is_asked_; });
        if (stop_) return;
        is_asked_ = false;
        const bool is_busy = std::exchange(is_busy_, false);
        lock.unlock();
        try {
            work(is_busy);
        } catch (const std::runtime_error& failure) {
            disconnect();
            log_failure(failure.what());
        }
        lock.lock();
    }
}

// One row of the table.
struct Housekeeper::Duty {
    DutyName name;
    enum { always, with_retention, when_busy } when;
    Duration period;  // until the next run
    int (Housekeeper::*run)();
};

std::span<const Housekeeper::Duty> Housekeeper::table() {
    static constexpr Duty rows[] = {
        {duty::windows, Duty::always, 1h, &Housekeeper::add_windows},
        {duty::older_nodes, Duty::always, 1h, &Housekeeper::fill_in},
        {duty::old_windows, Duty::with_retention, 10min, &Housekeeper::drop_windows},
        {duty::left_behind, Duty::always, 10s, &Housekeeper::promote_left_behind},
        {duty::limits, Duty::always, 10min, &Housekeeper::look_after_limits},
        {duty::vacuum, Duty::when_busy, 5s, &Housekeeper::vacuum},
    };
    static_assert(std::size(rows) == duties_count);
    return rows;
}

// A duty that keeps failing must not keep the others from their turn, so its next time is set
// before it runs. A duty that takes long, as a vacuum that an old transaction keeps from cleaning
// up, would otherwise run all the time.
void Housekeeper::work(bool is_busy) {
    for (std::size_t i = 0; i < due_.size(); ++i) {
        const Duty& duty = table()[i];
        const Duration start = since_boot();
        const bool is_wanted =
            (duty.when != Duty::with_retention || options_.retention != Retention{}) &&
            (duty.when != Duty::when_busy || is_busy);
        if (!is_wanted || start < due_[i]) continue;
        due_[i] = start + retry_after_failure;
        run_duty(duty);
        due_[i] = since_boot() + std::max(duty.period, 10 * (since_boot() - start));
    }
    last_failure_.clear();
}

void Housekeeper::run_duty(const Duty& duty) {
    DutyRun run{.duty = duty.name.name, .at = time_.now(), .failed = true};
    const auto tell = [&] {
        if (options_.on_duty) options_.on_duty(run);
    };
    try {
        run.items = (this->*duty.run)();
    } catch (const std::runtime_error&) {
        tell();
        throw;
    }
    run.failed = false;
    tell();
}

Connection& Housekeeper::connection() {
    if (!connection_) {
        connection_ = connect_directly(options_.urls, "sluice housekeeper", upkeep_patience);
        if (!connection_->is_pooled()) connection_->execute("SET statement_timeout = '60s'");
        const std::lock_guard lock(mutex_);
        if (stop_) throw ConnectionLost("stopped while it connected");
        socket_ = connection_->socket();
    }
    return *connection_;
}

void Housekeeper::disconnect() {
    {
        const std::lock_guard lock(mutex_);
        socket_ = -1;
    }
    connection_.reset();
}

int Housekeeper::add_windows() {
    ensure_windows(connection(), time_.now());
    return 0;
}

int Housekeeper::fill_in() {
    connection().execute(name_projects);
    connection().execute(name_entities);
    return 0;
}

// After it has dropped whole windows, the engine removes the other old jobs one by one.
int Housekeeper::drop_windows() {
    const DroppedWindows dropped =
        drop_ended_windows(connection(), time_.now(), options_.retention);
    for (const std::string& date : dropped.dates) {
        log::info("dropped the jobs of a week, all ended before the retention",
                  R"("date":")" + date + '"');
    }
    cluster_.thinned_below = dropped.past_below;
    return static_cast<int>(dropped.dates.size());
}

// Claims find the jobs that became ready with their node's next tick.
int Housekeeper::promote_left_behind() {
    const Connection::Ticket asked = connection().post(find_free_keys);
    connection().sync();
    const Result found = connection().take(asked);
    TableKeys<tables::held_table> keys;
    for (int i = 0; i < found.rows(); ++i) {
        Row row(found, i);
        const std::string tenant = row.text();
        const std::string key = row.text();
        keys.add(tables::HeldKey{tenant, key});
    }
    if (keys.empty()) return 0;
    const Connection::Ticket promoting = connection().post(sql::promote_parked, Params(keys));
    connection().sync();
    const Result promoted = connection().take(promoting);
    int jobs = 0;
    for (int i = 0; i < promoted.rows(); ++i) {
        Row row(promoted, i);
        row.skip(1);
        jobs += row.small();
    }
    return jobs;
}

int Housekeeper::look_after_limits() {
    return limits_.run(connection(), time_.now());
}

// Each table by itself, since VACUUM is no part of a transaction.
int Housekeeper::for_each_table(const Query& found_by, const std::string& command) {
    const Connection::Ticket ticket = connection().post(found_by);
    connection().sync();
    const Result tables = connection().take(ticket);
    for (int i = 0; i < tables.rows(); ++i) {
        connection().execute_alone(command + " " + connection().schema().quoted() + "." +
                                   Row(tables, i).text());
    }
    return tables.rows();
}

// A table is not truncated: that would lock out all sessions, for space that is used again at once.
int Housekeeper::vacuum() {
    return for_each_table(find_unknown, "ANALYZE (SKIP_LOCKED)") +
           for_each_table(find_littered,
                          "VACUUM (SKIP_LOCKED, INDEX_CLEANUP ON, TRUNCATE OFF, PARALLEL 0)");
}

void Housekeeper::log_failure(const std::string& failure) {
    {
        const std::lock_guard lock(mutex_);
        if (stop_) return;
    }
    if (std::exchange(last_failure_, failure) == failure) return;
    log::warn("the tables could not be looked after; it is tried again",
              log::field("error", failure));
}

}  // namespace sluice::postgres
