#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "infrastructure/postgres/cluster_time.hpp"
#include "infrastructure/postgres/direct_connection.hpp"

namespace sluice::postgres {

// What the node with the duty does for the tables now and then: adds windows, drops those that are
// over, vacuums the queue, and fills in what nodes of an older version left out. It may take
// seconds, so it has a thread and a connection of its own. Harmless when two do it at once.
class Housekeeper {
  public:
    struct Options {
        Urls urls;
        Duration retention{};  // of ended jobs; zero: for ever
    };

    Housekeeper(Options options, const ClusterTime& time);

    // Stops at once, in the middle of a statement if need be.
    ~Housekeeper();

    // To be called every other second while this node has the duty; `is_busy`: somebody has
    // committed since the last time.
    void look_around(bool is_busy);

  private:
    void run();
    void work(bool is_busy);
    Connection& connection();
    void disconnect();
    void drop_windows();
    void vacuum();
    void log_failure(const std::string& failure);

    const Options options_;
    const ClusterTime& time_;
    std::unique_ptr<Connection> connection_;
    Duration windows_due_{};  // since boot, as the others
    Duration drop_due_{};
    Duration vacuum_due_{};
    Duration rest_until_{};
    std::string last_failure_;

    std::mutex mutex_;
    std::condition_variable asked_;
    bool is_asked_ = false;
    bool is_busy_ = false;
    bool stop_ = false;
    int socket_ = -1;     // of the connection, for who stops it
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace sluice::postgres
