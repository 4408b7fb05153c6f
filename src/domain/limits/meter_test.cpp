#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "support/meters.hpp"

namespace sluice {
namespace meter_test {

using namespace std::chrono_literals;
using namespace meters;

TEST(Meter, WithoutBoundsHasRoomForEverything) {
    EXPECT_EQ(room_of(LimitRule{.id = "r"}, {}, start).count, unbounded);
}

TEST(Meter, HasRoomUpToTheNumberThatMayBeActive) {
    LimitRule rule{.id = "r"};
    rule.max_active = 2;
    MeterState meter;

    EXPECT_TRUE(try_start(rule, meter, start));
    EXPECT_TRUE(try_start(rule, meter, start));
    const Room room = room_of(rule, meter, start);
    EXPECT_EQ(room.count, 0);
    EXPECT_EQ(room.bound, Bound::active);
    EXPECT_EQ(room.look_again, never);
    EXPECT_FALSE(room.not_before);

    note_end(rule, meter);
    EXPECT_EQ(room_of(rule, meter, start).count, 1);
}

TEST(Meter, OfALoweredLimitHasNoRoomRatherThanLessThanNone) {
    LimitRule rule{.id = "r"};
    rule.max_active = 1;

    EXPECT_EQ(room_of(rule, {.active = 5}, start).count, 0);
}

TEST(Meter, HasNoRoomDuringAPauseUntilItsEnd) {
    LimitRule rule{.id = "r"};
    rule.paused = true;
    EXPECT_EQ(room_of(rule, {}, start).look_again, never);

    rule.until = start + 1h;
    EXPECT_EQ(room_of(rule, {}, start).count, 0);
    EXPECT_EQ(room_of(rule, {}, start).not_before, start + 1h);
    EXPECT_EQ(room_of(rule, {}, start).look_again, start + 1h);
    EXPECT_EQ(room_of(rule, {}, start + 1h).count, unbounded);
}

TEST(Meter, SaysWhenTheNextTokenComes) {
    const LimitRule rule = with_rate(1, 10s, 2);
    MeterState meter;
    note_start(rule, meter, start);
    note_start(rule, meter, start + 1s);

    const Room room = room_of(rule, meter, start + 1s);

    EXPECT_EQ(room.count, 0);
    EXPECT_EQ(room.bound, Bound::rate);
    EXPECT_EQ(room.not_before, start + 10s);
    EXPECT_EQ(room.look_again, start + 10s);
    EXPECT_EQ(room_of(rule, meter, start + 10s).count, 1);
    EXPECT_EQ(room_of(rule, meter, start + 20s).count, 2);
    EXPECT_EQ(room_of(rule, meter, start + 10h).count, 2) << "it never holds more than a burst";
}

TEST(Meter, ThatWaitsForTwoBoundsNamesTheLaterMoment) {
    LimitRule rule = with_rate(1, 10s, 1);
    rule.rate->whole_hour = true;
    MeterState meter;
    note_start(rule, meter, start);

    const Room room = room_of(rule, meter, start);

    EXPECT_EQ(room.bound, Bound::hour);
    EXPECT_GT(*room.not_before, start + 59min);
    EXPECT_EQ(room_of(rule, meter, room.look_again).count, 1);
    EXPECT_EQ(room_of(rule, meter, room.look_again - 1us).count, 0);
}

// The promise of a rate: no window of any length sees more starts than a burst and what comes back
// in that time. And a claim that always asks again when it was told to uses all of the rate.
TEST(Meter, KeepsItsRateOverRandomArrivals) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](int end) {
            return std::uniform_int_distribution(0, end - 1)(random);
        };
        const LimitRule rule = with_rate(1 + below(50), from_millis(1 + below(5000)), 1 + below(9));
        const double per_micro =
            static_cast<double>(rule.rate->count) / static_cast<double>(rule.rate->period.count());
        MeterState meter;
        std::vector<Timestamp> starts;
        Timestamp now = start;
        for (int i = 0; i < 400; ++i) {
            now += Duration{below(3) == 0 ? below(2'000'000) : below(2000)};
            while (below(4) != 0 && try_start(rule, meter, now)) starts.push_back(now);
        }
        for (std::size_t first = 0; first < starts.size(); ++first) {
            for (std::size_t last = first; last < starts.size(); ++last) {
                const auto passed = static_cast<double>((starts[last] - starts[first]).count());
                const double most = static_cast<double>(rule.rate->burst) + passed * per_micro;
                ASSERT_LE(static_cast<double>(last - first + 1), most + 1e-6) << "seed " << seed;
            }
        }
    }
}

