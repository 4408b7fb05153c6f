#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "client/runner/live_attempts.hpp"

namespace sluice::client {

// Threads that run attempts, one each, started as they are needed. A thread that is inside a worker
// cannot be ended: each keeps the slots and their work alive until it has returned.
class Slots : public std::enable_shared_from_this<Slots> {
  public:
    struct Work {
        std::function<Ending(const AttemptPtr&)> run{};
        // Called after `run`, just before the slot is free again.
        std::function<void(const AttemptPtr&, Ending)> ended{};
    };

    Slots(int count, Work work) : count_(count), work_(std::move(work)) {}

    // Starts the first thread; throws std::system_error.
    void open();

    // Waits until some slots are free, and returns how many; 0: close() was called.
    int wait_for_free();

    // False: the slots are closed, and take no attempts.
    bool push(const std::vector<AttemptPtr>& attempts);

    // No more attempts come. Threads end when they have run the waiting ones.
    void close();

    // Waits for the threads that end after close(), and leaves alone those that are inside a
    // worker.
    void join();

    int busy() const;

  private:
    struct Thread {
        std::thread thread{};
        bool has_ended = false;
    };

    void start_thread();
    void serve(Thread& own);
    void call_one();

    const int count_;
    const Work work_;
    mutable std::mutex mutex_;
    std::condition_variable pushed_;
    std::condition_variable freed_;
    std::condition_variable ended_;
    std::deque<AttemptPtr> waiting_;
    std::list<Thread> threads_;
    int busy_ = 0;              // attempts that wait or run
    int idle_ = 0;              // threads that wait for an attempt
    bool any_will_do_ = false;  // wait_for_free() returns with any free slot
    bool is_closed_ = false;
};

}  // namespace sluice::client
