#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "client/link/repeat_pause.hpp"
#include "client/runner/engine_contact.hpp"
#include "client/runner/live_attempts.hpp"

namespace sluice::client {

// Reports to the engine how attempts ended, many in one call, again and again until it has taken
// the report or the lease is surely over.
class Reporter {
  public:
    // `done` is called with an attempt that is finished.
    Reporter(Desk& desk, EngineContact& contact, std::function<void(const AttemptPtr&)> done);
    ~Reporter() { stop(); }
    Reporter(const Reporter&) = delete;
    Reporter& operator=(const Reporter&) = delete;

    void start();
    void stop();  // waits for a call that is under way

    // Reports or releases the attempt, as its Ending says.
    void push(AttemptPtr attempt);

  private:
    void run();
    std::vector<AttemptPtr> next_batch();
    void send(std::vector<AttemptPtr> batch);
    bool report(std::vector<AttemptPtr>& batch);
    bool take_answers(std::vector<AttemptPtr>& batch, const std::vector<LeaseAnswer>& answers);
    bool report_refusal(std::vector<AttemptPtr>& batch, std::string_view why);
    bool report_each(std::vector<AttemptPtr>& batch);
    bool hand_back(const AttemptPtr& attempt);
    void close(const AttemptPtr& attempt, LeaseAnswer answer);
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
