#include "infrastructure/sqlite/store/live_jobs.hpp"

namespace sluice::sqlite {
namespace {

constexpr std::size_t jobs_max = 8192;
constexpr std::size_t payload_bytes_max = 16u << 20;

}  // namespace

const Job* LiveJobs::find(JobId id) const {
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : &found->second;
}

void LiveJobs::keep(const Job& job) {
    if (const auto found = jobs_.find(job.spec->id); found != jobs_.end()) {
        found->second = job;
        return;
    }
    jobs_.emplace(job.spec->id, job);
    arrivals_.push_back(job.spec->id);
    payload_bytes_ += job.spec->payload.size();
    release_reserve();
}

void LiveJobs::forget(JobId id) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return;
    payload_bytes_ -= found->second.spec->payload.size();
    jobs_.erase(found);
}

void LiveJobs::clear() {
    jobs_.clear();
    arrivals_.clear();
    payload_bytes_ = 0;
}

void LiveJobs::release_reserve() {
    while (arrivals_.size() > jobs_max || payload_bytes_ > payload_bytes_max) {
        forget(arrivals_.front());
        arrivals_.pop_front();
    }
}

}  // namespace sluice::sqlite
