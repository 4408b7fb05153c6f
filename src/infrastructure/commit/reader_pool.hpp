#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "application/ports/query_queue.hpp"

namespace sluice {

// A few threads, each with its own reader, that answer questions in parallel to the committing
// thread.
class ReaderPool : public QueryQueue {
  public:
    // `deliver` is called on the pool's threads with tasks for the I/O thread, which runs none of
    // them after the pool is gone. While too many wait there, no further question is answered.
    using Deliver = std::function<void(std::function<void()> task)>;

    ReaderPool(Store& store, int threads, Deliver deliver);

    // Stops after the questions that are being answered; waiting questions are dropped unanswered.
    ~ReaderPool() override;

  protected:
    bool run(std::function<Delivery(JobReader&)> work) override;
    void note_health(const std::string& failure) override;

  private:
    void serve();
    void note_delivered();

    Store& store_;
    Deliver deliver_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<std::function<Delivery(JobReader&)>> waiting_;
    int undelivered_ = 0;  // answers that are being made, or have not reached the I/O thread
    bool stop_ = false;
    std::atomic<bool> fails_ = false;
    std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace sluice
