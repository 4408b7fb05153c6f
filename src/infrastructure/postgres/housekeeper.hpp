#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "application/duties.hpp"
#include "infrastructure/postgres/cluster.hpp"
#include "infrastructure/postgres/direct_connection.hpp"

namespace sluice::postgres {

// What the node with the duty does for the tables now and then: adds windows, drops those that are
// over, vacuums the queue, lets jobs forward that were left behind at a key, and fills in what
// nodes of an older version left out. It may take seconds, so it has a thread and a connection of
// its own. Harmless when two do it at once.
class Housekeeper {
  public:
    struct Options {
        Urls urls;
        Retention retention{};                          // of ended jobs
        std::function<void(const DutyRun&)> on_duty{};  // hears of each run, on this one's thread
    };

    Housekeeper(Options options, Cluster& cluster);

    // Stops at once, in the middle of a statement if need be.
    ~Housekeeper();

    // To be called every other second while this node has the duty; `is_busy`: somebody has
    // committed since the last time.
    void look_around(bool is_busy);

  private:
    void run();
    void work(bool is_busy);
    struct Duty;
    static constexpr std::size_t duties_count = 5;
    static std::span<const Duty> table();
    void run_duty(const Duty& duty);  // and tells of it
    // Each returns how much it has dealt with.
    int add_windows();
    int fill_in();
    int drop_windows();
    int promote_left_behind();
    int vacuum();

    Connection& connection();
    void disconnect();
    void log_failure(const std::string& failure);

    const Options options_;
    Cluster& cluster_;
    const ClusterTime& time_;
    std::unique_ptr<Connection> connection_;
    std::array<Duration, duties_count> due_{};  // of each row of the table, since boot
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
