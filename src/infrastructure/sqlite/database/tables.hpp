#pragma once

#include "infrastructure/sql/entity_rows.hpp"
#include "infrastructure/sql/job_rows.hpp"
#include "infrastructure/sql/limit_rows.hpp"
#include "infrastructure/sql/request_rows.hpp"

// The tables as this store has them: those of all stores, and its own.
namespace sluice::sqlite::tables {

using rows::done_table;
using rows::entity_event_table;
using rows::entity_table;
using rows::event_table;
using rows::lease_table;
using rows::log_table;
using rows::meter_table;
using rows::request_table;
using rows::requeued_table;
using rows::source_hour_table;
using rows::source_table;

// How many jobs a job depends on; a table of its own has their ids.
struct DependencyCount {
    int value = 0;
};
struct DependencyCountCodec : rows::Plain<&DependencyCount::value> {
    template <class Parts>
    static std::size_t write(const Parts& parts) {
        return rows::part<JobSpec>(parts).depends_on.size();
    }
};
inline constexpr auto dependencies_column =
    rows::column<DependencyCountCodec>("dependencies", rows::ColumnType::small);

inline constexpr auto job_table = rows::extended(rows::job_table, dependencies_column);

// The columns of a job that the index of the queue is loaded from.
inline constexpr auto queue_table = rows::table(
    "job",
    std::tuple_cat(rows::queue_columns,
                   std::tuple(dependencies_column, rows::given_text<&JobSpec::source>("source"))));

struct Dependency {
    JobId job;
    JobId depends_on;
};
inline constexpr auto dependency_table =
    rows::table("dependency", rows::key(rows::integer<&Dependency::job>("job_id")),
                rows::key(rows::integer<&Dependency::depends_on>("depends_on")));

// The jobs of a project that have not ended.
inline constexpr auto unfinished_table = rows::table(
    "unfinished", rows::key(rows::text<&JobSpec::project>("project")),
    rows::key(rows::text<&JobSpec::type>("type")), rows::key(rows::integer<&JobSpec::id>("id")));

}  // namespace sluice::sqlite::tables
