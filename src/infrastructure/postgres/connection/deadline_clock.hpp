#pragma once

#include <algorithm>
#include <chrono>

namespace sluice::postgres {

// How much of a patience is left. For waits on a socket, which no use case can see.
class Deadline {
  public:
    using Millis = std::chrono::milliseconds;

    explicit Deadline(Millis patience) : end_(Clock::now() + patience) {}

    // Rounded up, so that a wait is not cut into many short ones at its end.
    Millis left() const {
        return std::max(Millis{0}, std::chrono::ceil<Millis>(end_ - Clock::now()));
    }

  private:
    using Clock = std::chrono::steady_clock;

    Clock::time_point end_;
};

}  // namespace sluice::postgres
