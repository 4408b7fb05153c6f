#include "infrastructure/postgres/statements/limit_reader.hpp"

#include "application/limits/stored_rules.hpp"
#include "infrastructure/postgres/schema/limit_queries.hpp"

namespace sluice::postgres {

std::vector<MeterState> read_meters(Connection& connection, std::span<const MeterId> ids) {
    std::vector<MeterState> meters;
    if (ids.empty()) return meters;
    const std::vector<std::int64_t> wanted(ids.begin(), ids.end());
    const Result read = connection.ask(sql::read_meters, Params(wanted));
    for (int i = 0; i < read.rows(); ++i) {
        Row row(read, i);
        row.skip(1);
        const std::int64_t taken = row.integer();
        MeterState& meter = meters.emplace_back();
        meter.full_at_ns = row.integer();
        meter.owed_until_ns = row.integer();
        meter.starts = StartsOfHour::parse(row.text());
        meter.active = taken - row.integer();
    }
    return meters;
}

std::shared_ptr<const LimitRules> LimitQueries::limit_rules() {
    return load_rules(entities_);
}

std::vector<MeterState> LimitQueries::meters(std::span<const MeterId> ids) {
    return read_meters(connection_, ids);
}

std::shared_ptr<const LimitRules> PostgresLimitReader::limit_rules() {
    return cluster_ ? cluster_->limits.current(entities_, cluster_->time.now())
                    : load_rules(entities_);
}

std::vector<MeterState> PostgresLimitReader::meters(std::span<const MeterId> ids) {
    return connection_.ask([&](Connection& connection) { return read_meters(connection, ids); });
}

}  // namespace sluice::postgres
