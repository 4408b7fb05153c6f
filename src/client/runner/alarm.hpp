#pragma once

#include "client/link/boot_time.hpp"

namespace sluice::client {

// Lets one thread sleep until a moment of the boot clock or until call(). The sleep of the machine
// counts, so that moments that passed meanwhile are noticed when it wakes up.
class Alarm {
  public:
    Alarm();  // throws std::system_error
    ~Alarm();
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    // Ends the sleep, or the next one. From any thread, and from a signal handler.
    void call() const;

    void sleep_until(BootTime moment);

  private:
    int calls_;
    int timer_;
};

}  // namespace sluice::client
