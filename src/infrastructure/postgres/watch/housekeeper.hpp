#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "application/engine/duties.hpp"
#include "infrastructure/postgres/cluster/cluster.hpp"
#include "infrastructure/postgres/connection/direct_connection.hpp"
#include "infrastructure/postgres/watch/limit_upkeep.hpp"

namespace sluice::postgres {

// The periodic work on the tables, done by the node with the duty: adds windows, drops past ones,
// vacuums the queue, makes that entities are found by their keys, promotes jobs that were left
// behind at a free key, keeps the tables of limits small, and fills in columns that nodes of an
// older version left out. It may take seconds, so it has a thread and a connection of its own.
// Harmless when two nodes do it at once.
class Housekeeper {
  public:
    struct Options {
        Urls urls;
        Retention retention{};                          // of ended jobs
        std::function<void(const DutyRun&)> on_duty{};  // called after each run, on its thread
    };

    Housekeeper(Options options, Cluster& cluster);

    // Stops at once, in the middle of a statement if need be.
    ~Housekeeper();

    // To be called every other second while this node has the duty; `is_busy`: there were commits
    // since the last call.
    void run_due(bool is_busy);

  private:
    void run();
    void work(bool is_busy);
    struct Duty;
    static constexpr std::size_t duties_count = 6;
    static std::span<const Duty> table();
    void run_duty(const Duty& duty);  // and calls on_duty
    // Each returns how many rows or windows it has dealt with.
    int add_windows();
    int fill_in();
    int drop_windows();
    int promote_left_behind();
    int look_after_limits();
    int vacuum();
    int for_each_table(const Query& found_by, const std::string& command);

    Connection& connection();
    void disconnect();
    void log_failure(const std::string& failure);

    const Options options_;
    Cluster& cluster_;
    const ClusterTime& time_;
    std::unique_ptr<Connection> connection_;
    LimitUpkeep limits_;
    std::array<Duration, duties_count> due_{};  // of each row of the table, since boot
    std::string last_failure_;

    std::mutex mutex_;
    std::condition_variable asked_;
    bool is_asked_ = false;
    bool is_busy_ = false;
    bool stop_ = false;
    int socket_ = -1;     // of the connection, for the destructor
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace sluice::postgres
