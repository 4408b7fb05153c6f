#pragma once

#include <deque>
#include <unordered_map>

#include "domain/job.hpp"

namespace sluice::sqlite {

// The jobs that the writing session is likely to ask for next, as they were written last: what
// runs, and what was put while the queue was short. To read a job back costs more than to write it,
// and a job is read at its claim and at its report. The process owns the file, so what was written
// is what is there.
//
// The store tells it of every write; a rollback clears it. What is not here must be read.
class LiveJobs {
  public:
    // The job, or nullptr when it is not here. Valid until the next change.
    const Job* find(JobId id) const;

    // Keeps the job as it is now, in the place of what it was.
    void keep(const Job& job);
    void forget(JobId id);
    void clear();

  private:
    void make_room();

    std::unordered_map<JobId, Job> jobs_;
    std::deque<JobId> arrivals_;  // oldest first; also of some that are no longer here
    std::size_t payload_bytes_ = 0;
};

}  // namespace sluice::sqlite
