#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "client/engine_contact.hpp"
#include "client/live_attempts.hpp"
#include "client/repeat_pause.hpp"

namespace sluice::client {

// Tells the engine how attempts ended, many in one call, again and again until it has taken it or
// the lease is surely over.
class Reporter {
  public:
    // `done` is called with an attempt that needs nothing any more.
    Reporter(Desk& desk, EngineContact& contact, std::function<void(const AttemptPtr&)> done);
    ~Reporter() { stop(); }
    Reporter(const Reporter&) = delete;
    Reporter& operator=(const Reporter&) = delete;

    void start();
    void stop();  // waits for a call that is under way

    // Does what the attempt's ending says.
    void push(AttemptPtr attempt);

  private:
    void run();
    std::vector<AttemptPtr> next_batch();
    void send(std::vector<AttemptPtr> batch);
    bool report(std::vector<AttemptPtr>& batch);
    bool take_words(std::vector<AttemptPtr>& batch, const std::vector<LeaseWord>& words);
    bool report_refusal(std::vector<AttemptPtr>& batch, std::string_view why);
    bool report_each(std::vector<AttemptPtr>& batch);
    bool hand_back(const AttemptPtr& attempt);
    void close(const AttemptPtr& attempt, LeaseWord word);
    void drop(const AttemptPtr& attempt, std::string_view why);
    void try_later(std::vector<AttemptPtr> batch);

    Desk& desk_;
    EngineContact& contact_;
    const std::function<void(const AttemptPtr&)> done_;
    RepeatPause pause_;
    Millis asked_pause_{};
    std::mutex mutex_;
    std::condition_variable pushed_;
    std::deque<AttemptPtr> queue_;
    bool stop_ = false;
    std::thread thread_;
};

}  // namespace sluice::client
