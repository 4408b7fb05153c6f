// The steps: migrate the target and make its windows, which may stay when a later step fails; then,
// in one transaction, shut engines out, check that the target is empty, copy, compare, commit.
#include "infrastructure/postgres/maintenance/import.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <thread>

#include "application/limits/stored_rules.hpp"
#include "infrastructure/postgres/cluster/clock_row.hpp"
#include "infrastructure/postgres/connection/settings.hpp"
#include "infrastructure/postgres/permits/meter_counts.hpp"
#include "infrastructure/postgres/schema/former_schema.hpp"
#include "infrastructure/postgres/schema/limit_queries.hpp"
#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/postgres/schema/write_queries.hpp"
#include "infrastructure/postgres/statements/transaction_reader.hpp"
#include "infrastructure/postgres/store/work.hpp"
#include "infrastructure/sql/job_rows.hpp"
#include "json/json_values.hpp"

namespace sluice::postgres {
namespace {

constexpr int copied_page = 500;
constexpr std::size_t rows_at_once = 5000;
constexpr std::size_t bytes_at_once = 4u << 20;
constexpr Millis patience = std::chrono::minutes(30);  // for one statement
constexpr Duration numbers_ahead_max = std::chrono::seconds(5);
constexpr Millis clock_pause{100};

constexpr Query be_patient{"", R"sql(
SELECT set_config('lock_timeout', '2s', true), set_config('statement_timeout', '0', true),
    set_config('idle_in_transaction_session_timeout', '0', true))sql"};
// Meanwhile no engine can take a seat or sign a commit, and no other copy can begin.
constexpr Query shut_out{"", "LOCK TABLE seat IN SHARE ROW EXCLUSIVE MODE"};
constexpr Query find_obstacles{"", R"sql(
SELECT EXISTS (SELECT FROM job) OR EXISTS (SELECT FROM idempotency)
        OR EXISTS (SELECT FROM entity),
    (SELECT min(node) FROM seat WHERE until > 'epoch'::timestamptz
        + $1::int8 * interval '1 microsecond' + interval '105 seconds'))sql"};
// Workers could not renew their leases for as long as the copy took.
constexpr Query renew_leases{"", R"sql(
UPDATE lease SET until = $1::int8 + term)sql"};
constexpr Query wait_for_all{"", "SELECT 1"};

// Whether every number that an engine gives at this moment is larger than this one.
bool is_before(std::int64_t number, Timestamp now) {
    return number < IdSource(0).next(now);
}

// The numbers of jobs, leases and entities that engines give from now on must be larger than those
// that are copied. After a crash the source has reserved numbers up to a second ahead of its clock.
void await_later_numbers(const ClusterTime& time, std::int64_t last_id) {
    if (!is_before(last_id, time.now() + numbers_ahead_max)) {
        throw std::runtime_error(
            "the source has given ids that are ahead of the database's clock: set the clock right, "
            "or wait until it has caught up");
    }
    while (!is_before(last_id, time.now())) std::this_thread::sleep_for(clock_pause);
}

// To migrate such a target would rename a store that is no part of the copy.
void refuse_former_store(const ConnectOptions& options) {
    Connection connection(options);
    if (!is_in_former_schema(connection)) return;
    throw std::runtime_error(fmt::format(
        "the target has the store of an earlier version in its schema \"sluice\", which the first "
        "migration of \"{0}\" would rename: bring that one up to date first (sluice migrate up, "
        "with the store_schema that it is to have), or copy to another database",
        connection.schema().text()));
}

void make_windows(JobReader& source, Connection& connection, KnownWindows& windows) {
    windows.load(connection);
    connection.sync();
    for (JobId last{};;) {
        const std::vector<JobId> ids = source.ids_after(last, copied_page);
        if (ids.empty()) return;
        for (const JobId id : ids) {
            if (!windows.has(id)) windows.add_missing(connection);
        }
        last = ids.back();
    }
}

void begin_alone(Connection& connection, Timestamp now) {
    connection.begin();
    connection.send(be_patient);
    connection.send(shut_out);
    Result found;
    try {
        found = connection.ask(find_obstacles, Params(now));
    } catch (const ConnectionLost&) {
        throw;
    } catch (const StoreConflict&) {
        throw std::runtime_error(
            "an engine, a migration or another copy has locked the target: stop it, and copy "
            "again");
    }
    Row row(found, 0);
    if (row.flag()) {
        throw std::runtime_error(
            "the target has jobs, idempotency keys or entities: copy to a database that "
            "has none");
    }
    if (!row.next_is_null()) {
        throw std::runtime_error(
            fmt::format("the engine {} runs on the target: stop it first", row.text()));
    }
}

class Import {
  public:
    Import(WholeStore& source, Connection& connection, Cluster& cluster, Timestamp now,
           const OnImport& on_import)
        : source_(source),
          connection_(connection),
          on_import_(on_import),
          newest_lease_{source.last_id()},
          work_(connection, cluster, 0, {}, now) {}

