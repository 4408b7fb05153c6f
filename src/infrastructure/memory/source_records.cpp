#include "infrastructure/memory/source_records.hpp"

#include <algorithm>

namespace sluice {

void SourceRecords::add(Row& row, const SourceCount& count, Timestamp now) {
    if (count.last_job_at) row.last_job_at = std::max(row.last_job_at, count.last_job_at);
    row.hours.erase(row.hours.begin(), row.hours.lower_bound(first_hour_counted(now)));
    SourceCount& hour = row.hours[hour_of(now)];
    hour.submitted += count.submitted;
    hour.succeeded += count.succeeded;
    hour.failed += count.failed;
}

bool SourceRecords::is_active(const Row& row, Timestamp now) {
    const std::int64_t first = first_hour_counted(now);
    return row.hours.lower_bound(first) != row.hours.end() ||
           (row.last_job_at && hour_of(*row.last_job_at) >= first);
}

std::vector<SourceCount> SourceRecords::list(const std::string& tenant, Timestamp now) const {
    std::vector<SourceCount> found;
    for (const auto& [key, row] : rows) {
        if (!tenant.empty() && key.first != tenant) continue;
        SourceCount sum{.tenant = key.first, .source = key.second, .last_job_at = row.last_job_at};
        for (auto hour = row.hours.lower_bound(first_hour_counted(now)); hour != row.hours.end();
             ++hour) {
            sum.submitted += hour->second.submitted;
            sum.succeeded += hour->second.succeeded;
            sum.failed += hour->second.failed;
        }
        found.push_back(std::move(sum));
    }
    return found;
}

std::int64_t SourceRecords::count(const std::string& tenant) const {
    return std::count_if(rows.begin(), rows.end(),
                         [&](const auto& row) { return row.first.first == tenant; });
}

}  // namespace sluice
