#pragma once

namespace sluice::cli {

// While one exists, Ctrl-C sets a flag instead of ending the program. A second Ctrl-C ends it.
class InterruptWatch {
  public:
    InterruptWatch();
    ~InterruptWatch();
    InterruptWatch(const InterruptWatch&) = delete;
    InterruptWatch& operator=(const InterruptWatch&) = delete;

    static bool interrupted();
};

}  // namespace sluice::cli
