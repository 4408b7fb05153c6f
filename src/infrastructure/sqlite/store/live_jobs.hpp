#pragma once

#include <deque>
#include <unordered_map>

#include "domain/jobs/job.hpp"

namespace sluice::sqlite {

// The jobs that the writing session is likely to ask for next, as they were written last: running
// jobs, and jobs that were put while the queue was short. To read a job back costs more than to
// write it, and a job is read at its claim and at its report. The process owns the file, so the
// last write is the present state.
//
// The store tells it of every write; a rollback clears it. A job that is not here must be read.
class LiveJobs {
  public:
    // The job, or nullptr when it is not here. Valid until the next change.
    const Job* find(JobId id) const;

    // Keeps the job as it is now, and replaces an earlier copy.
    void keep(const Job& job);
    void forget(JobId id);
    void clear();

  private:
    void release_reserve();

    std::unordered_map<JobId, Job> jobs_;
    std::deque<JobId> arrivals_;  // oldest first; also ids that are no longer here
    std::size_t payload_bytes_ = 0;
};

}  // namespace sluice::sqlite