    void copy_jobs() {
        for (JobId last{};;) {
            const std::vector<JobId> ids = source_.jobs().ids_after(last, copied_page);
            if (ids.empty()) return;
            for (std::optional<Job>& job : source_.jobs().find(ids)) {
                add(*std::move(job));
            }
            flush();
            on_import_(ImportStage::copying, imported_);
            last = ids.back();
        }
    }

    void copy_requests() {
        for (IdempotencyKey last;;) {
            const std::vector<IdempotentRequest> requests =
                source_.requests_after(last, copied_page);
            if (requests.empty()) return;
            for (const IdempotentRequest& request : requests) {
                work_.writes.insert_request(request);
            }
            imported_.requests += static_cast<std::int64_t>(requests.size());
            flush();
            last = {requests.back().tenant, requests.back().key};
        }
    }

    void copy_entities() {
        for (std::int64_t before = newest_entity;;) {
            const std::vector<Entity> entities =
                source_.jobs().entities().list({.tenant = ""}, before, 0, copied_page);
            if (entities.empty()) return;
            for (const Entity& entity : entities) {
                work_.writes.insert_entity(entity);
                note(to_json(entity.attributes).size());
                copy_entity_events(entity.key);
            }
            imported_.entities += static_cast<std::int64_t>(entities.size());
            flush();
            before = entities.back().number;
        }
    }

    // Rules are entities, and are there by now.
    void copy_limits() {
        TransactionReader reader(connection_);
        const auto rules = load_rules(reader.entities());
        auto leased = count_meters(*rules, leased_lanes(connection_), counting_rules(*rules));
        TableRows<tables::meter_table> meters;
        for (StoredMeter& meter : source_.meters()) {
            const auto found = leased.find(meter.id);
            meters.add(meter,
                       tables::Taken{found == leased.end() ? 0 : found->second.state.active});
            if (found != leased.end()) leased.erase(found);
        }
        for (const auto& [id, meter] : leased) {
            meters.add(meter, tables::Taken{meter.state.active});
        }
        if (!meters.empty()) connection_.send(sql::add_meters, Params(meters));
        connection_.send(sql::set_rules, Params(rules->version()));
        copy_sources();
        connection_.ask(wait_for_all);
    }

    const Imported& imported() const { return imported_; }

  private:
    void copy_sources() {
        TableRows<tables::source_table> sources;
        for (const StoredSource& source : source_.sources()) {
            sources.add(source, tables::WrittenBy{});
        }
        if (!sources.empty()) connection_.send(sql::put_sources, Params(sources));
        TableRows<tables::source_hour_table> hours;
        for (const StoredSourceHour& hour : source_.source_hours()) {
            hours.add(hour, tables::WrittenBy{});
        }
        if (!hours.empty()) connection_.send(sql::add_to_source_hours, Params(hours));
    }

    // The row in job has the hash of the first event.
    void add(Job job) {
        const ChainHead head = job.now.head;
        job.now.head = {1, copy_events(job.spec->id)};
        work_.writes.insert_job(job);
        job.now.head = head;
        note(job.spec->payload.size() + job.now.result.size());
        copy_lines(job.spec->id);
        if (is_final(job.now.state)) work_.writes.insert_done(job);
        if (job.lease) add_lease(job);
        if (job.now.state == JobState::queued) enqueue(job);
        ++imported_.jobs;
    }

    void add_lease(const Job& job) {
        work_.writes.insert_lease(job, work_.lane_of_job(job.spec));
        for (const std::string& key : held_keys(job.spec)) {
            held_.add(tables::HeldKey{job.spec->tenant, key, job.spec->id});
        }
    }

