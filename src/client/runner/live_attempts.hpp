#pragma once

#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "client/runner/attempt.hpp"

namespace sluice::client {

using AttemptPtr = std::shared_ptr<Attempt>;

// The attempts whose leases this process holds. Any thread.
class LiveAttempts {
  public:
    void add(const AttemptPtr& attempt) {
        const std::lock_guard lock(mutex_);
        attempts_.insert(attempt);
    }
    void remove(const AttemptPtr& attempt) {
        const std::lock_guard lock(mutex_);
        attempts_.erase(attempt);
    }
    std::vector<AttemptPtr> all() const {
        const std::lock_guard lock(mutex_);
        return {attempts_.begin(), attempts_.end()};
    }
    std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return attempts_.size();
    }

  private:
    mutable std::mutex mutex_;
    std::unordered_set<AttemptPtr> attempts_;
};

}  // namespace sluice::client
