#pragma once

#include <map>
#include <mutex>

#include "infrastructure/postgres/hint_message.hpp"

namespace sluice::postgres {

// Where committing threads leave what the watch is to know, and what wakes it. Thread-safe; nobody
// waits for anybody.
class Outbox {
  public:
    Outbox();
    ~Outbox();
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;

    // Adds to what the others are to hear, and wakes the watch if that was nothing before.
    void put(const std::map<LaneId, int>& readied, Timestamp due);
    // All that was put since the last time, as one.
    HintMessage take();
    bool is_empty() const;

    // Readable from a wake() until the next forget_wakes().
    int wake_fd() const { return wake_fd_; }
    void wake();
    void forget_wakes();

  private:
    bool has_nothing() const { return waiting_.readied.empty() && waiting_.due == never; }

    const int wake_fd_;
    mutable std::mutex mutex_;
    HintMessage waiting_;
};

}  // namespace sluice::postgres
