#pragma once

#include <algorithm>
#include <random>

#include "sluice/error.hpp"
#include "sluice/job.hpp"

namespace sluice::client {

// How long to wait before a call is sent again: twice as long each time, up to a limit, and random,
// so that workers that failed at the same moment spread.
class RepeatPause {
  public:
    explicit RepeatPause(Millis longest) : longest_(longest) {}

    Millis next(Millis asked_for = Millis{0}) {
        std::uniform_int_distribution<std::int64_t> jitter(length_.count() / 2, length_.count());
        const Millis pause(jitter(dice_));
        length_ = std::min(length_ * 2, longest_);
        return std::clamp(asked_for, pause, longest_);
    }
    void reset() { length_ = std::min(shortest, longest_); }

  private:
    static constexpr Millis shortest{100};

    Millis longest_;
    Millis length_ = std::min(shortest, longest_);
    std::minstd_rand dice_{std::random_device()()};
};

// Whether a call that failed like this may succeed later, unchanged: the engine is away or too
// busy, or its operator is changing permissions.
inline bool is_passing(const Error& error) {
    const int status = error.status();
    return error.may_be_repeated() || status == 401 || status == 403 || status == 408 ||
           status == 429 || status >= 500;
}

}  // namespace sluice::client
