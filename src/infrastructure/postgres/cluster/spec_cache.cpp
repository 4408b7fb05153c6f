#include "infrastructure/postgres/cluster/spec_cache.hpp"

namespace sluice::postgres {
namespace {

constexpr std::size_t cached_max = 8192;
constexpr std::size_t cached_bytes_max = 16 * 1024 * 1024;

}  // namespace

// A full cache is emptied: the specs of jobs that still run are read once more, and no order of use
// has to be kept.
void SpecCache::keep(std::span<const Job> jobs) {
    const std::lock_guard lock(mutex_);
    for (const Job& job : jobs) {
        const std::size_t bytes = job.spec->payload.size();
        if (bytes > cached_bytes_max || specs_.contains(job.spec->id)) continue;
        if (specs_.size() >= cached_max || payload_bytes_ + bytes > cached_bytes_max) {
            specs_.clear();
            payload_bytes_ = 0;
        }
        specs_.emplace(job.spec->id, job.spec);
        payload_bytes_ += bytes;
    }
}

void SpecCache::forget(std::span<const JobId> ids) {
    const std::lock_guard lock(mutex_);
    for (const JobId id : ids) {
        const auto found = specs_.find(id);
        if (found == specs_.end()) continue;
        payload_bytes_ -= found->second->payload.size();
        specs_.erase(found);
    }
}

std::vector<std::optional<SharedSpec>> SpecCache::find(std::span<const JobId> ids) {
    std::vector<std::optional<SharedSpec>> specs(ids.size());
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (const auto found = specs_.find(ids[i]); found != specs_.end()) specs[i] = found->second;
    }
    return specs;
}

}  // namespace sluice::postgres
