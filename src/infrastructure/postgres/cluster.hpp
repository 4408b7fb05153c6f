#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "infrastructure/postgres/cluster_time.hpp"
#include "infrastructure/postgres/connection.hpp"
#include "infrastructure/postgres/known_windows.hpp"
#include "infrastructure/postgres/lanes.hpp"
#include "infrastructure/postgres/recent_submits.hpp"
#include "infrastructure/postgres/spec_cache.hpp"

namespace sluice::postgres {

// The earliest moment at which somebody has to look at something. It may be too early, never too
// late: whoever looks takes it, and puts back what is the next then.
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

// What the committers, the readers and the watch of one process share about the database that they
// share with other nodes. Thread-safe.
struct Cluster {
    Cluster(Database database, std::string node_name);

    const Database database;
    const std::string node_name;  // for people: host and process
    const std::int64_t owner;     // random: this process among all that ever were
    // A watch says all the time that this node lives. Set before the first connection.
    bool has_watch = false;
    // Of connections: those of a node that could be found silent have one.
    std::int64_t mark() const { return has_watch ? owner : 0; }
    ConnectOptions connect_options() const {
        return {.url = database.url, .schema = database.schema, .node_mark = mark()};
    }
    Lanes lanes;
    SpecCache specs;
    RecentSubmits recent;
    KnownWindows windows;
    ClusterTime time;
    DueMark lease_due;  // a lease runs out or a deadline comes
    DueMark timed_due;  // a queued job's time comes
    // Ended jobs with smaller ids are removed one by one: what could be dropped with its window is
    // gone. The housekeeper of the node that has the duty moves it; without a watch it is anything.
    std::atomic<JobId> thinned_below{newest};
};

}  // namespace sluice::postgres
