#include "interfaces/http/access/rate_limit.hpp"

#include <gtest/gtest.h>

#include "interfaces/http/access/limits_by_caller.hpp"

namespace sluice::http {
namespace rate_limit_test {

using namespace std::chrono_literals;

constexpr Timestamp start{std::chrono::hours(24 * 365 * 50)};

TEST(RateLimitTest, AllowsABurstAndThenOneForEachShareOfTheWindow) {
    RateLimit limit(4, 1s);
    for (int left = 3; left >= 0; --left) {
        const auto verdict = limit.take("a", start);
        EXPECT_TRUE(verdict.is_allowed);
        EXPECT_EQ(verdict.left, left);
    }
    const auto refused = limit.take("a", start);
    EXPECT_FALSE(refused.is_allowed);
    EXPECT_EQ(refused.until_more, 250ms);

    EXPECT_FALSE(limit.take("a", start + 249ms).is_allowed);
    EXPECT_TRUE(limit.take("a", start + 250ms).is_allowed);
    EXPECT_FALSE(limit.take("a", start + 250ms).is_allowed);
}

TEST(RateLimitTest, DoesNotChargeForWhatItRefuses) {
    RateLimit limit(1, 1s);
    EXPECT_TRUE(limit.take("a", start).is_allowed);
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(limit.take("a", start + 500ms).is_allowed);
    EXPECT_TRUE(limit.take("a", start + 1s).is_allowed);
}

TEST(RateLimitTest, KeepsCallersApart) {
    RateLimit limit(1, 1h);
    EXPECT_TRUE(limit.take("a", start).is_allowed);
    EXPECT_TRUE(limit.take("b", start).is_allowed);
    EXPECT_FALSE(limit.take("a", start).is_allowed);
}

TEST(RateLimitTest, SavesNoMoreThanAWindow) {
    RateLimit limit(2, 1s);
    EXPECT_TRUE(limit.take("a", start).is_allowed);
    int allowed = 0;
    for (int i = 0; i < 10; ++i) allowed += limit.take("a", start + 1h).is_allowed ? 1 : 0;
    EXPECT_EQ(allowed, 2);
}

TEST(RateLimitTest, OfZeroIsNone) {
    RateLimit limit(0, 1s);
    EXPECT_FALSE(limit.is_on());
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(limit.take("a", start).is_allowed);
}

TEST(RateLimitTest, RemembersWhoIsOverItWhileManyOthersComeAndGo) {
    RateLimit limit(1, 1min);
    EXPECT_TRUE(limit.take("greedy", start).is_allowed);
    for (int i = 0; i < 9'000; ++i) limit.take("early " + std::to_string(i), start - 1h);
    for (int i = 0; i < 5'000; ++i) limit.take("late " + std::to_string(i), start + 1s);
    EXPECT_FALSE(limit.take("greedy", start + 2s).is_allowed);
}

TEST(HoldingsTest, GiveAPlaceBackWhenItsLastHolderIsGone) {
    Holdings holdings;
    Holdings::Share first = holdings.take("a", 2);
    const Holdings::Share second = holdings.take("a", 2);
    EXPECT_TRUE(first && second);
    EXPECT_FALSE(holdings.take("a", 2));
    EXPECT_TRUE(holdings.take("b", 2));
    EXPECT_TRUE(holdings.take("a", 0));

    Holdings::Share copy = first;
    first.reset();
    EXPECT_FALSE(holdings.take("a", 2));
    copy.reset();
    EXPECT_TRUE(holdings.take("a", 2));
}

TEST(HoldingsTest, MayGoBeforeTheirPlaces) {
    Holdings::Share share;
    {
        Holdings holdings;
        share = holdings.take("a", 1);
    }
    share.reset();
}

}  // namespace rate_limit_test
}  // namespace sluice::http
