#include "interfaces/http/deploy/runners_seen.hpp"

#include <gtest/gtest.h>

namespace sluice::http::deploy {
namespace runners_seen_test {

TEST(RunnersSeen, RemembersTheLastTimeOfEachAndForgetsTheOldestWhenThereAreTooMany) {
    RunnersSeen seen;
    for (std::size_t i = 0; i < RunnersSeen::runners_max; ++i) {
        seen.note("r" + std::to_string(i), from_micros(static_cast<std::int64_t>(i) + 1));
    }
    seen.note("r0", from_micros(1'000'000));

    seen.note("new", from_micros(1'000'001));

    EXPECT_EQ(seen.all().size(), RunnersSeen::runners_max);
    EXPECT_EQ(seen.all().at("r0"), from_micros(1'000'000));
    EXPECT_TRUE(seen.all().contains("new"));
    EXPECT_FALSE(seen.all().contains("r1"));
}

}  // namespace runners_seen_test
}  // namespace sluice::http::deploy
