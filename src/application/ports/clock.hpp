#pragma once

#include "domain/values/time.hpp"

namespace sluice {

class Clock {
  public:
    virtual ~Clock() = default;

    // Never goes back, and moves with real time even when the system's clock is set.
    virtual Timestamp now() = 0;
};

}  // namespace sluice
