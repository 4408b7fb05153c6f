#include "domain/jobs/backoff.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace backoff_test {

using namespace std::chrono_literals;

constexpr double nearly_one = 1.0 - 0x1.0p-53;

TEST(NoBackoff, NeverWaits) {
    for (const int attempt : {0, 1, 2, 1000}) {
        EXPECT_EQ(Backoff::none().after(attempt, 0.5), 0s);
    }
}

TEST(ListBackoff, GivesEachRetryItsDelayAndTheLastOneToAllFurther) {
    const Backoff backoff = Backoff::list({1min, 5min, 15min});

    EXPECT_EQ(backoff.after(1, 0.9), 1min);
    EXPECT_EQ(backoff.after(2, 0.9), 5min);
    EXPECT_EQ(backoff.after(3, 0.9), 15min);
    EXPECT_EQ(backoff.after(4, 0.9), 15min);
    EXPECT_EQ(backoff.after(1000, 0.9), 15min);
}

TEST(ListBackoff, GivesTheFirstDelayToAnAttemptThatWasNeverMade) {
    const Backoff backoff = Backoff::list({1min, 5min});

    EXPECT_EQ(backoff.after(0, 0), 1min);
    EXPECT_EQ(backoff.after(-7, 0), 1min);
}

TEST(ListBackoff, DoesNotWaitWhenItIsEmpty) {
    EXPECT_EQ(Backoff::list({}).after(3, 0.5), 0s);
}

TEST(ExponentialBackoff, DoublesItsCeilingWithEachRetryUpToTheCap) {
    const Backoff backoff = Backoff::exponential(1s, 10s);

    EXPECT_EQ(backoff.after(1, 0.5), 500ms);
    EXPECT_EQ(backoff.after(2, 0.5), 1s);
    EXPECT_EQ(backoff.after(3, 0.5), 2s);
    EXPECT_EQ(backoff.after(4, 0.5), 4s);
    EXPECT_EQ(backoff.after(5, 0.5), 5s);
    EXPECT_EQ(backoff.after(1000, 0.5), 5s);
}

TEST(ExponentialBackoff, SpreadsOverTheWholeOfZeroToTheCeiling) {
    const Backoff backoff = Backoff::exponential(1s, 1min);

    EXPECT_EQ(backoff.after(1, 0), 0s);
    EXPECT_LT(backoff.after(1, nearly_one), 1s + 1us);
    EXPECT_GT(backoff.after(1, nearly_one), 999ms);
}

TEST(ExponentialBackoff, IsCappedFromTheStart) {
    EXPECT_EQ(Backoff::exponential(1h, 1s).after(1, 0.5), 500ms);
}

TEST(ExponentialBackoff, NeitherLoopsNorOverflowsAtTheEnds) {
    EXPECT_EQ(Backoff::exponential(0s, 1h).after(1000, 0.5), 0s);
    const Duration ten_years = 24h * 3660;
    EXPECT_EQ(Backoff::exponential(ten_years, ten_years).after(1000, 0.5), ten_years / 2);
    EXPECT_LE(Backoff::exponential(1us, ten_years).after(1000, nearly_one), ten_years);
}

TEST(BackoffEquality, LooksAtEverything) {
    EXPECT_EQ(Backoff::list({1s}), Backoff::list({1s}));
    EXPECT_NE(Backoff::list({1s}), Backoff::list({2s}));
    EXPECT_NE(Backoff::none(), Backoff::list({}));
    EXPECT_NE(Backoff::exponential(1s, 2s), Backoff::exponential(1s, 3s));
    EXPECT_NE(Backoff::exponential(1s, 2s), Backoff::exponential(2s, 2s));
}

}  // namespace backoff_test
}  // namespace sluice
