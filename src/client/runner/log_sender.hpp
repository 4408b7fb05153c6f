#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "client/runner/engine_contact.hpp"
#include "client/runner/live_attempts.hpp"

namespace sluice::client {

// Sends the log lines of attempts: at once when nothing else is being sent, and otherwise in
// batches of the lines that have come meanwhile. Attempts take turns. Lines of one attempt are sent
// in order.
class LogSender {
  public:
    // `ended` is called with an attempt that has ended, once its last line was sent.
    LogSender(Desk& desk, EngineContact& contact, std::function<void(const AttemptPtr&)> ended);
    ~LogSender() { stop(); }
    LogSender(const LogSender&) = delete;
    LogSender& operator=(const LogSender&) = delete;

    void start(int threads);
    void stop();  // waits for calls that are under way

    // The attempt has lines. Not again before Attempt::lines_sent() said that there are no more.
    void push(AttemptPtr attempt);

  private:
    void run();
    void send_batch(const AttemptPtr& attempt);
    LeaseAnswer send(const Attempt& attempt, const std::vector<LogEntry>& lines);
    void pause(Millis time);

    Desk& desk_;
    EngineContact& contact_;
    const std::function<void(const AttemptPtr&)> ended_;
    std::mutex mutex_;
    std::condition_variable pushed_;
    std::condition_variable stopped_;
    std::deque<AttemptPtr> queue_;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace sluice::client
