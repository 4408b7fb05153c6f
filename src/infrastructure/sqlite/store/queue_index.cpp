#include "infrastructure/sqlite/store/queue_index.hpp"

#include <algorithm>
#include <map>

#include "infrastructure/sql/job_rows.hpp"
#include "infrastructure/sqlite/database/queries.hpp"
#include "infrastructure/sqlite/reading/limit_queries.hpp"

namespace sluice::sqlite {
namespace {

// Each lane once, in order.
void merge(std::vector<Readied>& list, std::vector<Readied> more) {
    if (more.empty()) return;
    if (list.empty()) {
        list = std::move(more);
        return;
    }
    std::map<Lane, int> counts;
    for (Readied& readied : list) counts[std::move(readied.lane)] += readied.count;
    for (Readied& readied : more) counts[std::move(readied.lane)] += readied.count;
    list.clear();
    for (const auto& [lane, count] : counts) list.push_back({lane, count});
}

}  // namespace

void QueueIndex::load(sqlite3* connection, JobId low_water, std::shared_ptr<const LimitRules> rules,
                      Timestamp now) {
    ready_.clear();
    leases_.clear();
    live_.clear();
    stale_ = true;  // until all of it is read

    seen_ = session_seen_ = std::max(seen_, now);
    ready_.newly_ready(seen_);  // tells it the time
    ready_.set_rules(std::move(rules), seen_);
    for (const StoredMeter& meter : stored_meters(connection)) {
        ready_.permits().restore({meter.id, meter.rule, meter.name, meter.state});
    }
    load_leases(connection);
    load_queue(connection, low_water);
    ready_.newly_ready(seen_);  // these were ready before; no claim waits for them
    ready_.permits().keep_changes();
    ready_.look_again();  // but claims may wait for those of closed lanes
    stale_ = false;
}

// The columns after those of the spec are in the order of sql::list_leases.
void QueueIndex::load_leases(sqlite3* connection) {
    Statement query(connection, sql::list_leases);
    JobSpec spec;
    tables::DependencyCount dependencies;
    while (query.next_row()) {
        Row row(query);
        rows::read_row(row, tables::queue_table, std::tie(spec, dependencies));
        const Duration timeout = row.duration();
        const Timestamp since = row.time();
        const Timestamp until = row.time();
        const bool stop_requested = row.flag();
        const bool has_ended = row.flag();
        const bool has_deadline = timeout != Duration{0} && !stop_requested && !has_ended;
        leases_.set(spec.id, until, has_deadline ? since + timeout : never);
        ready_.hold(spec);
    }
}

void QueueIndex::load_queue(sqlite3* connection, JobId low_water) {
    Statement query(connection, sql::list_unfinished);
    Statement list_dependencies(connection, sql::list_dependencies);
    Statement has_open_dependency(connection, sql::has_open_dependency);
    JobSpec spec;
    tables::DependencyCount dependencies;
    query.with(low_water);
    while (query.next_row()) {
        Row row(query);
        rows::read_row(row, tables::queue_table, std::tie(spec, dependencies));
        if (leases_.contains(spec.id)) continue;
        const bool was_requeued = !row.next_is_null();
        row.skip(1);
        const std::optional<Timestamp> moved = was_requeued ? row.maybe_time() : std::nullopt;
        bool blocked = false;
        if (dependencies.value > 0) {
            blocked = has_open_dependency.with(spec.id).next_row();
            spec.depends_on.clear();
            list_dependencies.with(spec.id);
            while (list_dependencies.next_row())
                spec.depends_on.push_back(JobId{list_dependencies.integer(0)});
        }
        ready_.add(spec, moved.value_or(spec.run_after), blocked);
    }
}

std::vector<Readied> QueueIndex::newly_ready(Timestamp now) {
    std::vector<Readied> news = unreported_;
    merge(reported_, std::move(unreported_));
    unreported_.clear();
    session_seen_ = std::max(session_seen_, now);
    merge(news, ready_.newly_ready(now));
    return news;
}

void QueueIndex::committed() {
    reported_.clear();
    seen_ = session_seen_;
    merge(unreported_, ready_.newly_ready(Timestamp::min()));
}

void QueueIndex::rolled_back() {
    merge(unreported_, std::move(reported_));
    reported_.clear();
    session_seen_ = seen_;
    stale_ = true;
}

}  // namespace sluice::sqlite
