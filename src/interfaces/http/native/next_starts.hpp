#pragma once

#include <map>
#include <optional>

#include "application/ports/job_reader.hpp"

namespace sluice::http::native {

// When queued jobs may start at the earliest, as far as it is known: by their own time, and by the
// rules about what may run, which are asked once for each lane.
class NextStarts {
  public:
    NextStarts(JobReader& reader, Timestamp now) : reader_(reader), now_(now) {}

    // Nothing: now, or it depends on others, or the job is not queued.
    std::optional<Timestamp> of(const Job& job);

  private:
    std::optional<Timestamp> of_lane(const Lane& lane);

    JobReader& reader_;
    Timestamp now_;
    std::map<Lane, std::optional<Timestamp>> known_{};
};

}  // namespace sluice::http::native
