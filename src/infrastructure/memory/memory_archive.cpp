#include <algorithm>
#include <set>

#include "domain/values/check.hpp"
#include "infrastructure/memory/memory_session.hpp"

// The part of a MemoryStore's session that removes ended jobs.
namespace sluice {
namespace {

// Removes the item from the map, and records how to undo that.
template <class Map>
void take_out(Map& map, JobId id, MemoryWork& work) {
    auto node = map.extract(id);
    if (node.empty()) return;
    work.can_undo([&map, before = std::move(node.mapped()), id] { map[id] = before; });
}

}  // namespace

std::vector<EndedJob> MemoryArchive::ended(JobId after, JobId before, int limit) {
    const auto& jobs = work_.records.jobs;
    std::vector<EndedJob> found;
    for (auto row = jobs.upper_bound(after);
         row != jobs.end() && row->first < before && std::ssize(found) < limit; ++row) {
        const Job& job = row->second.job;
        if (!is_final(job.now.state) || job.lease) continue;
        found.push_back({.id = row->first,
                         .state = job.now.state,
                         .completed_at = *job.now.completed_at,
                         .rows = job.now.head.seq + job.now.log_seq});
    }
    return found;
}

std::vector<JobId> MemoryArchive::unneeded(std::span<const JobId> ids) {
    std::set<JobId> needed;
    for (const auto& [id, row] : work_.records.jobs) {
        if (is_final(row.job.now.state)) continue;
        needed.insert(row.job.spec->depends_on.begin(), row.job.spec->depends_on.end());
    }
    for (const auto& [key, request] : work_.records.requests) {
        needed.insert(request.jobs.begin(), request.jobs.end());
    }
    std::vector<JobId> found;
    std::copy_if(ids.begin(), ids.end(), std::back_inserter(found),
                 [&](JobId id) { return !needed.contains(id); });
    return found;
}

void MemoryArchive::remove(std::span<const JobId> ids) {
    for (const JobId id : ids) {
        const auto row = work_.records.jobs.find(id);
        check(row != work_.records.jobs.end() && is_final(row->second.job.now.state) &&
                  !row->second.job.lease,
              "only an ended job is removed");
        take_out(work_.records.jobs, id, work_);
        take_out(work_.records.events, id, work_);
        take_out(work_.records.logs, id, work_);
    }
}

bool MemoryArchive::remove_part(JobId id) {
    remove({&id, 1});
    return true;
}

}  // namespace sluice
