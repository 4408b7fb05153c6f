#include "infrastructure/postgres/database_time.hpp"

#include <gtest/gtest.h>

#include "infrastructure/system_clock.hpp"
#include "tests/support/postgres.hpp"

namespace sluice::postgres {
namespace {

using namespace std::chrono_literals;

// Server and test run on one machine.
TEST(DatabaseTime, IsThatOfTheServer) {
    Connection connection({.url = test_server_url()});
    SystemClock machine;

    const Duration off = database_now(connection) - machine.now();

    EXPECT_LT(std::chrono::abs(off), 50ms);
}

TEST(DatabaseTime, GoesOnFromWhereItWasSet) {
    const Timestamp past = from_micros(1'000'000'000'000'000);
    DatabaseTime time(past);
    const Timestamp first = time.now();
    EXPECT_GE(first, past);
    EXPECT_LT(first, past + 1s);

    time.set(past + 1h);
    EXPECT_GE(time.now(), past + 1h);
    EXPECT_LT(time.now(), past + 1h + 1s);
}

TEST(SystemClock, FollowsItsReferenceWithoutJumping) {
    const Timestamp past = from_micros(1'000'000'000'000'000);
    DatabaseTime time(past);
    SystemClock clock([&] { return time.now(); });
    const Timestamp before = clock.now();
    EXPECT_LT(before, past + 1s);

    time.set(past + 1h);

    EXPECT_GE(clock.now(), before);
    EXPECT_LT(clock.now(), past + 1s);
}

}  // namespace
}  // namespace sluice::postgres
