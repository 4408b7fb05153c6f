#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

namespace sluice::worker {

// A lock that threads get in the order of their calls of lock(); for std::lock_guard.
class TurnTaking {
  public:
    void lock() {
        std::unique_lock guard(mutex_);
        if (!is_taken_) {
            is_taken_ = true;
            return;
        }
        Waiter waiter;
        waiters_.push_back(&waiter);
        waiter.changed.wait(guard, [&] { return waiter.has_turn; });
    }

    void unlock() {
        const std::lock_guard guard(mutex_);
        if (waiters_.empty()) {
            is_taken_ = false;
            return;
        }
        Waiter& next = *waiters_.front();
        waiters_.pop_front();
        next.has_turn = true;
        next.changed.notify_one();
    }

  private:
    struct Waiter {
        std::condition_variable changed{};
        bool has_turn = false;
    };

    std::mutex mutex_;
    bool is_taken_ = false;
    std::deque<Waiter*> waiters_;
};

}  // namespace sluice::worker
