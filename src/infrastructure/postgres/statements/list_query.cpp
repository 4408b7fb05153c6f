#include "infrastructure/postgres/statements/list_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "infrastructure/postgres/schema/read_queries.hpp"
#include "infrastructure/sql/job_rows.hpp"
#include "infrastructure/sql/list_filter.hpp"

// Running jobs are found in `lease`, ended ones in `done`, failed ones in its index, and waiting
// ones in the queue's tables, so that no archive of ended jobs is walked for them. All other lists
// walk down `job`, or one of its partial indexes. The jobs of one entity, one correlation, one site
// or one replayed job are few, whatever their states, and those of one project that have ended are
// fewer than all; those of one type in it are found by their state, in an index, and so are an
// entity's successes of one type, and all its jobs of one type.
namespace sluice::postgres {
namespace {

bool is_other_tenant(const JobFilter& filter) {
    return !filter.tenant.empty() && filter.tenant != "default";
}

std::vector<std::int64_t> numbers_of(const std::vector<JobState>& states) {
    std::vector<std::int64_t> numbers;
    for (const JobState state : states) numbers.push_back(static_cast<std::int64_t>(state));
    return numbers;
}

constexpr auto lane_conditions = std::to_array<TextCondition>({
    {sql::is_lane_of_tenant, &JobFilter::tenant},
    {sql::is_lane_of_queue, &JobFilter::queue},
    {sql::is_lane_of_type, &JobFilter::type},
});

constexpr auto job_conditions = std::to_array<TextCondition>({
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

// The result of the query.
enum class Wanted {
    candidates,  // ids of those that may be accepted, newest first
    page,        // ids of those that are accepted, newest first
    count,       // how many are accepted
};

// Puts a query together. Values become parameters, never text.
class JobListQuery {
  public:
    JobListQuery(const JobFilter& filter, Wanted wanted, IdRange range, std::int64_t count)
        : filter_(filter), wanted_(wanted) {
        query_.params.add(range.before).add(range.from).add(count);
        if (wanted == Wanted::count) add(sql::begin_count);
    }

    void add(const char* sql) { query_.text += sql; }

    template <class Value>
    void add(const char* sql, const Value& value) {
        query_.params.add(value);
        query_.text += fmt::format(fmt::runtime(sql), query_.params.size());
    }

    void add_states(const char* sql) { add(sql, numbers_of(filter_.states)); }

    template <std::size_t count>
    void add_given(const std::array<TextCondition, count>& conditions) {
        for (const TextCondition& condition : conditions) {
            const std::string& value = filter_.*condition.field;
            if (!value.empty()) add(condition.sql, value);
        }
    }

    void add_job_conditions() {
        if (!filter_.tenant.empty()) {
            const bool other = is_other_tenant(filter_);
            add(other ? sql::is_other_tenant : sql::is_default_tenant, filter_.tenant);
        }
        add_given(job_conditions);
        // Part of another label could look the same; the caller checks the job itself.
        if (!filter_.label.empty()) {
            add(sql::may_have_label, fmt::format("{}:{}", filter_.label.size(), filter_.label));
        }
        if (filter_.replay_of) add(sql::is_replay_of, *filter_.replay_of);
        if (filter_.created_from) add(sql::is_created_from, *filter_.created_from);
        if (filter_.created_before) add(sql::is_created_before, *filter_.created_before);
    }

    // Where the driver does not imply the states.
    void add_exact_states() {
        if (wanted_ == Wanted::candidates || filter_.states.empty()) return;
        add_states(sql::is_exactly_in_states);
    }

    void list_jobs(const char* narrowed, const char* order) {
        add(sql::list_from_jobs);
        add(narrowed);
        add_job_conditions();
        if (all_states_are(filter_, is_unfinished)) add(sql::is_unfinished);
        if (all_states_are(filter_, is_final)) add_states(sql::has_ended_in_states);
        add_exact_states();
        if (wanted_ != Wanted::candidates && !filter_.worker_id.empty()) {
            add(sql::is_run_by_worker, filter_.worker_id);
        }
        add_order(order);
    }

    void list_leases() {
        add(sql::list_from_leases);
        add_job_conditions();
        add_exact_states();
        add(sql::among_leases);
        if (!filter_.worker_id.empty()) add(sql::is_worker, filter_.worker_id);
        add_order(sql::newest_leases_first);
    }

    void list_done(bool only_unsuccessful) {
        add(sql::list_from_done);
        add_job_conditions();
        add(sql::among_done);
        if (only_unsuccessful) add(sql::is_unsuccessful);
        add_states(sql::is_in_states);
        add_order(sql::newest_done_first);
    }

    void list_successes() {
        add(sql::list_from_done);
        add_job_conditions();
        add(sql::among_done);
        add(sql::is_success_for,
            success_for(filter_.tenant, filter_.entity_type, filter_.entity_id));
        add(sql::is_done_of_type, filter_.type);
        add_order(sql::newest_successes_first);
    }

    // Each state has a part of the index to itself, in the order of ids.
    void list_ended_of_type() {
        add(sql::begin_parts);
        for (std::size_t i = 0; i < filter_.states.size(); ++i) {
            if (i > 0) add(sql::next_part);
            add(sql::list_from_done);
            add_job_conditions();
            add(sql::among_done);
            add(sql::is_done_of_project, filter_.project);
            add(sql::is_done_of_type, filter_.type);
            add(sql::is_done_in_state, static_cast<std::int64_t>(filter_.states[i]));
            add_order(sql::newest_done_first);
        }
        add(sql::end_parts);
        add_order(sql::newest_of_parts_first);
    }

    void list_queue() {
        add(sql::begin_lanes);
        add_given(lane_conditions);
        add(sql::list_from_queue);
        if (std::any_of(filter_.states.begin(), filter_.states.end(), is_running)) {
            add(sql::and_from_leases);
        }
        add(sql::look_at_jobs);
        add_job_conditions();
        add(sql::among_queued);
        add_order(sql::newest_queued_first);
    }

    void list_from(ListDriver driver) {
        switch (driver) {
            case ListDriver::jobs: list_jobs("", sql::newest_jobs_first); break;
            case ListDriver::jobs_of_entity:
                list_jobs(sql::is_before_in_entity, sql::newest_of_entity_first);
                break;
            case ListDriver::leases: list_leases(); break;
            case ListDriver::done: list_done(false); break;
            case ListDriver::unsuccessful: list_done(true); break;
            case ListDriver::ended_of_type: list_ended_of_type(); break;
            case ListDriver::successes: list_successes(); break;
            case ListDriver::queue: list_queue(); break;
        }
        add(sql::limited);
        if (wanted_ == Wanted::count) add(sql::end_count);
    }

    ListQuery finished() && { return std::move(query_); }

  private:
    // A count needs none.
    void add_order(const char* sql) {
        if (wanted_ != Wanted::count) add(sql);
    }

    const JobFilter& filter_;
    Wanted wanted_;
    ListQuery query_;
};

}  // namespace

ListDriver driver_of(const JobFilter& filter) {
    if (wants_successes(filter)) return ListDriver::successes;
    if (wants_type_of_entity(filter)) return ListDriver::jobs_of_entity;
    if (!filter.entity_id.empty() || !filter.correlation_id.empty() || !filter.site_id.empty() ||
        filter.replay_of) {
        return ListDriver::jobs;
    }
    if (!filter.worker_id.empty() || all_states_are(filter, is_running)) return ListDriver::leases;
    if (all_states_are(filter, is_unfinished)) return ListDriver::queue;
    const bool is_of_type = !filter.project.empty() && !filter.type.empty();
    if (is_of_type && all_states_are(filter, is_final)) return ListDriver::ended_of_type;
    if (all_states_are(filter, is_unsuccessful)) return ListDriver::unsuccessful;
    // A small tenant's jobs are found in its index rather than among those of all others, and so
    // are a project's.
    if (is_other_tenant(filter) || !filter.project.empty()) return ListDriver::jobs;
    return all_states_are(filter, is_final) ? ListDriver::done : ListDriver::jobs;
}

ListQuery list_query(const JobFilter& filter, ListDriver driver, IdRange range, int count) {
    JobListQuery builder(filter, Wanted::candidates, range, count);
    builder.list_from(driver);
    return std::move(builder).finished();
}

ListQuery page_query(const JobFilter& filter, std::int64_t offset, int limit) {
    JobListQuery builder(filter, Wanted::page, {newest, filter.from}, std::max(limit, 0));
    builder.list_from(driver_of(filter));
    builder.add(sql::without_the_first, std::max<std::int64_t>(offset, 0));
    return std::move(builder).finished();
}

ListQuery count_query(const JobFilter& filter) {
    JobListQuery builder(filter, Wanted::count, {newest, filter.from}, INT64_MAX);
    builder.list_from(driver_of(filter));
    return std::move(builder).finished();
}

}  // namespace sluice::postgres
