#include "infrastructure/memory/memory_records.hpp"

#include <algorithm>

namespace sluice {
namespace {

template <class Item>
std::vector<Item> after_number(const std::unordered_map<JobId, std::vector<Item>>& lists, JobId job,
                               std::int64_t after, int limit) {
    std::vector<Item> found;
    const auto list = lists.find(job);
    if (list == lists.end()) return found;
    const auto first =
        std::upper_bound(list->second.begin(), list->second.end(), after,
                         [](std::int64_t number, const Item& item) { return number < item.seq; });
    for (auto item = first; item != list->second.end() && std::ssize(found) < limit; ++item) {
        found.push_back(*item);
    }
    return found;
}

}  // namespace

std::vector<std::optional<Job>> MemoryRecords::find(std::span<const JobId> ids) const {
    std::vector<std::optional<Job>> found;
    found.reserve(ids.size());
    for (const JobId id : ids) {
        const auto row = jobs.find(id);
        found.push_back(row == jobs.end() ? std::nullopt : std::optional(row->second.job));
    }
    return found;
}

std::vector<Job> MemoryRecords::list(const JobFilter& filter, JobId before, ListLimit limit) const {
    std::vector<Job> found;
    ListCount count(limit);
    for (auto row = jobs.lower_bound(before); row != jobs.begin() && !count.is_full();) {
        --row;
        if (!filter.accepts(row->second.job)) continue;
        found.push_back(row->second.job);
        count.add(found.back());
    }
    return found;
}

std::vector<Job> MemoryRecords::page(const JobFilter& filter, std::int64_t offset,
                                     int limit) const {
    std::vector<Job> found;
    for (auto row = jobs.rbegin(); row != jobs.rend() && std::ssize(found) < limit; ++row) {
        const Job& job = row->second.job;
        if (filter.accepts(job) && offset-- <= 0) found.push_back(job);
    }
    return found;
}

std::int64_t MemoryRecords::count(const JobFilter& filter) const {
    return std::count_if(jobs.begin(), jobs.end(),
                         [&](const auto& row) { return filter.accepts(row.second.job); });
}

std::vector<Event> MemoryRecords::events_after(JobId job, std::int64_t after, int limit) const {
    return after_number(events, job, after, limit);
}

std::vector<LogLine> MemoryRecords::logs_after(JobId job, std::int64_t after, int limit) const {
    return after_number(logs, job, after, limit);
}

std::vector<JobId> MemoryRecords::ids_after(JobId after, int limit) const {
    std::vector<JobId> found;
    for (auto row = jobs.upper_bound(after); row != jobs.end() && std::ssize(found) < limit;
         ++row) {
        found.push_back(row->first);
    }
    return found;
}

void MemoryRecords::gather_readied(Timestamp now) {
    seen_now = std::max(seen_now, now);
    for (const Readied& lane : queue.newly_ready(now)) readied[lane.lane] += lane.count;
}

void MemoryRecords::watch(const Job& job) {
    if (!job.lease) {
        clock.erase(job.spec->id);
    } else {
        clock.set(job.spec->id, job.lease->until,
                  job.lease->stop_requested ? never : job.deadline());
    }
}

std::map<Lane, std::int64_t> MemoryRecords::leases() const {
    std::map<Lane, std::int64_t> count;
    for (const auto& [id, row] : jobs) {
        if (row.job.lease) ++count[lane_of(row.job.spec)];
    }
    return count;
}

void MemoryRecords::rebuild() {
    const auto buckets = queue.permits().kept_buckets();
    queue.clear();
    clock.clear();
    queue.newly_ready(seen_now);  // jobs that were due before are due at once, not told again
    queue.set_rules(rules, seen_now);
    for (const KeptBucket& bucket : buckets) queue.permits().restore(bucket);
    // All keys are held before any job is queued that may have to wait for one.
    for (const auto& [id, row] : jobs) {
        if (!row.job.lease) continue;
        queue.hold(row.job.spec);
        watch(row.job);
    }
    for (const auto& [id, row] : jobs) {
        if (row.job.lease || row.job.now.state != JobState::queued) continue;
        queue.add(row.job.spec, row.job.now.run_after, row.blocked);
    }
    queue.newly_ready(Timestamp::min());
    queue.permits().keep_changes();
    queue.look_again();
}

}  // namespace sluice
