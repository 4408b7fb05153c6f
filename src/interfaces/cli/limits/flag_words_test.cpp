#include "interfaces/cli/limits/flag_words.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace flag_words_test {

TEST(FlagWords, NameTheFlagOfTheMember) {
    EXPECT_EQ(in_flag_words("/max_active",
                            "max_active: must be at least 1; to let nothing start, "
                            "pause instead: \"paused\": true"),
              "--max-active: must be at least 1; to let nothing start, pause instead: --paused");
    EXPECT_EQ(
        in_flag_words("/rate/period_ms", "rate/period_ms: must be between 10 and 86400000 (a day)"),
        "--rate: the time, in milliseconds, must be between 10 and 86400000 (a day)");
    EXPECT_EQ(in_flag_words("/rate/count", "rate/count: must be at least 1"),
              "--rate: the number must be at least 1");
    EXPECT_EQ(in_flag_words("/rate/burst", "rate/burst: must be at least 1"),
              "--burst: must be at least 1");
    EXPECT_EQ(in_flag_words("/burst", "burst: needs max_per_hour"),
              "--burst: needs --max-per-hour");
    EXPECT_EQ(in_flag_words("/source", "source: is too long"), "--source: is too long");
    EXPECT_EQ(in_flag_words("/source", "source: is too long", "source"), "source: is too long");
    EXPECT_EQ(in_flag_words("/tenants/0", "tenants/0: is empty"), "--tenants: is empty");
}

TEST(FlagWords, NameFlagsAndCommandsInsideOfAMessage) {
    EXPECT_EQ(in_flag_words("/max_active",
                            "max_active: the rule bounds nothing: give max_active, "
                            "rate, or paused"),
              "--max-active: the rule bounds nothing: give --max-active, --rate, or --paused");
    EXPECT_EQ(
        in_flag_words("", "the quota bounds nothing: give max_active, max_per_hour, or paused"),
        "the quota bounds nothing: give --max-active, --max-per-hour, or --paused");
    EXPECT_EQ(in_flag_words("", "a rule of kind quota: change it with POST /api/v1/quotas/{id}"),
              "a rule of kind quota: change it with sluice quota set");
    EXPECT_EQ(in_flag_words("", "no member is named here"), "no member is named here");
}

}  // namespace flag_words_test
}  // namespace sluice::cli
