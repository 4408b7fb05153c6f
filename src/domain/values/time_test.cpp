#include "domain/values/time.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice {
namespace time_test {

using namespace std::chrono_literals;

constexpr std::int64_t second = 1'000'000;

std::optional<std::int64_t> micros(std::string_view text) {
    const auto time = parse_rfc3339(text);
    return time ? std::optional(to_micros(*time)) : std::nullopt;
}

TEST(WriteTime, ShowsMillisecondsAndZ) {
    EXPECT_EQ(to_rfc3339(from_micros(0)), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(to_rfc3339(from_micros(1'794'713'064'118'000)), "2026-11-15T03:24:24.118Z");
    EXPECT_EQ(to_rfc3339(from_micros(951'782'399'999'999)), "2000-02-28T23:59:59.999Z");
    EXPECT_EQ(to_rfc3339(from_micros(951'782'400'000'000)), "2000-02-29T00:00:00.000Z");
}

TEST(WriteTime, CutsMicrosecondsTowardsThePast) {
    EXPECT_EQ(to_rfc3339(from_micros(1'999)), "1970-01-01T00:00:00.001Z");
    EXPECT_EQ(to_rfc3339(from_micros(-1)), "1969-12-31T23:59:59.999Z");
}

TEST(WriteTime, ShowsYearsThatFourDigitsCannotAsTheNearestThatTheyCan) {
    EXPECT_EQ(to_rfc3339(never), "9999-12-31T23:59:59.999Z");
    EXPECT_EQ(to_rfc3339(Timestamp::min()), "0000-01-01T00:00:00.000Z");
    EXPECT_EQ(to_rfc3339(from_micros(253'402'300'800 * second)), "9999-12-31T23:59:59.999Z");
}

TEST(WriteTime, AppendsToWhatIsThere) {
    std::string text = "at ";

    append_rfc3339(text, from_micros(0));

    EXPECT_EQ(text, "at 1970-01-01T00:00:00.000Z");
}

TEST(ReadTime, ReadsWhatItWrites) {
    std::mt19937_64 random(11);
    std::uniform_int_distribution<std::int64_t> year_0_to_9999(-62'167'219'200, 253'402'300'799);
    for (int i = 0; i < 20'000; ++i) {
        const Timestamp time = from_micros(year_0_to_9999(random) * second + i % 1000 * 1000);

        ASSERT_EQ(parse_rfc3339(to_rfc3339(time)), time) << to_rfc3339(time);
    }
}

TEST(ReadTime, ReadsOffsets) {
    const auto noon = micros("2026-11-15T12:00:00Z");

    ASSERT_TRUE(noon);
    for (const char* text :
         {"2026-11-15T14:30:00+02:30", "2026-11-15T00:00:00-12:00", "2026-11-16T11:59:00+23:59",
          "2026-11-15T12:00:00+00:00", "2026-11-15T12:00:00-00:00", "2026-11-15T11:30:00-00:30"}) {
        EXPECT_EQ(micros(text), noon) << text;
    }
}

TEST(ReadTime, ReadsTheOtherSpellingsThatTheStandardAllows) {
    const auto noon = micros("2026-11-15T12:00:00Z");

    EXPECT_EQ(micros("2026-11-15t12:00:00z"), noon);
    EXPECT_EQ(micros("2026-11-15 12:00:00Z"), noon);
}

TEST(ReadTime, ReadsOneToNineFractionDigitsAndKeepsMicroseconds) {
    EXPECT_EQ(micros("1970-01-01T00:00:00.5Z"), 500'000);
    EXPECT_EQ(micros("1970-01-01T00:00:00.05Z"), 50'000);
    EXPECT_EQ(micros("1970-01-01T00:00:00.123456Z"), 123'456);
    EXPECT_EQ(micros("1970-01-01T00:00:00.123456789Z"), 123'456);
    EXPECT_EQ(micros("1970-01-01T00:00:00.000000999Z"), 0);
    EXPECT_EQ(micros("1970-01-01T00:00:00.25+00:00"), 250'000);
}

TEST(ReadTime, ReadsALeapSecondAsTheFollowingSecond) {
    EXPECT_EQ(micros("2016-12-31T23:59:60Z"), micros("2017-01-01T00:00:00Z"));
    EXPECT_EQ(micros("2017-01-01T00:59:60.5+01:00"), *micros("2017-01-01T00:00:00Z") + 500'000);
}

TEST(ReadTime, ReadsTheEndsOfItsRange) {
    EXPECT_EQ(micros("0000-01-01T00:00:00Z"), -62'167'219'200 * second);
    EXPECT_EQ(micros("9999-12-31T23:59:59.999999Z"), 253'402'300'799'999'999);
    EXPECT_EQ(micros("1969-12-31T23:59:59.999999Z"), -1);
}

TEST(ReadTime, KnowsLeapYears) {
    EXPECT_TRUE(micros("2024-02-29T00:00:00Z"));
    EXPECT_TRUE(micros("2000-02-29T00:00:00Z"));
    EXPECT_FALSE(micros("2023-02-29T00:00:00Z"));
    EXPECT_FALSE(micros("1900-02-29T00:00:00Z"));
}

TEST(ReadTime, RefusesWhatIsNoTime) {
    for (const char* text : {
             "",
             "now",
             "2026",
             "2026-11-15",
             "2026-11-15T12:00:00",
             "2026-11-15T12:00Z",
             "2026-11-15T12:00:00.Z",
             "2026-11-15T12:00:00,5Z",
             "2026-11-15T12:00:00.1234567890Z",
             "2026-00-15T12:00:00Z",
             "2026-13-15T12:00:00Z",
             "2026-11-00T12:00:00Z",
             "2026-11-31T12:00:00Z",
             "2026-11-15T24:00:00Z",
             "2026-11-15T12:60:00Z",
             "2026-11-15T12:00:61Z",
             "2026-11-15T12:00:00+24:00",
             "2026-11-15T12:00:00+02:60",
             "2026-11-15T12:00:00+0230",
             "2026-11-15T12:00:00+02",
             "2026-11-15T12:00:00Zx",
             "2026-11-15T12:00:00Z ",
             " 2026-11-15T12:00:00Z",
             "+2026-11-15T12:00:00Z",
             "-001-11-15T12:00:00Z",
             "2026-1-15T12:00:00Z",
             "20261115T120000Z",
             "2026-11-15_12:00:00Z",
             "2026/11/15T12:00:00Z",
             "2026-11-15T12:00:-1Z",
             "2026-11-15T1 :00:00Z",
             "２026-11-15T12:00:00Z",
         }) {
        EXPECT_EQ(micros(text), std::nullopt) << text;
    }
}

TEST(ReadTime, RefusesEveryBeginningOfATime) {
    const std::string whole = "2026-11-15T12:00:00.123+01:00";

    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(parse_rfc3339(whole.substr(0, size))) << whole.substr(0, size);
    }
}

TEST(Durations, ConvertToMillisecondsAndBack) {
    EXPECT_EQ(to_millis(from_millis(1234)), 1234);
    EXPECT_EQ(to_millis(1999us), 1);
    EXPECT_EQ(from_millis(-5), -5000us);
}

}  // namespace time_test
}  // namespace sluice
