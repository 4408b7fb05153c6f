#include "domain/jobs/retention.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace retention_test {

using namespace std::chrono_literals;

constexpr Timestamp now = from_micros(1'800'000'000'000'000);

TEST(Retention, KeepsEverythingForEverUnlessToldOtherwise) {
    for (const JobState outcome : outcomes) {
        EXPECT_EQ(Retention().cutoff(outcome, now), std::nullopt);
    }
    EXPECT_EQ(Retention().latest_cutoff(now), std::nullopt);
    EXPECT_EQ(Retention(0s), Retention());
}

TEST(Retention, KeepsEachOutcomeForItsOwnTime) {
    Retention retention(24h);
    retention.set(JobState::failed, 48h);
    retention.set(JobState::canceled, 0s);

    EXPECT_EQ(retention.cutoff(JobState::succeeded, now), now - 24h);
    EXPECT_EQ(retention.cutoff(JobState::timed_out, now), now - 24h);
    EXPECT_EQ(retention.cutoff(JobState::failed, now), now - 48h);
    EXPECT_EQ(retention.cutoff(JobState::canceled, now), std::nullopt);
    EXPECT_EQ(retention.latest_cutoff(now), now - 24h);
}

TEST(Retention, SaysNothingOfJobsThatHaveNotEnded) {
    EXPECT_EQ(Retention(24h).cutoff(JobState::queued, now), std::nullopt);
    EXPECT_EQ(Retention(24h).cutoff(JobState::running, now), std::nullopt);
}

}  // namespace retention_test
}  // namespace sluice
