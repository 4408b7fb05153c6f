#include "infrastructure/postgres/housekeeper.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "domain/json_text.hpp"
#include "infrastructure/boot_clock.hpp"
#include "infrastructure/log.hpp"
#include "infrastructure/postgres/windows.hpp"

namespace sluice::postgres {
namespace {

using namespace std::chrono_literals;

constexpr Duration windows_period = 1h;
constexpr Duration drop_period = 10min;
constexpr Duration vacuum_period = 5s;
constexpr Duration rest_after_failure = 10s;
constexpr Millis answer_patience = 90s;

// The server's own vacuum comes once a minute. Until then claims step over what was deleted, and
// their rate falls to a third.
constexpr Query find_littered{"find_littered", R"sql(
SELECT relname::text FROM pg_stat_user_tables
WHERE schemaname = current_schema() AND n_dead_tup > 20000
    AND relname IN ('ready', 'lease', 'requeued', 'timed', 'held', 'parked', 'seat'))sql"};

// Nodes of an older version do not say of which project and type a job was that they have ended, or
// what a success was about, so that lists by type and state, and gates, leave it out. They are gone
// soon after the first newer one has come.
constexpr const char* name_projects = R"sql(
UPDATE done d SET project = j.project, type = j.type FROM job j
WHERE j.project IS NOT NULL AND d.id = j.id AND d.project IS NULL
    AND (SELECT applied_at > (extract(epoch FROM now()) - 7 * 86400) * 1000000
         FROM migration WHERE number = 4))sql";
constexpr const char* name_entities = R"sql(
UPDATE done d SET entity_id = j.entity_id, type = j.type FROM job j
WHERE j.entity_id IS NOT NULL AND d.id = j.id AND d.state = 2 AND d.entity_id IS NULL
    AND (SELECT applied_at > (extract(epoch FROM now()) - 7 * 86400) * 1000000
         FROM migration WHERE number = 8))sql";

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
        // Whatever it waits for, it now finds the connection gone.
        if (socket_ >= 0) shutdown(socket_, SHUT_RDWR);
    }
    asked_.notify_one();
    thread_.join();
}

void Housekeeper::look_around(bool is_busy) {
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
            if (since_boot() >= rest_until_) work(is_busy);
        } catch (const std::runtime_error& failure) {
            disconnect();
            log_failure(failure.what());
            rest_until_ = since_boot() + rest_after_failure;
        }
        lock.lock();
    }
}

void Housekeeper::work(bool is_busy) {
    if (since_boot() >= windows_due_) {
        run_duty(duty::windows, [this] {
            ensure_windows(connection(), time_.now());
            return 0;
        });
        windows_due_ = since_boot() + windows_period;
        run_duty(duty::older_nodes, [this] {
            connection().execute(name_projects);
            connection().execute(name_entities);
            return 0;
        });
    }
    if (options_.retention != Retention{} && since_boot() >= drop_due_) {
        run_duty(duty::old_windows, [this] { return drop_windows(); });
        drop_due_ = since_boot() + drop_period;
    }
    if (is_busy && since_boot() >= vacuum_due_) {
        const Duration start = since_boot();
        run_duty(duty::vacuum, [this] { return vacuum(); });
        // When something old keeps it from cleaning up it would be at it all the time.
        const Duration took = since_boot() - start;
        vacuum_due_ = since_boot() + std::max(vacuum_period, 10 * took);
    }
    last_failure_.clear();
}

void Housekeeper::run_duty(DutyName name, const std::function<int()>& work) {
    DutyRun run{.duty = name.name, .at = time_.now(), .failed = true};
    const auto tell = [&] {
        if (options_.on_duty) options_.on_duty(run);
    };
    try {
        run.items = work();
    } catch (const std::runtime_error&) {
        tell();
        throw;
    }
    run.failed = false;
    tell();
}

Connection& Housekeeper::connection() {
    if (!connection_) {
        connection_ = connect_directly(options_.urls, "sluice housekeeper", answer_patience);
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

// Once it has dropped what it can, the engine removes one by one what can go of the rest.
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

// Each table by itself, since VACUUM is no part of a transaction. Its end is not cut off: that
// would take a lock against everybody, for room that is used again at once.
int Housekeeper::vacuum() {
    const Connection::Ticket ticket = connection().post(find_littered);
    connection().sync();
    const Result littered = connection().take(ticket);
    for (int i = 0; i < littered.rows(); ++i) {
        connection().execute_alone(
            "VACUUM (SKIP_LOCKED, INDEX_CLEANUP ON, TRUNCATE OFF, PARALLEL 0) " +
            connection().schema().quoted() + "." + Row(littered, i).text());
    }
    return littered.rows();
}

void Housekeeper::log_failure(const std::string& failure) {
    {
        const std::lock_guard lock(mutex_);
        if (stop_) return;
    }
    if (std::exchange(last_failure_, failure) == failure) return;
    std::string fields = R"("error":)";
    append_json_string(fields, failure);
    log::warn("the tables could not be looked after; it is tried again", fields);
}

}  // namespace sluice::postgres
