// Valid and invalid JSON: a table, and a comparison with another parser on generated texts.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "json/json_reader.hpp"

namespace sluice {
namespace json_grammar_test {

using namespace std::string_literals;

bool accepts_raw(const std::string& text) {
    JsonReader reader(text);
    reader.raw();
    return static_cast<bool>(reader.finish());
}

void read_all(JsonReader& reader) {
    using Kind = JsonReader::Kind;
    const Kind kind = reader.kind();
    if (kind == Kind::object) return reader.object([&](std::string_view) { read_all(reader); });
    if (kind == Kind::array) return reader.array([&](std::size_t) { read_all(reader); });
    if (kind == Kind::boolean)
        reader.boolean();
    else if (kind == Kind::null)
        reader.null();
    else
        reader.raw();
}

bool accepts_read(const std::string& text) {
    JsonReader reader(text);
    read_all(reader);
    return static_cast<bool>(reader.finish());
}

// clang-format off
const std::vector<std::string> valid_texts{
    "null", "true", "false", "0", "-0", "1", "-1", "10", "1.0", "-1.5", "0.1", "1e1", "1E1", "1e+1",
    "1e-1", "1.5e10", "0e0", "0E+0", "-0.0", "20e1", "1e308", "1.7976931348623157e308", "1e-400",
    "-1e-999", "0e999", "0.0e99999", "1e0000000001", "123123e100", "123456789012345678901234567890",
    "18446744073709551616", "9007199254740993",
    "0.00000000000000000000000000000000000000000000000001", "\"\"", "\"a\"", "\" \"", "\"\\\"\"",
    "\"\\\\\"", "\"\\/\"", "\"\\b\\f\\n\\r\\t\"", "\"\\u0041\"", "\"\\u0000\"", "\"\\uabCD\"",
    "\"\\ud83d\\ude00\"", "\"\\uDBFF\\uDFFF\"", "\"\\uD800\\uDC00\"", "\"\\uE000\\uD7FF\"",
    "\"\\uFFFF\"", "\"\x7F\"", "\"\xC2\x80\"", "\"\xDF\xBF\"", "\"\xE0\xA0\x80\"",
    "\"\xED\x9F\xBF\"", "\"\xEE\x80\x80\"", "\"\xEF\xBF\xBF\"", "\"\xEF\xBB\xBF\"",
    "\"\xF0\x90\x80\x80\"", "\"\xF4\x8F\xBF\xBF\"", "\"\xE2\x80\xA8\xE2\x80\xA9\"",
    "\"/* no comment */\"", "\"\\\\u0000\"", "[]", "[ ]", "[1]", "[1,2]", "[ 1 , 2 ]", "[[]]",
    "[[],[]]", "[null,1,\"1\",{}]", "[\"\"]", "[-0]", "{}", "{ }", "{\"a\":1}", "{\"a\":1,\"b\":2}",
    "{\"\":0}", "{\"a\":{\"b\":[]}}", "{\"\\u0061\":1}", "{\"a\" :\t1\r\n, \"b\": [ ] }", " 1 ",
    "\t\n\r 1\n", "[{\"a\":[{\"b\":[]}]}]", "[true,false,null]",
};

const std::vector<std::string> invalid_texts{
    "", " ", "\xEF\xBB\xBFnull", "\xEF\xBB\xBF{}", "nul", "nulll", "Null", "NULL", "tru", "True",
    "fals", "truefalse", "true false", "NaN", "-NaN", "nan", "Infinity", "-Infinity", "inf",
    "undefined", "01", "-01", "00", "-", "+1", "+0", "--1", "1.", ".1", "-.1", "1.e1", "0.e1", "1e",
    "1e+", "1E-", "e1", "1e1.0", "1 000", "1,000", "1_000", "0x1", "0b1", "1.2.3", "1a", "1-1",
    "1+1", "\xEF\xBC\x91", "1e400", "-1e400", "1e999999999999999999999", "[1e400]",
    "{\"a\":-1e309}", "1.7976931348623159e308", "99999999999999999999e290", "\"", "\"a", "\"\\\"",
    "\"\\", "'a'", "a", "\"\\a\"", "\"\\x41\"", "\"\\'\"", "\"\\0\"", "\"\\U0041\"", "\"\\ \"",
    "\"\\u\"", "\"\\u0\"", "\"\\u004\"", "\"\\u004g\"", "\"\\u 041\"", "\"\\u-041\"", "\"\\ud800\"",
    "\"\\udc00\"", "\"\\ud800x\"", "\"\\ud800\\n\"", "\"\\ud800\\ud800\"", "\"\\ud800\\u0041\"",
    "\"\\udc00\\ud800\"", "\"\\ud83d\\ude0\"", "\"\\ud83d\\", "\"\n\"", "\"\t\"", "\"\r\"",
    "\"\0\""s, "\"\x01\"", "\"\x1F\"", "\"\x80\"", "\"\xBF\"", "\"\xC0\x80\"", "\"\xC1\xBF\"",
    "\"\xC2\"", "\"\xC2 \"", "\"\xE0\x80\x80\"", "\"\xE0\x9F\xBF\"", "\"\xE2\x82\"",
    "\"\xED\xA0\x80\"", "\"\xED\xBF\xBF\"", "\"\xF0\x80\x80\x80\"", "\"\xF0\x8F\xBF\xBF\"",
    "\"\xF0\x9F\x98\"", "\"\xF4\x90\x80\x80\"", "\"\xF5\x80\x80\x80\"", "\"\xF8\x88\x80\x80\x80\"",
    "\"\xFE\"", "\"\xFF\"", "\"\xC3\xA9\xFF\"", "\"abcdefgh\x01\"", "\"abcdefgh\xFF\"", "\"\xE9\"",
    "\"a\"\"b\"", "\"a\"x", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1,,2]", "[1 2]",
    "[1}", "[}", "[1]]", "[[1]", "[1]x", "[\"a", "[1;2]", "[1:2]", "(1)", "<null>", "[\f1]",
    "[\v1]", "[\xC2\xA0]", "[1]\0"s, "\0"s, "{", "}", "{]", "{\"a\"", "{\"a\":", "{\"a\":1",
    "{\"a\":1,", "{\"a\":1,}", "{,}", "{,\"a\":1}", "{\"a\" 1}", "{\"a\",1}", "{\"a\"::1}", "{:1}",
    "{a:1}", "{'a':1}", "{1:1}", "{null:1}", "{[]:1}", "{\"a\":1 \"b\":2}", "{\"a\":1,,\"b\":2}",
    "{\"a\":}", "{\"a\"}", "{\"a\":1}}", "{\"a\":1},", "{} {}", "{\"a\":1;\"b\":2}", "{\"\xFF\":1}",
    "{\"\\ud800\":1}", "{\"a\n\":1}", "{\"a\":1]", "[{\"a\":1]}", "// c\n1", "1 // c", "/* c */1",
    "# c\n1", "[1/**/]", "1 2", "1,", "null,null", "{}[]", "\\u0031", "\xFF\xFE[\0]\0"s,
    "\xFE\xFF\0["s, "[\0"s, "*", "\\", "[\\n]", "\"a\" \"b\"",
};
// clang-format on

TEST(JsonGrammar, AcceptsWhatIsJson) {
    for (const std::string& text : valid_texts) {
        EXPECT_TRUE(accepts_raw(text)) << text;
        EXPECT_TRUE(accepts_read(text)) << text;
        EXPECT_TRUE(accepts_raw("[" + text + "]")) << text;
        EXPECT_TRUE(accepts_read("{\"a\": " + text + "}")) << text;
    }
}

TEST(JsonGrammar, RefusesWhatIsNot) {
    for (const std::string& text : invalid_texts) {
        EXPECT_FALSE(accepts_raw(text)) << text;
        EXPECT_FALSE(accepts_read(text)) << text;
    }
    EXPECT_GT(valid_texts.size() + invalid_texts.size(), 240u);
}

TEST(JsonGrammar, EveryPrefixOfADocumentIsRefused) {
    const std::string text = R"({"a":[1,-2.5e3,true,null,"\u00e9\n"],"b":{"c":false}})";
    for (std::size_t size = 0; size < text.size(); ++size) {
        EXPECT_FALSE(accepts_raw(text.substr(0, size)));
        EXPECT_FALSE(accepts_read(text.substr(0, size)));
    }
}

bool all_finite(const boost::json::value& value) {
    // Boost makes 0e400 a NaN. It is zero.
    if (const auto* number = value.if_double()) return !std::isinf(*number);
    if (const auto* array = value.if_array()) {
        for (const auto& element : *array) {
            if (!all_finite(element)) return false;
        }
    }
    if (const auto* object = value.if_object()) {
        for (const auto& member : *object) {
            if (!all_finite(member.value())) return false;
        }
    }
    return true;
}

// Makes JSON texts, and then spoils them. The same seed makes the same texts.
class Generator {
  public:
    explicit Generator(std::uint32_t seed) : random_(seed) {}

