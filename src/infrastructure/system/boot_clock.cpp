#include "infrastructure/system/boot_clock.hpp"

#include <time.h>

namespace sluice {

Duration since_boot() {
    timespec time{};
    clock_gettime(CLOCK_BOOTTIME, &time);
    return std::chrono::duration_cast<Duration>(std::chrono::seconds(time.tv_sec) +
                                                std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace sluice
