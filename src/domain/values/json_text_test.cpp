#include "domain/values/json_text.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace json_text_test {

std::string quoted(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

TEST(JsonString, QuotesPlainText) {
    EXPECT_EQ(quoted(""), R"("")");
    EXPECT_EQ(quoted("plain text, 123 / <html> & 'apostrophe'"),
              R"("plain text, 123 / <html> & 'apostrophe'")");
}

TEST(JsonString, EscapesQuotesAndBackslashes) {
    EXPECT_EQ(quoted(R"(say "hi")"), R"("say \"hi\"")");
    EXPECT_EQ(quoted(R"(c:\temp\)"), R"("c:\\temp\\")");
    EXPECT_EQ(quoted("\""), R"("\"")");
}

TEST(JsonString, EscapesEveryControlCharacter) {
    EXPECT_EQ(quoted("a\nb\rc\td"), R"("a\nb\rc\td")");
    EXPECT_EQ(quoted(std::string_view("\0", 1)), R"("\u0000")");
    EXPECT_EQ(quoted("\x1f"), R"("\u001f")");
    for (char c = 0; c < 0x20; ++c) {
        EXPECT_EQ(quoted(std::string_view(&c, 1))[1], '\\') << int(c);
    }
}

TEST(JsonString, LeavesUtf8AsItIs) {
    EXPECT_EQ(quoted("žluťoučký 水門 🚰"), "\"žluťoučký 水門 🚰\"");
}

TEST(JsonString, AppendsToWhatIsThere) {
    std::string out = "{\"a\":";

    append_json_string(out, "b");

    EXPECT_EQ(out, "{\"a\":\"b\"");
}

}  // namespace json_text_test
}  // namespace sluice
