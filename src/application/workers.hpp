#pragma once

#include <map>
#include <string>
#include <vector>

#include "domain/lane.hpp"
#include "domain/time.hpp"

namespace sluice {

struct WorkerSeen {
    std::string worker_id;
    ClaimFilter filter;
    Timestamp at{};        // its last claim
    bool waiting = false;  // it waits for work right now
};

// Who asked for work lately. Known to this process only, and only for telling people why a job
// waits.
class Workers {
  public:
    void claimed(const std::string& worker_id, const ClaimFilter& filter, Timestamp now);
    void waits(const std::string& worker_id, const ClaimFilter& filter, bool waiting);

    // Those who would take jobs of this lane, and were seen within `memory` or wait now.
    std::vector<WorkerSeen> matching(const Lane& lane, Timestamp now) const;

    // Drops those who were not seen for a while.
    void forget_old(Timestamp now);

    static constexpr Duration memory = std::chrono::minutes(2);

  private:
    using Name = std::pair<std::string, std::string>;  // tenant, worker
    struct Entry {
        ClaimFilter filter;
        Timestamp at{};
        int waiting = 0;
    };
    std::map<Name, Entry> seen_;
};

}  // namespace sluice