TEST(Meter, GivesAllOfItsRateToWhoAlwaysAsksInTime) {
    const LimitRule rule = with_rate(1000, 1s, 10);
    MeterState meter;
    int started = 0;
    for (Timestamp now = start; now < start + 10s; now += 5ms) {
        while (try_start(rule, meter, now)) ++started;
    }
    EXPECT_GE(started, 9700);
    EXPECT_LE(started, 10'010);
}

TEST(Meter, OfAWholeHourKeepsItsNumberInEveryHour) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](int end) {
            return std::uniform_int_distribution(0, end - 1)(random);
        };
        LimitRule rule = with_rate(1 + below(40), 1h, 1 + below(60));
        rule.rate->whole_hour = true;
        MeterState meter;
        std::deque<Timestamp> last_hour;
        Timestamp now = start;
        for (int i = 0; i < 4000; ++i) {
            now += Duration{std::int64_t{below(120'000'000)}};
            if (!try_start(rule, meter, now)) continue;
            last_hour.push_back(now);
            while (last_hour.front() <= now - 1h) last_hour.pop_front();
            ASSERT_LE(std::ssize(last_hour), rule.rate->count) << "seed " << seed;
        }
    }
}

// Two nodes whose times differ by a millisecond: a slot ends for one of them first.
TEST(Meter, OfAWholeHourKeepsItsNumberInEveryHourBetweenNodes) {
    LimitRule rule = with_rate(30, 1h, 60);
    rule.rate->whole_hour = true;
    MeterState meter;
    std::deque<Timestamp> last_hour;
    for (Timestamp now = start; now < start + 5h; now += 30s) {
        for (const Duration late : {0ms, 1ms, 0ms}) {
            if (!try_start(rule, meter, now - late)) continue;
            last_hour.push_back(now);
            while (last_hour.front() <= now - 1h) last_hour.pop_front();
            ASSERT_LE(std::ssize(last_hour), rule.rate->count);
        }
    }
}

TEST(Meter, ThatIsClosedByTimeAloneOpensWhenItSaysSo) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](int end) {
            return std::uniform_int_distribution(0, end - 1)(random);
        };
        LimitRule rule = with_rate(1 + below(20), from_millis(1 + below(3'600'000)), 1 + below(9));
        rule.rate->whole_hour = below(2) == 0;
        if (rule.rate->whole_hour) rule.rate->period = 1h;
        MeterState meter;
        Timestamp now = start;
        for (int i = 0; i < 100; ++i) {
            while (try_start(rule, meter, now)) continue;
            const Timestamp opens = room_of(rule, meter, now).look_again;
            ASSERT_GT(opens, now);
            ASSERT_EQ(room_of(rule, meter, opens - 1us).count, 0) << "seed " << seed;
            ASSERT_GE(room_of(rule, meter, opens).count, 1) << "seed " << seed;
            now = opens + Duration{below(1000)};
        }
    }
}

// ── the clock, and other rules ──

TEST(Meter, AfterTheClockWasSetBackFillsFromThereOn) {
    const LimitRule rule = with_rate(1, 10s, 3);
    MeterState meter;
    for (int i = 0; i < 3; ++i) note_start(rule, meter, start);

    const Timestamp earlier = start - 24h;
    settle(rule, meter, earlier);

    EXPECT_EQ(room_of(rule, meter, earlier).count, 0);
    EXPECT_EQ(room_of(rule, meter, earlier + 10s).count, 1);
    EXPECT_EQ(room_of(rule, meter, earlier + 30s).count, 3);
}

TEST(Meter, AfterTheClockWasSetBackCountsTheStartsOfTheHourAsOfNow) {
    LimitRule rule = with_rate(2, 1h, 2);
    rule.rate->whole_hour = true;
    MeterState meter;
    note_start(rule, meter, start);
    note_start(rule, meter, start);

    const Timestamp earlier = start - 24h;
    settle(rule, meter, earlier);

    EXPECT_EQ(meter.starts.sum(earlier), 2);
    EXPECT_EQ(meter.starts.sum(earlier + 59min), 2);
    EXPECT_EQ(meter.starts.sum(earlier + 62min), 0);
}

TEST(Meter, OfARuleThatBecameQuickerFillsAtTheNewRate) {
    MeterState meter;
    note_start(with_rate(1, 1h, 1), meter, start);
    const LimitRule quicker = with_rate(1, 1s, 1);

    settle(quicker, meter, start);

    EXPECT_EQ(room_of(quicker, meter, start).count, 0);
    EXPECT_EQ(room_of(quicker, meter, start + 1s).count, 1);
}

