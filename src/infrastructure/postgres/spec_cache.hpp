#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "domain/job.hpp"

namespace sluice::postgres {

// Specs never change, so that those of jobs which were just taken need not be read again for their
// heartbeats and reports. Bounded: in jobs and in bytes. Thread-safe.
class SpecCache {
  public:
    void keep(std::span<const Job> jobs);
    void forget(std::span<const JobId> ids);

    // The specs of these, in this order; null where one is not here. They stay valid after they
    // were forgotten.
    std::vector<std::shared_ptr<const JobSpec>> find(std::span<const JobId> ids);

  private:
    std::mutex mutex_;
    std::unordered_map<JobId, std::shared_ptr<const JobSpec>> specs_;
    std::size_t payload_bytes_ = 0;
};

}  // namespace sluice::postgres