    void enqueue(const Job& job) {
        if (may_be_requeued(job, 1)) work_.writes.insert_requeued(job, newest_lease_);
        if (is_blocked(job.spec)) {
            work_.writes.insert_blockers(work_.lane_of_job(job.spec), job.spec);
        } else {
            work_.enqueue(job);
        }
    }

    bool is_blocked(const JobSpec& spec) {
        if (spec.depends_on.empty()) return false;
        for (const std::optional<Job>& job : source_.jobs().find(spec.depends_on)) {
            if (!job || !is_final(job->now.state)) return true;
        }
        return false;
    }

    Digest copy_events(JobId job) {
        std::optional<Digest> first;
        for (std::int64_t last = 0;;) {
            const std::vector<Event> events = source_.jobs().events(job, last, copied_page);
            if (events.empty()) break;
            for (const Event& event : events) {
                if (!first) first = event.hash;
                work_.writes.insert_event(event);
                note(event.detail.size());
            }
            imported_.events += static_cast<std::int64_t>(events.size());
            last = events.back().seq;
        }
        if (first) return *first;
        throw std::runtime_error(fmt::format(
            "job {} has no history in the source; sluice audit verify looks closer", to_text(job)));
    }

    void copy_lines(JobId job) {
        for (std::int64_t last = 0;;) {
            const std::vector<LogLine> lines = source_.jobs().logs(job, last, copied_page);
            if (lines.empty()) return;
            for (const LogLine& line : lines) {
                work_.writes.insert_line(line);
                note(line.message.size() + line.data.size());
            }
            imported_.lines += static_cast<std::int64_t>(lines.size());
            last = lines.back().seq;
        }
    }

    void copy_entity_events(const EntityKey& key) {
        for (std::int64_t last = 0;;) {
            const std::vector<EntityEvent> events =
                source_.jobs().entities().events(key, last, copied_page);
            if (events.empty()) return;
            for (const EntityEvent& event : events) {
                work_.writes.insert_entity_event(event);
                note(event.detail.size());
            }
            imported_.entity_events += static_cast<std::int64_t>(events.size());
            last = events.back().seq;
        }
    }

    void note(std::size_t bytes) {
        bytes_ += bytes;
        if (++rows_ >= rows_at_once || bytes_ >= bytes_at_once) flush();
    }

    // Waits for the last statement, so that statements do not pile up in memory.
    void flush() {
        work_.writes.flush();
        if (!held_.empty()) connection_.send(sql::hold_keys, Params(held_));
        held_.clear();
        connection_.ask(wait_for_all);
        rows_ = bytes_ = 0;
    }

    WholeStore& source_;
    Connection& connection_;
    const OnImport& on_import_;
    // No table has the last leases of jobs that wait; none of them was larger than this.
    const LeaseToken newest_lease_;
    Work work_;
    TableRows<tables::held_table> held_;
    std::size_t rows_ = 0;
    std::size_t bytes_ = 0;
    Imported imported_;
};

void commit(Connection& connection) {
    try {
        connection.commit();
    } catch (const ConnectionLost&) {
        throw std::runtime_error(
            "the connection broke at the commit: sluice audit verify tells "
            "whether the jobs are in the target, all of them or none");
    }
}

}  // namespace

Imported import_store(WholeStore& source, const Database& target, const OnImport& on_import) {
    Cluster cluster(target, "sluice store copy");
    refuse_former_store(cluster.connect_options());
    migrate(cluster.connect_options());
    ConnectOptions options = cluster.connect_options();
    options.answer_patience = patience;
    Connection connection(options);
    check_durability(connection);
    know_time(connection, cluster.time);
    await_later_numbers(cluster.time, source.last_id());
    make_windows(source.jobs(), connection, cluster.windows);
    const Timestamp now = cluster.time.now();

    begin_alone(connection, now);
    Import import(source, connection, cluster, now, on_import);
    import.copy_jobs();
    import.copy_requests();
    import.copy_entities();
    import.copy_limits();
    check_import(source, connection, import.imported(),
                 [&](const Imported& checked) { on_import(ImportStage::checking, checked); });
    connection.send(renew_leases, Params(cluster.time.now()));
    commit(connection);
    return import.imported();
}

}  // namespace sluice::postgres
