#include "infrastructure/sqlite/list_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "infrastructure/sqlite/queries.hpp"

// What a list is driven by decides how much it reads. Running jobs are found in `lease`, ended ones
// in `done`, those that went wrong in its index; all else walks down `job`, or one of its partial
// indexes. The jobs of one entity, one correlation or one replayed job are few, whatever their
// states.
namespace sluice::sqlite {
namespace {

enum class Driver { jobs, leases, done, unsuccessful };

Driver driver_of(const JobFilter& filter) {
    const auto all_are = [&](auto&& property) {
        return !filter.states.empty() &&
               std::all_of(filter.states.begin(), filter.states.end(), property);
    };
    const auto running = [](JobState state) { return state == JobState::running; };
    const auto bad = [](JobState s) { return is_final(s) && s != JobState::succeeded; };
    if (!filter.entity_id.empty() || !filter.correlation_id.empty() || filter.replay_of) {
        return Driver::jobs;
    }
    if (!filter.worker_id.empty() || all_are(running)) return Driver::leases;
    if (all_are(bad)) return Driver::unsuccessful;
    if (all_are(is_final)) return Driver::done;
    return Driver::jobs;
}

bool wants_only_unfinished(const JobFilter& filter) {
    return !filter.states.empty() &&
           std::none_of(filter.states.begin(), filter.states.end(), is_final);
}

struct TextCondition {
    const char* sql;
    const std::string JobFilter::*field;
};

constexpr auto text_conditions = std::to_array<TextCondition>({
    {sql::is_type, &JobFilter::type},
    {sql::is_queue, &JobFilter::queue},
    {sql::is_project, &JobFilter::project},
    {sql::is_entity_type, &JobFilter::entity_type},
    {sql::is_entity_id, &JobFilter::entity_id},
    {sql::is_site_id, &JobFilter::site_id},
    {sql::is_node_id, &JobFilter::node_id},
    {sql::is_correlation_id, &JobFilter::correlation_id},
});

}  // namespace

std::string list_sql(const JobFilter& filter) {
    const Driver driver = driver_of(filter);
    std::string sql;
    switch (driver) {
        case Driver::jobs: sql = sql::list_from_jobs; break;
        case Driver::leases: sql = sql::list_from_leases; break;
        case Driver::done: sql = sql::list_from_done; break;
        case Driver::unsuccessful: sql = sql::list_from_unsuccessful; break;
    }
    if (driver == Driver::jobs && wants_only_unfinished(filter)) sql += sql::is_unfinished;
    if (!filter.tenant.empty()) {
        sql += filter.tenant == "default" ? sql::is_default_tenant : sql::is_other_tenant;
    }
    for (const TextCondition& condition : text_conditions) {
        if (!(filter.*condition.field).empty()) sql += condition.sql;
    }
    if (!filter.label.empty()) sql += sql::may_have_label;
    if (filter.replay_of) sql += sql::is_replay_of;
    if (filter.from > JobId{}) sql += sql::is_from_id;
    if (filter.created_from) sql += sql::is_created_from;
    if (filter.created_before) sql += sql::is_created_before;
    switch (driver) {
        case Driver::jobs: sql += sql::newest_jobs_first; break;
        case Driver::leases: sql += sql::newest_leases_first; break;
        case Driver::done:
        case Driver::unsuccessful: sql += sql::newest_done_first; break;
    }
    return sql;
}

ListQuery::ListQuery(sqlite3* connection, const JobFilter& filter)
    : filter_(filter), statement_(connection, list_sql(filter)) {}

std::vector<JobId> ListQuery::next(JobId before, int count) {
    statement_.rewind();
    int place = 0;
    const auto bind = [&](const auto& value) { statement_.bind_from(place++, value); };
    bind(before);
    if (!filter_.tenant.empty()) bind(filter_.tenant);
    for (const TextCondition& condition : text_conditions) {
        if (!(filter_.*condition.field).empty()) bind(filter_.*condition.field);
    }
    // Part of another label could look the same; the caller looks at the job itself.
    const std::string label = fmt::format("{}:{}", filter_.label.size(), filter_.label);
    if (!filter_.label.empty()) bind(label);
    if (filter_.replay_of) bind(*filter_.replay_of);
    if (filter_.from > JobId{}) bind(filter_.from);
    if (filter_.created_from) bind(*filter_.created_from);
    if (filter_.created_before) bind(*filter_.created_before);
    bind(count);

    std::vector<JobId> ids;
    while (statement_.next_row()) ids.push_back(JobId{statement_.integer(0)});
    return ids;
}

}  // namespace sluice::sqlite
