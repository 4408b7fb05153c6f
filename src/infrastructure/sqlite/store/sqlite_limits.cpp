#include "infrastructure/sqlite/store/sqlite_limits.hpp"

#include "application/limits/stored_rules.hpp"
#include "infrastructure/sqlite/database/bindings.hpp"
#include "infrastructure/sqlite/database/queries.hpp"
#include "infrastructure/sqlite/reading/limit_queries.hpp"

namespace sluice::sqlite {
namespace {

LimitBoard::Meters states_of(const std::vector<const LaneMeter*>& meters) {
    LimitBoard::Meters states;
    states.reserve(meters.size());
    for (const LaneMeter* meter : meters) states.emplace_back(meter->id, meter->state);
    return states;
}

}  // namespace

SqliteLimits::SqliteLimits(sqlite3* connection, EntityReader& entities, QueueIndex& index)
    : connection_(connection),
      entities_(entities),
      index_(index),
      put_meter_(connection, sql::put_meter),
      delete_meter_(connection, sql::delete_meter),
      put_source_(connection, sql::put_source),
      add_to_source_hour_(connection, sql::add_to_source_hour),
      forget_source_hours_(connection, sql::forget_source_hours),
      list_silent_sources_(connection, sql::list_silent_sources),
      forget_source_(connection, sql::forget_source),
      find_source_(connection, sql::find_source),
      count_sources_(connection, sql::count_sources),
      sum_up_sources_(connection, sql::sum_up_sources) {}

// ── rules and meters ──

std::shared_ptr<const LimitRules> SqliteLimits::stored_rules() {
    return load_rules(entities_, limit_rules());
}

void SqliteLimits::rules_written(Timestamp now) {
    index_.ready().set_rules(stored_rules(), now);
    are_rules_new_ = true;
}

std::vector<LaneNow> SqliteLimits::lanes(std::int64_t ready_max) {
    return index_.ready().lanes(ready_max);
}

// After a repair the index is loaded anew: it had lost track of leases.
std::vector<MeterDifference> SqliteLimits::check_meters(bool repair) {
    const auto differences = index_.ready().check_meters(leases_by_lane(connection_), repair);
    if (repair && !differences.empty()) index_.lost_track();
    return differences;
}

// Only starts and changed rates move a bucket; a rule without a rate has none. Meters that were
// forgotten go first, since some may have come back.
void SqliteLimits::write() {
    forgotten_ = index_.ready().permits().take_forgotten();
    for (const MeterId id : forgotten_) delete_meter_.with(id).run();
    for (const LaneMeter* meter : index_.ready().permits().changed()) {
        const bool has_moved = meter->state.full_at_ns != meter->before->full_at_ns ||
                               meter->state.owed_until_ns != meter->before->owed_until_ns ||
                               meter->state.starts != meter->before->starts;
        if (!has_moved) continue;
        put_meter(
            put_meter_,
            {.id = meter->id, .rule = meter->rule_id, .name = meter->name, .state = meter->state});
    }
}

void SqliteLimits::committed() {
    LanePermits& permits = index_.ready().permits();
    if (std::exchange(are_rules_new_, false)) {
        loaded();
    } else {
        board_->forget(forgotten_);
        board_->update(states_of(permits.changed()));
    }
    permits.keep_changes();
}

void SqliteLimits::loaded() {
    are_rules_new_ = false;
    const LanePermits& permits = index_.ready().permits();
    board_->show(permits.rules(), states_of(permits.meters()));
}

// ── sources ──

void SqliteLimits::count_sources(std::span<const SourceCount> counts, Timestamp now) {
    for (const SourceCount& count : counts) {
        put_source(put_source_, {count.tenant, count.source, count.last_job_at});
        add_to_source_hour(add_to_source_hour_, {.tenant = count.tenant,
                                                 .source = count.source,
                                                 .hour = hour_of(now),
                                                 .submitted = count.submitted,
                                                 .succeeded = count.succeeded,
                                                 .failed = count.failed});
    }
}

std::vector<SourceCount> SqliteLimits::sources(const std::string& tenant, Timestamp now) {
    std::vector<SourceCount> found;
    const Reading reading(sum_up_sources_.with(first_hour_counted(now), tenant));
    while (sum_up_sources_.next_row()) {
        Row row(sum_up_sources_);
        SourceCount& count = found.emplace_back();
        count.tenant = row.text();
        count.source = row.text();
        count.last_job_at = row.maybe_time();
        count.submitted = row.integer();
        count.succeeded = row.integer();
        count.failed = row.integer();
    }
    return found;
}

bool SqliteLimits::knows_source(const std::string& tenant, const std::string& source) {
    const Reading reading(find_source_.with(tenant, source));
    return find_source_.next_row();
}

std::int64_t SqliteLimits::count_of_sources(const std::string& tenant) {
    const Reading reading(count_sources_.with(tenant));
    return count_sources_.next_row() ? count_sources_.integer(0) : 0;
}

int SqliteLimits::forget_sources(Timestamp now, int limit) {
    const std::int64_t first_hour = first_hour_counted(now);
    forget_source_hours_.with(first_hour).run();
    const auto in_use = index_.ready().sources();
    std::vector<std::pair<std::string, std::string>> silent;
    {
        const Reading reading(list_silent_sources_.with(first_hour, first_moment_of(first_hour)));
        while (std::ssize(silent) < limit && list_silent_sources_.next_row()) {
            Row row(list_silent_sources_);
            std::string tenant(row.text());
            std::pair source(std::move(tenant), std::string(row.text()));
            if (in_use.contains(source)) continue;
            if (limit_rules()->names_source(source.first, source.second)) continue;
            silent.push_back(std::move(source));
        }
    }
    for (const auto& [tenant, source] : silent) forget_source_.with(tenant, source).run();
    return static_cast<int>(silent.size());
}

}  // namespace sluice::sqlite