    std::size_t below(std::size_t limit) { return random_() % limit; }

    // Keys are never repeated, since the two parsers differ there.
    std::string value(int depth) {
        const std::size_t kind = below(depth > 0 ? 8 : 5);
        if (kind < 2) return number();
        if (kind < 4) return string();
        if (kind == 4) return pick({"null", "true", "false"});
        std::string out = kind < 7 ? "{" : "[";
        for (std::size_t i = 0, size = below(5); i < size; ++i) {
            if (i > 0) out += space() + "," + space();
            if (kind < 7) out += "\"" + std::to_string(key_++) + string().substr(1) + space() + ":";
            out += space() + value(depth - 1);
        }
        return out + space() + (kind < 7 ? "}" : "]");
    }

    std::string spoiled(std::string text) {
        static const std::string bytes =
            "{}[]\",:\\u0019-+.eE \n\t\x80\xBF\xC0\xED\xA0\xF4\x01tfnad8D"s;
        for (std::size_t i = 0, changes = 1 + below(3); i < changes && !text.empty(); ++i) {
            const std::size_t index = below(text.size());
            const char byte = bytes[below(bytes.size())];
            switch (below(4)) {
                case 0: text[index] = byte; break;
                case 1: text.insert(index, 1, byte); break;
                case 2: text.erase(index, 1 + below(3)); break;
                default: text.insert(index, text.substr(below(text.size()), below(8)));
            }
        }
        return text;
    }

