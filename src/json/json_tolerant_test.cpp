#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "json/json_reader.hpp"

namespace sluice {
namespace json_tolerant_test {

// The value that `read` reads, or nothing when it is refused.
template <class Read>
auto read_tolerantly(std::string_view text, Read read) {
    JsonReader reader(text, Reading::tolerant);
    const std::optional value = read(reader);
    return reader.finish() ? value : std::nullopt;
}

std::optional<std::int64_t> integer(std::string_view text) {
    return read_tolerantly(text, [](JsonReader& reader) { return reader.integer(-100, 100); });
}

std::optional<bool> boolean(std::string_view text) {
    return read_tolerantly(text, [](JsonReader& reader) { return reader.boolean(); });
}

std::optional<std::string> string(std::string_view text) {
    return read_tolerantly(text, [](JsonReader& reader) { return reader.string(); });
}

TEST(TolerantJson, TakesIntegersInQuotesAndWithAFractionOfZero) {
    for (const char* text : {"30", R"("30")", "30.0", R"("30.00")", R"( "30" )"}) {
        EXPECT_EQ(integer(text).value_or(0), 30) << text;
    }
    EXPECT_EQ(integer(R"("-7")").value_or(0), -7);
}

TEST(TolerantJson, RefusesWhatIsNoIntegerAndWhatIsOutOfRange) {
    for (const char* text :
         {R"("abc")", R"("")", R"(" 30")", R"("30 ")", R"("+30")", R"("30.")", R"("3e1")", "30.5",
          "3e1", R"("0x1e")", R"("\u0033")", "true", "[]", "{}", "null", R"("30)"}) {
        EXPECT_FALSE(integer(text)) << text;
    }
    for (const char* text : {"101", R"("101")", R"("-101")", R"("9223372036854775808")"}) {
        JsonReader reader(text, Reading::tolerant);
        reader.integer(-100, 100);
        const auto done = reader.finish();
        ASSERT_FALSE(done) << text;
        EXPECT_EQ(done.error().message, "must be between -100 and 100") << text;
    }
}

TEST(TolerantJson, TakesBooleansAsNumbersAndInQuotes) {
    for (const char* text : {"true", "1", R"("true")", R"("1")"}) {
        EXPECT_TRUE(boolean(text).value_or(false)) << text;
    }
    for (const char* text : {"false", "0", R"("false")", R"("0")"}) {
        EXPECT_FALSE(boolean(text).value_or(true)) << text;
    }
    for (const char* text : {"2", R"("yes")", R"("")", "1.5", "[]", "null", "truth"}) {
        EXPECT_FALSE(boolean(text)) << text;
    }
}

TEST(TolerantJson, TakesNumbersAndBooleansForTheirText) {
    EXPECT_EQ(string("30").value_or(""), "30");
    EXPECT_EQ(string("1.50").value_or(""), "1.50");
    EXPECT_EQ(string("true").value_or(""), "true");
    EXPECT_EQ(string(R"("a\n")").value_or(""), "a\n");
    for (const char* text : {"[]", "{}", "null", "tru", "-"}) {
        EXPECT_FALSE(string(text)) << text;
    }
}

TEST(TolerantJson, ChangesNeitherRawValuesNorTheGrammar) {
    JsonReader reader(R"({"a":"30","b":[1 ]})", Reading::tolerant);
    std::string raw;
    reader.object([&](std::string_view) { raw += reader.raw(); });
    EXPECT_TRUE(reader.finish());
    EXPECT_EQ(raw, R"("30"[1 ])");

    JsonReader twice(R"({"a":1,"a":1})", Reading::tolerant);
    twice.object([](std::string_view) {});
    EXPECT_FALSE(twice.finish());
}

TEST(TolerantJson, IsNotTheUsualReading) {
    JsonReader number(R"("30")"), flag("1"), text("30");
    number.integer();
    flag.boolean();
    text.string();
    EXPECT_FALSE(number.finish());
    EXPECT_FALSE(flag.finish());
    EXPECT_FALSE(text.finish());
}

}  // namespace json_tolerant_test
}  // namespace sluice
