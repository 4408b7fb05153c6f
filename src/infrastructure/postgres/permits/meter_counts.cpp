#include "infrastructure/postgres/permits/meter_counts.hpp"

#include "infrastructure/postgres/schema/limit_queries.hpp"

namespace sluice::postgres {

std::vector<LaneNow> leased_lanes(Connection& connection) {
    std::vector<LaneNow> lanes;
    const Result counted = connection.ask(sql::count_leases);
    for (int i = 0; i < counted.rows(); ++i) {
        Row row(counted, i);
        LaneNow& lane = lanes.emplace_back();
        lane.lane.tenant = row.text();
        lane.lane.queue = row.text();
        lane.lane.type = row.text();
        lane.active = row.integer();
        lane.lane.source = row.text();
    }
    return lanes;
}

std::set<std::string> counting_rules(const LimitRules& rules) {
    std::set<std::string> ids;
    for (const LimitRule& rule : rules.all()) {
        if (rule.max_active) ids.insert(rule.id);
    }
    return ids;
}

std::map<MeterId, StoredMeter> count_meters(const LimitRules& rules,
                                            const std::vector<LaneNow>& leased,
                                            const std::set<std::string>& wanted) {
    std::map<MeterId, StoredMeter> meters;
    for (const LaneNow& lane : leased) {
        for (const Permit& permit : rules.permits_of(lane.lane)) {
            if (!permit.rule->max_active || !wanted.contains(permit.rule->id)) continue;
            StoredMeter& meter = meters[permit.meter];
            meter.id = permit.meter;
            meter.rule = permit.rule->id;
            meter.name = meter_name(*permit.rule, lane.lane);
            meter.state.active += lane.active;
        }
    }
    return meters;
}

}  // namespace sluice::postgres
