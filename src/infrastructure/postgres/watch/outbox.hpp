#pragma once

#include <map>
#include <mutex>

#include "infrastructure/postgres/watch/hint_message.hpp"

namespace sluice::postgres {

// Messages from committing threads to the watch, and the wake-up for it. Thread-safe; no call
// waits.
class Outbox {
  public:
    Outbox();
    ~Outbox();
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;

    // Adds to the message for other nodes, and wakes the watch if there was none before.
    void put(const HintMessage& news);
    // Everything that was put since the last take(), as one message.
    HintMessage take();
    bool is_empty() const;

    // Readable from a wake() until the next forget_wakes().
    int wake_fd() const { return wake_fd_; }
    void wake();
    void forget_wakes();

  private:
    bool has_nothing() const { return waiting_ == HintMessage{}; }

    const int wake_fd_;
    mutable std::mutex mutex_;
    HintMessage waiting_;
};

}  // namespace sluice::postgres
