#pragma once

#include <vector>

#include "application/ports/store.hpp"
#include "infrastructure/queue/lease_clock.hpp"
#include "infrastructure/queue/ready_queue.hpp"
#include "infrastructure/sqlite/database/statement.hpp"
#include "infrastructure/sqlite/store/live_jobs.hpp"

namespace sluice::sqlite {

// The claimable jobs and the leases, in memory beside the tables: the process owns the file, so no
// other process changes them. The sessions change both together. After a rollback the index no
// longer matches and is loaded anew.
class QueueIndex {
  public:
    // Reads the tables. `low_water`: every job below has ended. `rules`: as stored.
    void load(sqlite3* connection, JobId low_water, std::shared_ptr<const LimitRules> rules,
              Timestamp now);

    ReadyQueue& ready() { return ready_; }
    LeaseClock& leases() { return leases_; }
    LiveJobs& live() { return live_; }

    // The jobs that became claimable since the last call, without the changes of sessions that were
    // rolled back.
    std::vector<Readied> newly_ready(Timestamp now);

    void committed();
    void rolled_back();
    // A table differs from the index: it was changed behind the engine's back.
    void lost_track() { stale_ = true; }
    bool is_stale() const { return stale_; }
    Timestamp seen() const { return seen_; }

  private:
    void load_leases(sqlite3* connection);
    void load_queue(sqlite3* connection, JobId low_water);

    ReadyQueue ready_;
    LeaseClock leases_;
    LiveJobs live_;
    std::vector<Readied> unreported_;    // of sessions that were committed
    std::vector<Readied> reported_;      // of those, told to the open session
    Timestamp seen_ = Timestamp::min();  // jobs that became due up to here were reported
    Timestamp session_seen_ = Timestamp::min();
    bool stale_ = false;
};

}  // namespace sluice::sqlite