  private:
    std::string pick(const std::vector<std::string>& from) { return from[below(from.size())]; }
    std::string space() { return pick({"", "", "", " ", "\n\t", "\r "}); }

    std::string number() {
        std::string out =
            pick({"", "-"}) + pick({"0", "7", "42", "123456789", "18446744073709551616"});
        if (below(3) == 0) out += pick({".0", ".5", ".000123"});
        if (below(4) == 0) out += pick({"e1", "E+10", "e-300", "e300", "e-4000", "e400"});
        return out;
    }

    std::string string() {
        std::string out = "\"";
        for (std::size_t i = 0, size = below(12); i < size; ++i) {
            out +=
                pick({"a", "plain run of text", " ", "\\n", "\\\"", "\\u00e9", "\\ud83d\\ude00",
                      "é", "€", "😀", "\\u0000", "\\\\", "/", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"});
        }
        return out + "\"";
    }

    std::mt19937 random_;
    int key_ = 0;
};

TEST(JsonGrammar, AgreesWithBoostJsonOnGeneratedAndSpoiledTexts) {
    Generator generator(20261115);
    int accepted = 0, refused = 0;
    for (int i = 0; i < 60'000; ++i) {
        std::string text = generator.value(5);
        if (i % 3 != 0) text = generator.spoiled(text);

        boost::json::error_code problem;
        const boost::json::value value = boost::json::parse(text, problem);
        if (problem == boost::json::error::exponent_overflow) continue;  // 1e-99999999999 is 0
        const bool expected = !problem && all_finite(value);

        ASSERT_EQ(accepts_raw(text), expected) << text << "\n" << problem.message();
        if (!expected) {
            ASSERT_FALSE(accepts_read(text)) << text;
        } else if (i % 3 == 0 && text.find("\\u0000") == std::string::npos) {
            ASSERT_TRUE(accepts_read(text)) << text;
        }
        ++(expected ? accepted : refused);
    }
    EXPECT_GT(accepted, 10'000);
    EXPECT_GT(refused, 10'000);
}

TEST(JsonGrammar, DecodesStringsAsBoostJsonDoes) {
    Generator generator(7);
    for (int i = 0; i < 20'000; ++i) {
        const std::string text = generator.value(0);
        if (text[0] != '"' || text.find("\\u0000") != std::string::npos) continue;
        JsonReader reader(text);
        ASSERT_EQ(reader.string(), std::string_view(boost::json::parse(text).as_string()));
        ASSERT_TRUE(reader.finish());
    }
}

}  // namespace json_grammar_test
}  // namespace sluice
