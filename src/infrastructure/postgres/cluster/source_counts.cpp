#include "infrastructure/postgres/cluster/source_counts.hpp"

#include <algorithm>

namespace sluice::postgres {

void add(CountedSources& sum, const SourceHour& hour, const SourceCount& count) {
    SourceCount& total = sum[hour];
    total.submitted += count.submitted;
    total.succeeded += count.succeeded;
    total.failed += count.failed;
    total.last_job_at = std::max(total.last_job_at, count.last_job_at);
}

void add(CountedSources& sum, const CountedSources& more) {
    for (const auto& [hour, count] : more) add(sum, hour, count);
}

void SourceCounts::add(const CountedSources& counted, Timestamp now) {
    if (counted.empty()) return;
    const std::lock_guard lock(mutex_);
    postgres::add(counted_, counted);
    due_ = std::min(due_, now + sources_written_every);
}

Timestamp SourceCounts::due() const {
    const std::lock_guard lock(mutex_);
    return due_;
}

CountedSources SourceCounts::take() {
    const std::lock_guard lock(mutex_);
    due_ = never;
    return std::exchange(counted_, {});
}

CountedSources SourceCounts::get() const {
    const std::lock_guard lock(mutex_);
    return counted_;
}

}  // namespace sluice::postgres
