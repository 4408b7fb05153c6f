#include "infrastructure/system/system_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace sluice {
namespace system_clock_test {

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

TEST(SystemClock, FollowsItsReferenceWithoutJumping) {
    Timestamp reference = from_micros(1'000'000'000'000'000);
    Duration boot = std::chrono::hours(1);
    SystemClock clock([&] { return reference; }, [&] { return boot; });
    const Timestamp start = clock.now();

    reference += std::chrono::hours(2);
    boot += std::chrono::seconds(10);

    EXPECT_EQ(clock.now(), start + milliseconds(10'100));
}

TEST(SystemClock, FollowsAnEvenReferenceAtOnceWhenItWasWrong) {
    Timestamp reference = from_micros(1'000'000'000'000'000);
    Duration boot = std::chrono::hours(1);
    SystemClock clock([&] { return reference; }, [&] { return boot; }, milliseconds(500));

    for (const Duration step :
         {Duration(std::chrono::hours(2)), -Duration(std::chrono::hours(2))}) {
        reference += step;
        boot += milliseconds(1);
        EXPECT_EQ(clock.now(), reference);
    }
    reference += milliseconds(400);
    boot += milliseconds(100);
    EXPECT_EQ(clock.now(), reference - milliseconds(299)) << "a little at a time";
}

}  // namespace system_clock_test
}  // namespace sluice