TEST(Meter, LacksAsManyTokensAfterItsRateWasChanged) {
    const LimitRule slow = with_rate(120, 1h, 2);
    MeterState meter;
    note_start(slow, meter, start);
    note_start(slow, meter, start);
    const LimitRule quick = with_rate(600, 1h, 10);
    MeterState raised = meter;
    follow_rate(*slow.rate, *quick.rate, raised, start);
    EXPECT_EQ(room_of(quick, raised, start).count, 8);
    EXPECT_EQ(room_of(quick, raised, start + 6s).count, 9);

    MeterState lowered = raised;
    follow_rate(*quick.rate, *slow.rate, lowered, start + 3s);
    EXPECT_EQ(room_of(slow, lowered, start + 3s).count, 0);
    EXPECT_EQ(room_of(slow, lowered, start + 18s).count, 1);
    EXPECT_EQ(room_of(slow, lowered, start + 48s).count, 2);
}

TEST(Meter, NeverHasMoreTokensAfterItsRateWasChangedThanBothRatesAllow) {
    for (unsigned seed = 1; seed <= 500; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](int end) {
            return std::uniform_int_distribution(0, end - 1)(random);
        };
        const auto any_rate = [&] {
            return with_rate(1 + below(below(4) == 0 ? 1'000'000'000 : 50),
                             from_millis(1 + below(86'400'000)), 1 + below(20));
        };
        const LimitRule before = any_rate();
        const LimitRule after = any_rate();
        MeterState meter;
        for (int i = below(25); i > 0; --i) try_start(before, meter, start);
        const Timestamp now = start + Duration{below(10'000)};
        const std::int64_t missing = before.rate->burst - tokens_of(*before.rate, meter, now);

        follow_rate(*before.rate, *after.rate, meter, now);

        EXPECT_EQ(tokens_of(*after.rate, meter, now),
                  std::max<std::int64_t>(0, after.rate->burst - missing))
            << "seed " << seed;
    }
}

TEST(Meter, SettlesWithoutAnEffectWhereNothingHasChanged) {
    LimitRule rule = with_rate(5, 1min, 3);
    rule.rate->whole_hour = true;
    MeterState meter;
    note_start(rule, meter, start);
    const MeterState before = meter;

    settle(rule, meter, start + 1s);

    EXPECT_EQ(meter, before);
    EXPECT_FALSE(is_rested(meter, start + 1s));
    EXPECT_TRUE(is_rested(meter, start + 2h));
}

TEST(Meter, StartsOfTheHourAreTheSameWrittenAndRead) {
    StartsOfHour starts;
    EXPECT_EQ(starts.text(), "");
    starts.add(start, 3);
    starts.add(start + 31s, 1);
    starts.add(start + 50min, 7);

    EXPECT_EQ(StartsOfHour::parse(starts.text()), starts);
    EXPECT_EQ(starts.sum(start + 50min), 11);
    EXPECT_EQ(StartsOfHour::parse(""), StartsOfHour());
    EXPECT_EQ(StartsOfHour::parse("7:1,1:2,-5:3"), StartsOfHour::parse("7:1,1:2"));
    for (const char* damaged : {"x", "9223372036854775807:1,9223372036854775807:1", "1", "1:", ":",
                                "1:2,", "1:2;3:4", ",,"}) {
        StartsOfHour::parse(damaged);
    }
}

TEST(Meter, AnyStartsOfTheHourAreTheSameWrittenAndReadAndShort) {
    for (unsigned seed = 1; seed <= 500; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](int end) {
            return std::uniform_int_distribution(0, end - 1)(random);
        };
        StartsOfHour starts;
        Timestamp now = below(10) == 0 ? Timestamp{} : start;
        for (int i = below(300); i > 0; --i) {
            starts.add(now, 1 + below(below(4) == 0 ? 1'000'000 : 5));
            now += Duration{std::int64_t{below(below(3) == 0 ? 600 : 60)} * 1'000'000};
            if (below(50) == 0) now -= 10min;
            ASSERT_EQ(StartsOfHour::parse(starts.text()), starts) << "seed " << seed;
        }
    }
    StartsOfHour steady;
    for (int i = 0; i < 200; ++i) steady.add(start + i * 30s, 9);
    EXPECT_LT(steady.text().size(), 500u);
}

}  // namespace meter_test
}  // namespace sluice
