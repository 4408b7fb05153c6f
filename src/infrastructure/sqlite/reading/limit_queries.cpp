#include "infrastructure/sqlite/reading/limit_queries.hpp"

#include "application/limits/stored_rules.hpp"
#include "infrastructure/sqlite/database/queries.hpp"

namespace sluice::sqlite {

std::map<Lane, std::int64_t> leases_by_lane(sqlite3* connection) {
    Statement query(connection, sql::list_leased_lanes);
    std::map<Lane, std::int64_t> count;
    JobSpec spec;
    tables::DependencyCount dependencies;
    while (query.next_row()) {
        Row row(query);
        rows::read_row(row, tables::queue_table, std::tie(spec, dependencies));
        ++count[lane_of(spec)];
    }
    return count;
}

std::vector<StoredMeter> stored_meters(sqlite3* connection) {
    Statement query(connection, sql::list_meters);
    std::vector<StoredMeter> meters;
    while (query.next_row()) {
        Row row(query);
        rows::read_row(row, tables::meter_table, std::tie(meters.emplace_back()));
    }
    return meters;
}

std::shared_ptr<const LimitRules> LimitQueries::limit_rules() {
    return known_ = load_rules(entities_, known_);
}

std::vector<MeterState> LimitQueries::meters(std::span<const MeterId> ids) {
    const std::shared_ptr<const LimitRules> rules = limit_rules();
    const Moment moment(connection_, moments_);
    std::map<MeterId, std::int64_t> active;
    for (const auto& [lane, count] : leases_by_lane(connection_)) {
        for (const Permit& permit : rules->permits_of(lane)) {
            if (permit.rule->max_active) active[permit.meter] += count;
        }
    }
    Statement find(connection_, sql::find_meter);
    std::vector<MeterState> states;
    states.reserve(ids.size());
    for (const MeterId id : ids) {
        StoredMeter stored;
        if (find.with(id).next_row()) {
            Row row(find);
            rows::read_row(row, tables::meter_table, std::tie(stored));
        }
        stored.state.active = active[id];
        states.push_back(std::move(stored.state));
    }
    return states;
}

}  // namespace sluice::sqlite
