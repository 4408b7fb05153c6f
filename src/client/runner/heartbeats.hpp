#pragma once

#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>

#include "client/link/repeat_pause.hpp"
#include "client/runner/engine_contact.hpp"
#include "client/runner/live_attempts.hpp"

namespace sluice::client {

// Renews the leases of all live attempts, many in one call, and carries their progress.
class HeartbeatSender {
  public:
    HeartbeatSender(Desk& desk, LiveAttempts& live, EngineContact& contact, Millis lease);
    ~HeartbeatSender() { stop(); }
    HeartbeatSender(const HeartbeatSender&) = delete;
    HeartbeatSender& operator=(const HeartbeatSender&) = delete;

    void start();
    void stop();  // waits for a call that is under way

    // There is a new attempt, perhaps the first one.
    void attempts_came();

    // An attempt has new progress, which is sent soon, but not more than a few times a second.
    void progress_waits();

  private:
    using Clock = std::chrono::steady_clock;

    void run();
    bool wait_for_beat(std::unique_lock<std::mutex>& lock);
    void beat(bool all);
    bool renew(std::span<const AttemptPtr> attempts);
    void heed(const AttemptPtr& attempt, LeaseAnswer answer, BootTime sent);

    Desk& desk_;
    LiveAttempts& live_;
    EngineContact& contact_;
    const Millis period_;
    RepeatPause pause_;

    std::mutex mutex_;
    std::condition_variable called_;
    Clock::time_point next_beat_{};
    Clock::time_point next_progress_{};
    bool is_asleep_ = false;  // there was no attempt at the last beat
    bool has_progress_ = false;
    bool stop_ = false;
    std::thread thread_;
};

}  // namespace sluice::client
