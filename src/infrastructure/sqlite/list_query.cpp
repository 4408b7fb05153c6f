#include "infrastructure/sqlite/list_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "infrastructure/sqlite/queries.hpp"

// What a list is driven by decides how much it reads. Running jobs are found in `lease`, ended ones
// in `done`, those that went wrong in its index; all else walks down `job`, or one of its partial
// indexes. The jobs of one entity, one correlation or one replayed job are few, whatever their
// states, and those of one project are fewer than all.
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
    if (!filter.project.empty()) return Driver::jobs;
    if (all_are(is_final)) return Driver::done;
    return Driver::jobs;
}

bool wants_only_unfinished(const JobFilter& filter) {
    return !filter.states.empty() &&
           std::none_of(filter.states.begin(), filter.states.end(), is_final);
}

bool wants_few(const JobFilter& filter) {
    return !filter.entity_id.empty() || !filter.site_id.empty() || !filter.correlation_id.empty() ||
           filter.replay_of;
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

const char* sql_of(const TextCondition& condition, const JobFilter& filter) {
    const bool has_better_index = condition.field == &JobFilter::project && wants_few(filter);
    return has_better_index ? sql::is_also_project : condition.sql;
}

const char* driving_sql(Driver driver) {
    switch (driver) {
        case Driver::jobs: return sql::list_from_jobs;
        case Driver::leases: return sql::list_from_leases;
        case Driver::done: return sql::list_from_done;
        case Driver::unsuccessful: return sql::list_from_unsuccessful;
    }
    return nullptr;
}

const char* order_sql(Driver driver) {
    switch (driver) {
        case Driver::jobs: return sql::newest_jobs_first;
        case Driver::leases: return sql::newest_leases_first;
        case Driver::done:
        case Driver::unsuccessful: return sql::newest_done_first;
    }
    return nullptr;
}

// Candidates below an id.
std::string candidates_sql(const JobFilter& filter, Driver driver) {
    std::string sql = driving_sql(driver);
    if (driver == Driver::jobs && wants_only_unfinished(filter)) sql += sql::is_unfinished;
    if (!filter.tenant.empty()) {
        const bool has_index = filter.tenant != "default" && filter.project.empty();
        sql += has_index ? sql::is_other_tenant : sql::is_default_tenant;
    }
    for (const TextCondition& condition : text_conditions) {
        if (!(filter.*condition.field).empty()) sql += sql_of(condition, filter);
    }
    if (!filter.label.empty()) sql += sql::may_have_label;
    if (filter.replay_of) sql += sql::is_replay_of;
    if (filter.from > JobId{}) sql += sql::is_from_id;
    if (filter.created_from) sql += sql::is_created_from;
    if (filter.created_before) sql += sql::is_created_before;
    return sql;
}

// The same, and only those of the wanted states and worker.
std::string exact_sql(const JobFilter& filter, Driver driver) {
    std::string sql = candidates_sql(filter, driver);
    if (!filter.worker_id.empty()) sql += sql::is_worker;
    if (filter.states.empty()) return sql;
    sql += sql::is_in_states;
    for (std::size_t i = 0; i < filter.states.size(); ++i) sql += i == 0 ? "?" : ",?";
    return sql + ")";
}

// Binds values one after the other.
class Binder {
  public:
    explicit Binder(Statement& statement) : statement_(statement) { statement.rewind(); }

    template <class Value>
    void add(const Value& value) {
        statement_.bind_from(place_++, value);
    }

    // `label` is the filter's as it is stored, and must live until the statement has run.
    void add_candidates(const JobFilter& filter, JobId before, const std::string& label) {
        add(before);
        if (!filter.tenant.empty()) add(filter.tenant);
        for (const TextCondition& condition : text_conditions) {
            if (!(filter.*condition.field).empty()) add(filter.*condition.field);
        }
        if (!filter.label.empty()) add(label);
        if (filter.replay_of) add(*filter.replay_of);
        if (filter.from > JobId{}) add(filter.from);
        if (filter.created_from) add(*filter.created_from);
        if (filter.created_before) add(*filter.created_before);
    }

    void add_exact(const JobFilter& filter) {
        add_candidates(filter, newest, {});
        if (!filter.worker_id.empty()) add(filter.worker_id);
        for (const JobState state : filter.states) add(state);
    }

  private:
    Statement& statement_;
    int place_ = 0;
};

std::vector<JobId> ids_of(Statement& statement) {
    std::vector<JobId> ids;
    while (statement.next_row()) ids.push_back(JobId{statement.integer(0)});
    return ids;
}

}  // namespace

std::string list_sql(const JobFilter& filter) {
    const Driver driver = driver_of(filter);
    return candidates_sql(filter, driver) + order_sql(driver);
}

std::string page_sql(const JobFilter& filter) {
    const Driver driver = driver_of(filter);
    return exact_sql(filter, driver) + order_sql(driver) + sql::without_the_first;
}

std::string count_sql(const JobFilter& filter) {
    return sql::begin_count + exact_sql(filter, driver_of(filter)) + sql::end_count;
}

ListQuery::ListQuery(sqlite3* connection, const JobFilter& filter)
    : filter_(filter), statement_(connection, list_sql(filter)) {}

std::vector<JobId> ListQuery::next(JobId before, int count) {
    // Part of another label could look the same; the caller looks at the job itself.
    const std::string label = fmt::format("{}:{}", filter_.label.size(), filter_.label);
    Binder binder(statement_);
    binder.add_candidates(filter_, before, label);
    binder.add(count);
    return ids_of(statement_);
}

bool is_exact_in_sql(const JobFilter& filter) {
    return filter.label.empty();
}

std::vector<JobId> page_ids(sqlite3* connection, const JobFilter& filter, std::int64_t offset,
                            int limit) {
    Statement statement(connection, page_sql(filter));
    Binder binder(statement);
    binder.add_exact(filter);
    binder.add(std::max(limit, 0));
    binder.add(std::max<std::int64_t>(offset, 0));
    return ids_of(statement);
}

std::int64_t count_jobs(sqlite3* connection, const JobFilter& filter) {
    Statement statement(connection, count_sql(filter));
    Binder(statement).add_exact(filter);
    statement.next_row();
    return statement.integer(0);
}

}  // namespace sluice::sqlite
