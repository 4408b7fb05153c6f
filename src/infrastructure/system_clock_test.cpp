#include "infrastructure/system_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace sluice {
namespace {

using std::chrono::milliseconds;

Timestamp machine_time() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

TEST(SystemClock, StartsAtTheRightTimeAlsoWhenItsProcessLosesItsTurn) {
    int asked = 0;
    SystemClock clock([&] {
        if (++asked == 1) std::this_thread::sleep_for(milliseconds(200));
        return machine_time();
    });

    const Duration ahead = clock.now() - machine_time();

    EXPECT_LT(ahead, milliseconds(100));
}

}  // namespace
}  // namespace sluice
