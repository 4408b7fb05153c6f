#pragma once

#include <map>
#include <string>

#include "application/ports/commands.hpp"

namespace sluice {

// The workers that claimed lately. Known to this process only, and used only to tell people why a
// job waits.
class Workers {
  public:
    void claimed(const std::string& worker_id, const ClaimFilter& filter, Timestamp now);
    void waits(const std::string& worker_id, const ClaimFilter& filter, bool waiting);

    // The workers that would take jobs of this lane, and were seen within `memory` or wait now.
    WorkersSeen matching(const Lane& lane, Timestamp now) const;

    // All workers that serve the tenant and were seen within `memory` or wait now; an empty tenant
    // stands for any.
    WorkersSeen of(const std::string& tenant, Timestamp now) const;

    // Drops the workers that were not seen for a while.
    void forget_old(Timestamp now);

    static constexpr Duration memory = std::chrono::minutes(2);

  private:
    static constexpr std::size_t workers_max = 2000;
    static constexpr std::size_t dropped_at_once = 200;
    void drop_oldest();

    using Name = std::pair<std::string, std::string>;  // tenant, worker
    struct Entry {
        ClaimFilter filter;
        Timestamp at{};
        int waiting = 0;

        bool is_alive(Timestamp now) const { return waiting > 0 || at + memory > now; }
    };
    std::map<Name, Entry> seen_;
};

}  // namespace sluice
