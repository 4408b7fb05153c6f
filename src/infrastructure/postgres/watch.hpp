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
#include "infrastructure/postgres/cluster.hpp"
#include "infrastructure/postgres/direct_connection.hpp"
#include "infrastructure/postgres/housekeeper.hpp"
#include "infrastructure/postgres/outbox.hpp"
#include "infrastructure/postgres/silent_nodes.hpp"

namespace sluice::postgres {

// This node's eye on the others: tells them by NOTIFY what became claimable here, hears the same
// from them, and every other second says that the node lives. Of all watches of a database one has
// the duty to look at what is due and after the tables; it moves within seconds when that one dies.
//
// It has a thread and connections of its own, and comes back by itself when they break. Committers
// never wait for it.
class Watch : public Wakeups {
  public:
    // Something became claimable, or is due. Called on the watch's thread, and by announce().
    using OnHint = std::function<void(std::vector<Readied> readied, Timestamp due)>;

    struct Options {
        std::string listen_url;  // past any pooler; may be that of the cluster
        Retention retention{};   // of ended jobs
        std::function<void(const DutyRun&)> on_duty{};  // hears of each run of the housekeeper
    };

    // All that is given must outlive the watch.
    Watch(Cluster& cluster, Options options);
    ~Watch() override;

    // Starts watching. Committers that announce may exist before, those that are hinted at must.
    void start(OnHint on_hint);

    // Ends the thread and gives the duty up. From now on nobody is hinted at by the thread, and
    // announcements reach nobody.
    void stop();

    // Passes it on to the hint at once, on the calling thread, and to the other nodes if there are
    // any.
    void announce(const Announcement& announcement) override;

    int nodes() const { return 1 + other_nodes_; }
    bool has_duty() const;
    bool is_listening() const { return listening_; }

  private:
    void pass_on(const std::vector<Readied>& readied, Timestamp due);
    void run();
    void connect();
    void turn();
    void look_around();
    void look_at_clock(bool is_last = false);
    void look_at_others();
    void hear(const std::vector<Connection::Notification>& notifications);
    void tell_others();
    void notify(const HintMessage& message);
    void hint(const std::map<LaneId, int>& readied, Timestamp due);
    void count_nodes();
    Duration until_next_look() const;
    void lose_connection(const std::string& why);
    void rest(Duration pause);
    void leave();

    Cluster& cluster_;
    const Urls urls_;
    const Retention retention_;
    const std::function<void(const DutyRun&)> on_duty_;
    std::mutex hint_mutex_;
    OnHint on_hint_;  // none: nobody wants to hear any more
    Outbox outbox_;
    std::atomic<bool> running_ = false;
    std::atomic<bool> listening_ = false;
    std::atomic<bool> claims_wait_ = false;
    std::atomic<int> other_nodes_ = 0;
    std::atomic<Duration> duty_until_ = Duration{};  // since boot, as all durations below

    // Of the thread alone.
    SteadyLooks looks_;
    std::unique_ptr<Connection> connection_;
    std::map<std::int64_t, Duration> heard_;  // other owners, and when they were heard last
    int seated_nodes_ = 0;                    // others, as the last tick has counted them
    std::int64_t commits_ = 0;
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
