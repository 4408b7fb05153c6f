#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "application/ports/wakeups.hpp"
#include "infrastructure/postgres/cluster/cluster.hpp"
#include "infrastructure/postgres/connection/direct_connection.hpp"
#include "infrastructure/postgres/watch/housekeeper.hpp"
#include "infrastructure/postgres/watch/outbox.hpp"
#include "infrastructure/postgres/watch/silent_nodes.hpp"
#include "infrastructure/postgres/watch/tick.hpp"

namespace sluice::postgres {

// This node's link to the others: tells them by NOTIFY which lanes got claimable jobs here, hears
// the same from them, and every other second says that the node lives. Of all watches of a database
// one has the duty to look for due work and to look after the tables; the duty moves within seconds
// when its node dies.
//
// It has a thread and connections of its own, and reconnects when they break. Committers never wait
// for it.
class Watch : public Wakeups {
  public:
    // A lane got claimable jobs, or something is due. Called on the watch's thread, and by
    // announce().
    using OnHint = std::function<void(std::vector<Readied> readied, Timestamp due)>;

    struct Options {
        std::string listen_url;  // past any pooler; may be that of the cluster
        Retention retention{};   // of ended jobs
        std::function<void(const DutyRun&)> on_duty{};  // called after each run of the housekeeper
    };

    // All arguments must outlive the watch.
    Watch(Cluster& cluster, Options options);
    ~Watch() override;

    // Starts watching. Committers that announce may exist before; committers that get hints must.
    void start(OnHint on_hint);

    // Ends the thread and gives the duty up. From now on the thread sends no hints, and
    // announcements have no effect.
    void stop();

    // Passes the announcement to the hint at once, on the calling thread, and to the other nodes if
    // there are any.
    void announce(const Announcement& announcement) override;

    int nodes() const { return 1 + other_nodes_; }
    bool has_duty() const;
    bool is_listening() const { return listening_; }

  private:
    void pass_on(const std::vector<Readied>& readied, Timestamp due);
    void run();
    void connect();
    void turn();
    void run_due();
    void look_at_clock(bool is_last = false);
    void look_at_others();
    void hear(const std::vector<Connection::Notification>& notifications);
    void tell_others();
    void notify(const HintMessage& message);
    void hint(const std::map<LaneId, int>& readied, Timestamp due);
    void count_nodes();
    void look_at_rules(HintMessage& hint);
    bool is_held_back(LaneId id, Timestamp now);
    void look_at_limits(std::map<LaneId, int>& ready, Timestamp& due);
    Duration until_next_look() const;
    void lose_connection(const std::string& why);
    void rest(Duration pause);
    void leave();

    Cluster& cluster_;
    const Urls urls_;
    const Retention retention_;
    const std::function<void(const DutyRun&)> on_duty_;
    std::mutex hint_mutex_;
    OnHint on_hint_;  // none: hints are not wanted any more
    Outbox outbox_;
    std::atomic<bool> running_ = false;
    std::atomic<bool> listening_ = false;
    std::atomic<bool> claims_wait_ = false;
    std::atomic<int> other_nodes_ = 0;
    std::atomic<Duration> duty_until_ = Duration{};  // since boot, as all durations below

    // Used by the thread alone.
    SteadyLooks looks_;
    std::unique_ptr<Connection> connection_;
    std::map<std::int64_t, Duration> heard_;  // other owners, and when they were heard last
    int seated_nodes_ = 0;                    // other nodes, as counted by the last tick
    std::int64_t commits_ = 0;
    bool is_new_ = true;  // connection: messages may have been lost
    Duration last_look_{};
    Duration last_notification_{};
    Duration connected_at_{};
    Duration pause_{};  // before the next try to connect
    bool said_that_it_polls_ = false;
    bool said_that_it_is_lost_ = false;
    bool said_that_it_may_not_end_ = false;

    std::unique_ptr<Housekeeper> housekeeper_;
    std::thread thread_;
};

}  // namespace sluice::postgres
