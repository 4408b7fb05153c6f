#include "infrastructure/sqlite/reading/list_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "infrastructure/sql/job_rows.hpp"
#include "infrastructure/sql/list_filter.hpp"
#include "infrastructure/sqlite/database/queries.hpp"

// The driver of a list decides how much it reads. Running jobs are found in `lease`, ended ones in
// `done`, failed ones in its index; all other lists walk down `job`, or one of its partial indexes.
// The jobs of one entity, one correlation or one replayed job are few, whatever their states, and
// those of one project are fewer than all. Those of one type in a project are found by their state,
// in an index, and so are an entity's successes of one type, and its jobs of one type.
namespace sluice::sqlite {
namespace {

enum class Driver {
    jobs,
    leases,
    done,
    unsuccessful,
    ended_of_type,
    unfinished_of_type,
    successes,
    jobs_of_entity,
};

// Whether all jobs that the driver finds have the wanted states.
bool implies_states(Driver driver) {
    return driver == Driver::ended_of_type || driver == Driver::successes;
}

Driver driver_of(const JobFilter& filter) {
    const auto all_are = [&](auto&& property) { return all_states_are(filter, property); };
    if (wants_successes(filter)) return Driver::successes;
    if (wants_type_of_entity(filter)) return Driver::jobs_of_entity;
    if (!filter.entity_id.empty() || !filter.correlation_id.empty() || filter.replay_of) {
        return Driver::jobs;
    }
    const bool is_of_type =
        !filter.project.empty() && !filter.type.empty() && filter.site_id.empty();
    if (!filter.worker_id.empty() || all_are(is_running)) return Driver::leases;
    if (is_of_type && all_are(is_final)) return Driver::ended_of_type;
    if (is_of_type && all_are(is_unfinished)) return Driver::unfinished_of_type;
    if (all_are(is_unsuccessful)) return Driver::unsuccessful;
    if (!filter.project.empty()) return Driver::jobs;
    if (all_are(is_final)) return Driver::done;
    return Driver::jobs;
}

bool wants_few(const JobFilter& filter) {
    return !filter.entity_id.empty() || !filter.site_id.empty() || !filter.correlation_id.empty() ||
           filter.replay_of;
}

constexpr auto text_conditions = std::to_array<TextCondition>({
    {sql::is_type, &JobFilter::type},
    {sql::is_queue, &JobFilter::queue},
    {sql::is_project, &JobFilter::project},
    {sql::is_entity_type, &JobFilter::entity_type},
    {sql::is_entity_id, &JobFilter::entity_id},
    {sql::is_site_id, &JobFilter::site_id},
    {sql::is_node_id, &JobFilter::node_id},
    {sql::is_correlation_id, &JobFilter::correlation_id},
    {sql::is_source, &JobFilter::source},
});

const char* sql_of(const TextCondition& condition, const JobFilter& filter) {
    if (condition.field == &JobFilter::project && wants_few(filter)) return sql::is_also_project;
    const bool is_type = condition.field == &JobFilter::type;
    if (is_type && !filter.entity_id.empty() && !wants_type_of_entity(filter)) {
        return sql::is_also_type;
    }
    return condition.sql;
}

const char* driving_sql(Driver driver) {
    switch (driver) {
        case Driver::jobs: return sql::list_from_jobs;
        case Driver::leases: return sql::list_from_leases;
        case Driver::done: return sql::list_from_done;
        case Driver::unsuccessful: return sql::list_from_unsuccessful;
        case Driver::ended_of_type: return sql::list_from_ended_of_type;
        case Driver::unfinished_of_type: return sql::list_from_unfinished_of_type;
        case Driver::successes: return sql::list_from_successes;
        case Driver::jobs_of_entity: return sql::list_from_jobs_of_entity;
    }
    return nullptr;
}

const char* order_sql(Driver driver) {
    switch (driver) {
        case Driver::jobs:
        case Driver::jobs_of_entity: return sql::newest_jobs_first;
        case Driver::leases: return sql::newest_leases_first;
        case Driver::done:
        case Driver::successes:
        case Driver::unsuccessful: return sql::newest_done_first;
        case Driver::ended_of_type:
        case Driver::unfinished_of_type: return sql::newest_first;
    }
    return nullptr;
}

// Candidates with ids below a bound.
std::string candidates_sql(const JobFilter& filter, Driver driver) {
    std::string sql = driving_sql(driver);
    const bool walks_jobs = driver == Driver::jobs || driver == Driver::jobs_of_entity;
    if (walks_jobs && all_states_are(filter, is_unfinished)) sql += sql::is_unfinished;
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

// How many parts are read one after the other, each newest first, and merged: one for each state,
// where the driver's index has a part for each; otherwise one.
std::size_t parts_of(const JobFilter& filter, Driver driver) {
    return driver == Driver::ended_of_type ? filter.states.size() : 1;
}

std::string all_candidates_sql(const JobFilter& filter, Driver driver) {
    const std::string part = candidates_sql(filter, driver);
    std::string sql = part;
    for (std::size_t i = 1; i < parts_of(filter, driver); ++i) sql += sql::or_else + part;
    return sql;
}

// The same, and only jobs of the wanted states and worker.
std::string exact_sql(const JobFilter& filter, Driver driver) {
    std::string sql = all_candidates_sql(filter, driver);
    if (implies_states(driver)) return sql;
    if (!filter.worker_id.empty()) sql += sql::is_worker;
    if (filter.states.empty()) return sql;
    sql += sql::is_in_states;
    for (std::size_t i = 0; i < filter.states.size(); ++i) sql += i == 0 ? "?" : ",?";
    return sql + ")";
}

// Texts of a filter as they are stored. They must live until a statement that they were bound to
// has run.
struct StoredTexts {
    explicit StoredTexts(const JobFilter& filter)
        : label(fmt::format("{}:{}", filter.label.size(), filter.label)),
          success(success_for(filter.tenant, filter.entity_type, filter.entity_id)) {}

    std::string label;
    std::string success;
};

// Binds values one after the other.
class Binder {
  public:
    explicit Binder(Statement& statement) : statement_(statement) { statement.rewind(); }

    template <class Value>
    void add(const Value& value) {
        statement_.bind_from(bound_++, value);
    }

    void add_candidates(const JobFilter& filter, JobId before, const StoredTexts& texts) {
        const Driver driver = driver_of(filter);
        for (std::size_t part = 0; part < parts_of(filter, driver); ++part) {
            add(before);
            if (driver == Driver::ended_of_type || driver == Driver::unfinished_of_type) {
                add(filter.project);
                add(filter.type);
            }
            if (driver == Driver::ended_of_type) add(filter.states[part]);
            if (driver == Driver::successes) {
                add(texts.success);
                add(filter.type);
            }
            add_conditions(filter, texts.label);
        }
    }

    void add_exact(const JobFilter& filter, const StoredTexts& texts) {
        add_candidates(filter, newest, texts);
        if (implies_states(driver_of(filter))) return;
        if (!filter.worker_id.empty()) add(filter.worker_id);
        for (const JobState state : filter.states) add(state);
    }

  private:
    void add_conditions(const JobFilter& filter, const std::string& label) {
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

    Statement& statement_;
    int bound_ = 0;
};

std::vector<JobId> ids_of(Statement& statement) {
    std::vector<JobId> ids;
    while (statement.next_row()) ids.push_back(JobId{statement.integer(0)});
    return ids;
}

}  // namespace

std::string list_sql(const JobFilter& filter) {
    const Driver driver = driver_of(filter);
    return all_candidates_sql(filter, driver) + order_sql(driver);
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
    // Part of another label could look the same; the caller checks the job itself.
    const StoredTexts texts(filter_);
    Binder binder(statement_);
    binder.add_candidates(filter_, before, texts);
    binder.add(count);
    return ids_of(statement_);
}

std::vector<JobId> page_ids(sqlite3* connection, const JobFilter& filter, std::int64_t offset,
                            int limit) {
    Statement statement(connection, page_sql(filter));
    const StoredTexts texts(filter);
    Binder binder(statement);
    binder.add_exact(filter, texts);
    binder.add(std::max(limit, 0));
    binder.add(std::max<std::int64_t>(offset, 0));
    return ids_of(statement);
}

std::int64_t count_jobs(sqlite3* connection, const JobFilter& filter) {
    Statement statement(connection, count_sql(filter));
    const StoredTexts texts(filter);
    Binder(statement).add_exact(filter, texts);
    statement.next_row();
    return statement.integer(0);
}

}  // namespace sluice::sqlite
