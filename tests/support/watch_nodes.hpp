#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "infrastructure/postgres/cluster/clock_row.hpp"
#include "infrastructure/postgres/cluster/seats.hpp"
#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/postgres/watch/watch.hpp"
#include "infrastructure/system/boot_clock.hpp"
#include "support/postgres.hpp"

// Nodes that watch one database, for tests of what they tell each other.
namespace sluice::postgres::watch_nodes {

// The hints that a watch has given.
class Hints {
  public:
    void add(const std::vector<Readied>& readied, Timestamp due) {
        const std::lock_guard lock(mutex_);
        for (const Readied& lane : readied) counts_[lane.lane] += lane.count;
        due_ = std::min(due_, due);
        changed_.notify_all();
    }

    int wait_for(const Lane& lane, int count, Duration patience) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, patience, [&] { return counts_[lane] >= count; });
        return counts_[lane];
    }

    Timestamp wait_for_due(Duration patience) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, patience, [&] { return due_ != never; });
        return due_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Lane, int> counts_;
    Timestamp due_ = never;
};

inline bool eventually(Duration patience, const std::function<bool()>& holds) {
    for (const Duration end = since_boot() + patience; since_boot() < end;) {
        if (holds()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return holds();
}

// A node without committers: a seat and a watch.
struct Node {
    explicit Node(const std::string& url) : Node(url, url) {}
    Node(const std::string& url, const std::string& listen_url)
        : cluster({url}, "node"),
          connection({.url = url}),
          watch(cluster, {.listen_url = listen_url}) {
        know_time(connection, cluster.time);
        take_seat(connection, cluster);
        watch.start([this](const std::vector<Readied>& readied, Timestamp due) {
            hints.add(readied, due);
        });
    }
    ~Node() { watch.stop(); }

    Cluster cluster;
    Connection connection;
    ClusterTime& time = cluster.time;
    Hints hints;
    Watch watch;
};

class PostgresWatch : public testing::Test {
  protected:
    PostgresWatch() {
        migrate(connection);
        connection.execute("INSERT INTO lane (id, tenant, queue, type) VALUES (" +
                           std::to_string(lane_id(mail)) + ", 'default', 'default', 'mail')");
    }

    std::int64_t ask(const std::string& text) {
        const Result result = connection.ask({"", text});
        connection.sync();
        return result.rows() == 0 ? 0 : Row(result, 0).integer();
    }

    std::int64_t duty_holder() { return ask("SELECT owner FROM duty WHERE until > now()"); }

    void end_backends_of(const std::string& application) {
        ask("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = '" +
            application + "'");
    }

    Announcement news(int count) const { return {.readied = {{.lane = mail, .count = count}}}; }

    const Lane mail{"default", "default", "mail", {}};
    const std::string url = fresh_database();
    Connection connection{{.url = url}};
};

}  // namespace sluice::postgres::watch_nodes
