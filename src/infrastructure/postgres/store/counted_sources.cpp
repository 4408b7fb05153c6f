#include "infrastructure/postgres/store/counted_sources.hpp"

#include <algorithm>
#include <map>

#include "infrastructure/postgres/schema/limit_queries.hpp"
#include "infrastructure/postgres/schema/table_rows.hpp"

namespace sluice::postgres {
namespace {

constexpr Query do_not_wait{"do_not_wait_for_the_disk",
                            "SELECT set_config('synchronous_commit', 'off', true)"};

void write(Connection& connection, const CountedSources& counted, int seat) {
    const tables::WrittenBy by{seat};
    std::map<KnownSources::Name, std::optional<Timestamp>> last_jobs;
    TableRows<tables::source_hour_table> hours;
    for (const auto& [name, count] : counted) {
        const auto& [tenant, source] = name.source;
        std::optional<Timestamp>& last_job = last_jobs[name.source];
        last_job = std::max(last_job, count.last_job_at);
        hours.add(StoredSourceHour{.tenant = tenant,
                                   .source = source,
                                   .hour = name.hour,
                                   .submitted = count.submitted,
                                   .succeeded = count.succeeded,
                                   .failed = count.failed},
                  by);
    }
    TableRows<tables::source_table> sources;
    for (const auto& [name, last_job] : last_jobs) {
        sources.add(StoredSource{name.first, name.second, last_job}, by);
    }
    connection.begin();
    connection.send(do_not_wait);
    connection.send(sql::put_sources, Params(sources));
    connection.send(sql::add_to_source_hours, Params(hours));
    connection.commit();
}

}  // namespace

void write_counted_sources(Connection& connection, Cluster& cluster, int seat) {
    const CountedSources counted = cluster.source_counts.take();
    if (counted.empty()) return;
    try {
        write(connection, counted, seat);
    } catch (const StoreUnavailable& failure) {
        cluster.source_counts.add(counted, cluster.time.now());
        connection.roll_back();
        if (dynamic_cast<const StoreConflict*>(&failure) == nullptr) throw;
    }
}

}  // namespace sluice::postgres
