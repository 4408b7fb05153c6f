#include "infrastructure/queue/lease_clock.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace lease_clock_test {

constexpr Timestamp at(int seconds) {
    return from_micros(std::int64_t{seconds} * 1'000'000);
}

using Ids = std::vector<JobId>;

TEST(LeaseClock, GivesWhatRanOutTheEarliestFirst) {
    LeaseClock clock;
    clock.set(JobId{1}, at(30), never);
    clock.set(JobId{2}, at(10), never);
    clock.set(JobId{3}, at(20), never);

    EXPECT_EQ(clock.expired(at(9), 10), Ids{});
    EXPECT_EQ(clock.expired(at(20), 10), (Ids{{2}, {3}}));
    EXPECT_EQ(clock.expired(at(99), 2), (Ids{{2}, {3}}));
}

TEST(LeaseClock, WatchesDeadlinesApartFromLeases) {
    LeaseClock clock;
    clock.set(JobId{1}, at(100), at(5));
    clock.set(JobId{2}, at(1), never);

    EXPECT_EQ(clock.overdue(at(4), 10), Ids{});
    EXPECT_EQ(clock.overdue(at(5), 10), Ids{{1}});
    EXPECT_EQ(clock.overdue(at(5), 0), Ids{});
    EXPECT_EQ(clock.expired(at(5), 10), Ids{{2}});
}

TEST(LeaseClock, NeverGivesADeadlineOfNever) {
    LeaseClock clock;
    clock.set(JobId{1}, at(100), never);

    EXPECT_EQ(clock.overdue(never, 10), Ids{});
}

TEST(LeaseClock, MovesBothMomentsOfALease) {
    LeaseClock clock;
    clock.set(JobId{1}, at(10), at(20));

    clock.set(JobId{1}, at(30), at(40));

    EXPECT_EQ(clock.expired(at(29), 10), Ids{});
    EXPECT_EQ(clock.overdue(at(39), 10), Ids{});
    EXPECT_EQ(clock.next_due(), at(30));
}

TEST(LeaseClock, NextDueIsTheEarlierOfBothKinds) {
    LeaseClock clock;
    EXPECT_EQ(clock.next_due(), never);

    clock.set(JobId{1}, at(10), at(20));
    EXPECT_EQ(clock.next_due(), at(10));

    clock.set(JobId{2}, at(15), at(5));
    EXPECT_EQ(clock.next_due(), at(5));
}

TEST(LeaseClock, ForgetsWhatIsErasedOrCleared) {
    LeaseClock clock;
    clock.set(JobId{1}, at(10), at(20));
    clock.set(JobId{2}, at(11), at(21));

    clock.erase(JobId{1});
    clock.erase(JobId{7});

    EXPECT_FALSE(clock.contains(JobId{1}));
    EXPECT_TRUE(clock.contains(JobId{2}));
    EXPECT_EQ(clock.expired(at(99), 10), Ids{{2}});
    EXPECT_EQ(clock.overdue(at(99), 10), Ids{{2}});
    clock.clear();
    EXPECT_FALSE(clock.contains(JobId{2}));
    EXPECT_EQ(clock.next_due(), never);
}

}  // namespace lease_clock_test
}  // namespace sluice
