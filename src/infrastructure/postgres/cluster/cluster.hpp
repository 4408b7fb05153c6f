#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "infrastructure/postgres/cluster/cluster_time.hpp"
#include "infrastructure/postgres/cluster/known_sources.hpp"
#include "infrastructure/postgres/cluster/lane_limits.hpp"
#include "infrastructure/postgres/cluster/recent_submits.hpp"
#include "infrastructure/postgres/cluster/source_counts.hpp"
#include "infrastructure/postgres/cluster/spec_cache.hpp"
#include "infrastructure/postgres/connection/connection.hpp"
#include "infrastructure/postgres/schema/known_windows.hpp"
#include "infrastructure/postgres/schema/lanes.hpp"

namespace sluice::postgres {

// The earliest moment at which a session has to look for due work. It may be too early, never too
// late: a session that looks takes the mark, and puts back the next moment.
class DueMark {
  public:
    void lower(Timestamp moment) {
        std::int64_t before = micros_.load();
        while (to_micros(moment) < before &&
               !micros_.compare_exchange_weak(before, to_micros(moment))) {
        }
    }
    Timestamp take() { return from_micros(micros_.exchange(to_micros(never))); }
    Timestamp get() const { return from_micros(micros_.load()); }

  private:
    std::atomic<std::int64_t> micros_ = to_micros(never);
};

// The state that the committers, the readers and the watch of one process share: their knowledge of
// the database and of the other nodes. Thread-safe.
struct Cluster {
    Cluster(Database database, std::string node_name);

    const Database database;
    const std::string node_name;  // for people: host and process
    const std::int64_t owner;     // random: names this process among all processes
    // A watch says all the time that this node lives. Set before the first connection.
    bool has_watch = false;
    // The mark of this node's connections, by which other nodes find its sessions when it is
    // silent.
    std::int64_t mark() const { return has_watch ? owner : 0; }
    ConnectOptions connect_options() const {
        return {.url = database.url, .schema = database.schema, .node_mark = mark()};
    }
    Lanes lanes;
    SpecCache specs;
    RecentSubmits recent;
    KnownWindows windows;
    ClusterTime time;
    LaneLimits limits;
    KnownSources sources;
    SourceCounts source_counts;
    DueMark lease_due;  // a lease runs out or a deadline comes
    DueMark timed_due;  // a queued job's time comes
    // Ended jobs with smaller ids are removed one by one: the windows that could be dropped are
    // gone. The housekeeper of the node with the duty moves it; without a watch it may be anything.
    std::atomic<JobId> thinned_below{newest};
};

}  // namespace sluice::postgres
