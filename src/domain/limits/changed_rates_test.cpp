// What buckets lack when the rates of their rules are changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/meters.hpp"

namespace sluice {
namespace changed_rates_test {

using namespace std::chrono_literals;
using namespace meters;

TEST(ChangedRate, ThatIsLoweredAndRaisedAgainIsNotRefilled) {
    const LimitRule quick = with_rate(6000, 1h, 100);
    const LimitRule slow = with_rate(60, 1h, 1);
    MeterState meter;
    const auto change = [&](const LimitRule& from, const LimitRule& to, Timestamp now) {
        follow_rate(*from.rate, *to.rate, meter, now);
        settle(to, meter, now);
    };
    while (try_start(quick, meter, start)) continue;

    change(quick, slow, start);
    EXPECT_FALSE(is_rested(meter, start + 90min)) << "what is missing is kept as long";
    EXPECT_EQ(room_of(slow, meter, start).look_again, start + 1min) << "it is not closed for hours";
    change(slow, quick, start + 1s);
    EXPECT_EQ(room_of(quick, meter, start + 1s).count, 0);

    change(quick, slow, start + 1s);
    EXPECT_TRUE(try_start(slow, meter, start + 62s));
    EXPECT_FALSE(try_start(slow, meter, start + 62s));
    change(slow, quick, start + 63s);
    EXPECT_EQ(room_of(quick, meter, start + 63s).count, 0) << "one came back, and one started";
    EXPECT_EQ(room_of(quick, meter, start + 64s).count, 1);
}

TEST(ChangedRate, WithASmallerBucketAndThenTheFormerOneIsNotRefilledEither) {
    const LimitRule large = with_rate(60, 1h, 100);
    const LimitRule small = with_rate(60, 1h, 1);
    MeterState meter;
    while (try_start(large, meter, start)) continue;

    follow_rate(*large.rate, *small.rate, meter, start);
    settle(small, meter, start);
    follow_rate(*small.rate, *large.rate, meter, start);

    EXPECT_EQ(room_of(large, meter, start).count, 0);
    EXPECT_EQ(room_of(large, meter, start + 1min).count, 1);
}

// The promise of a rate that people change: in any time no more start than the largest of its
// buckets holds and what comes back by the rates in force meanwhile; and while one of them is in
// force, no more than it says by itself.
TEST(ChangedRate, KeepsItsPromiseWhateverItIsChangedTo) {
    struct Started {
        double came_back = 0;  // tokens since the beginning
        double burst = 0;      // the largest so far
        int rule = 0;
    };
    for (unsigned seed = 1; seed <= 100; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](int end) {
            return std::uniform_int_distribution(0, end - 1)(random);
        };
        const auto any_rate = [&] {
            return with_rate(1 + below(50), from_millis(1 + below(5000)),
                             1 + below(below(3) == 0 ? 40 : 3));
        };
        LimitRule rule = any_rate();
        MeterState meter;
        std::vector<Started> starts;
        Started present{.burst = static_cast<double>(rule.rate->burst)};
        Timestamp now = start;
        std::vector<double> bursts{present.burst};
        for (int i = 0; i < 300; ++i) {
            const Duration step{below(4) == 0 ? below(300'000) : below(2000)};
            now += step;
            present.came_back += static_cast<double>(step.count()) *
                                 static_cast<double>(rule.rate->count) /
                                 static_cast<double>(rule.rate->period.count());
            if (below(5) == 0) {
                const LimitRule after = any_rate();
                follow_rate(*rule.rate, *after.rate, meter, now);
                settle(after, meter, now);
                rule = after;
                bursts.push_back(static_cast<double>(rule.rate->burst));
                present.burst = std::max(present.burst, bursts.back());
                ++present.rule;
            }
            while (below(4) != 0 && try_start(rule, meter, now)) starts.push_back(present);
        }
        for (std::size_t first = 0; first < starts.size(); ++first) {
            for (std::size_t last = first; last < starts.size(); ++last) {
                const bool is_one = starts[first].rule == starts[last].rule;
                const double burst = is_one ? bursts[static_cast<std::size_t>(starts[last].rule)]
                                            : starts[last].burst;
                const double gained = starts[last].came_back - starts[first].came_back;
                ASSERT_LE(static_cast<double>(last - first + 1), burst + gained + 1e-6)
                    << "seed " << seed;
            }
        }
    }
}

}  // namespace changed_rates_test
}  // namespace sluice
