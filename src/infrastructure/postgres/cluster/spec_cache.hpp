#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "domain/jobs/job.hpp"

namespace sluice::postgres {

// Specs never change, so those of jobs that were just taken need not be read again for their
// heartbeats and reports. Bounded: in jobs and in bytes. Thread-safe.
class SpecCache {
  public:
    void keep(std::span<const Job> jobs);
    void forget(std::span<const JobId> ids);

    // The specs of these jobs, in this order; nothing where one is not here.
    std::vector<std::optional<SharedSpec>> find(std::span<const JobId> ids);

  private:
    std::mutex mutex_;
    std::unordered_map<JobId, SharedSpec> specs_;
    std::size_t payload_bytes_ = 0;
};

}  // namespace sluice::postgres
