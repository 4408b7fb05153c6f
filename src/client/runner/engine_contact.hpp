#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "client/runner/attempt.hpp"

namespace sluice::client {

// Tells the operator whether the engine can be reached. Any thread.
class EngineContact {
  public:
    enum Errand : unsigned { claims = 1, heartbeats = 2, logs = 4, reports = 8 };
    using Notice = std::function<void(Level, const std::string&)>;

    explicit EngineContact(Notice notice) : notice_(std::move(notice)) {}

    // One notice when calls begin to fail and one when all kinds of calls succeed again, however
    // many calls fail between.
    void failed(Errand errand, const std::string& why);
    void answered(Errand errand);  // or it has nothing left to send

    // Gives up an attempt whose lease is gone, and gives one notice.
    void lease_lost(Attempt& attempt, std::string_view how) const;

    void tell(Level level, const std::string& what) const {
        if (notice_) notice_(level, what);
    }
    void tell(Level level, const Attempt& attempt, std::string_view what) const;

  private:
    const Notice notice_;
    std::mutex mutex_;
    unsigned failing_ = 0;  // errands whose last call failed
};

}  // namespace sluice::client
