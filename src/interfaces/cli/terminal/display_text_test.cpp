#include "interfaces/cli/terminal/display_text.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace display_text_test {

using namespace std::chrono_literals;

TEST(Printable, LeavesTextAlone) {
    EXPECT_EQ(printable("plain, größe, 変更, 🙂"), "plain, größe, 変更, 🙂");
    EXPECT_EQ(printable(""), "");
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
    EXPECT_EQ(printable("a\nb\rc\td\x07\x7f"), "a\\nb\\rc\\td\\x07\\x7f");
    EXPECT_EQ(printable("\x1b[2J\x1b]0;x\x07"), "\\x1b[2J\\x1b]0;x\\x07");
    EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
    EXPECT_EQ(printable("\u009b31m \u202e \u2066 \u2028"), "\\u009b31m \\u202e \\u2066 \\u2028");
}

TEST(Printable, TakesColoursOut) {
    EXPECT_EQ(printable("\x1b[1;31mred\x1b[0m\x1b[m"), "red");
    EXPECT_EQ(printable("\x1b[38:5:1mred"), "red");
    EXPECT_EQ(printable("\x1b[31"), "\\x1b[31") << "it never ends";
}

TEST(Printable, ShowsBytesThatAreNoText) {
    EXPECT_EQ(printable("a\xff\xc3"), "a\\xff\\xc3");
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
}

TEST(PrintableJson, StaysTheSameJson) {
    EXPECT_EQ(printable_json("{\n\t\"größe\": [1, \"変更 🙂\"]\r\n}"),
              "{\n\t\"größe\": [1, \"変更 🙂\"] \n}");
    EXPECT_EQ(printable_json("\"\u009b31m \u202e \u2028 \x7f\""),
              R"("\u009b31m \u202e \u2028 \u007f")");
    EXPECT_EQ(printable_json("\"\U000e0041\""), R"("\udb40\udc41")");
}

TEST(DisplayWidth, CountsColumns) {
    EXPECT_EQ(display_width("größe"), 5u);
    EXPECT_EQ(display_width("変更"), 4u);
    EXPECT_EQ(display_width("e\u0301"), 1u);
    EXPECT_EQ(display_width("🙂"), 2u);
}

TEST(Clipped, CutsAtWholeCharacters) {
    EXPECT_EQ(clipped("hello", 5), "hello");
    EXPECT_EQ(clipped("hello", 4), "hel…");
    EXPECT_EQ(clipped("変更変更", 5), "変更…");
    EXPECT_EQ(clipped("変更変更", 4), "変…");
    EXPECT_EQ(clipped("hello", 1), "…");
    EXPECT_EQ(clipped("hello", 0), "");
}

TEST(Durations, AreShort) {
    EXPECT_EQ(short_duration(320ms), "320ms");
    EXPECT_EQ(short_duration(90s), "90s");
    EXPECT_EQ(short_duration(12min), "12m");
    EXPECT_EQ(short_duration(5h), "5h");
    EXPECT_EQ(short_duration(72h), "3d");
    EXPECT_EQ(short_duration(-5s), "0ms");
    EXPECT_EQ(stopwatch(1234ms), "1.2s");
    EXPECT_EQ(stopwatch(372s), "6m12s");
    EXPECT_EQ(stopwatch(3900s), "1h05m");
}

TEST(Times, AreInUtc) {
    const Timestamp time = *parse_rfc3339("2026-11-15T04:11:02.922Z");
    EXPECT_EQ(absolute_time(time), "2026-11-15 04:11:02.922Z");
    EXPECT_EQ(time_of_day(time), "04:11:02.922");
}

}  // namespace display_text_test
}  // namespace sluice::cli
