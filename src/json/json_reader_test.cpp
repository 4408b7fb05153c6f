#include "json/json_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice {
namespace json_reader_test {

using namespace std::string_literals;

std::string repeat(std::string_view part, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += part;
    return out;
}

Error error_of(JsonReader& reader) {
    const auto done = reader.finish();
    return done ? Error{ErrorCode::invalid, "no error", ""} : done.error();
}

struct Envelope {
    std::string type;
    std::int64_t priority = 0;
    bool urgent = false;
    std::string_view payload;
    std::vector<std::string> labels;
};

Envelope read_envelope(JsonReader& reader) {
    Envelope out;
    reader.object([&](std::string_view key) {
        if (key == "type") {
            out.type = reader.string();
        } else if (key == "priority") {
            out.priority = reader.integer(0, 100);
        } else if (key == "urgent") {
            out.urgent = reader.boolean();
        } else if (key == "payload") {
            out.payload = reader.raw();
        } else if (key == "labels") {
            reader.array([&](std::size_t) { out.labels.push_back(reader.string()); });
        }
    });
    return out;
}

TEST(JsonReader, ReadsAnEnvelopeAndSkipsWhatNobodyAskedFor) {
    JsonReader reader(
        " {\"type\":\"mail\", \"other\":{\"a\":[1,{}]},\"priority\" : 7,\n\"urgent\":true,"
        "\"labels\":[\"a\",\"b\"],\"payload\": {\"to\":  \"ada\"} } ");

    const Envelope envelope = read_envelope(reader);

    EXPECT_TRUE(reader.finish());
    EXPECT_EQ(envelope.type, "mail");
    EXPECT_EQ(envelope.priority, 7);
    EXPECT_TRUE(envelope.urgent);
    EXPECT_EQ(envelope.payload, "{\"to\":  \"ada\"}");
    EXPECT_EQ(envelope.labels, (std::vector<std::string>{"a", "b"}));
}

TEST(JsonReader, RawIsTheExactSlice) {
    for (const std::string value :
         {"null", "-0.0e+1", "\"\\u0000\\ud83d\\ude00 \xC3\xA9\"", "[ 1 ,\t2\r\n]", "{}", "[]",
          "{\"a\":1,\"a\":2}", "{\"a\":{\"b\":[[],{},[{}]]} , \"c\":\"}]\"}",
          "123456789012345678901234"}) {
        const std::string text = " [ 1 , \t" + value + " \n, 2]";
        JsonReader reader(text);
        std::vector<std::string> slices;
        reader.array([&](std::size_t) { slices.emplace_back(reader.raw()); });

        ASSERT_TRUE(reader.finish()) << value;
        EXPECT_EQ(slices, (std::vector<std::string>{"1", value, "2"}));
    }
}

TEST(JsonReader, DecodesStrings) {
    JsonReader reader(R"(["", "a\"\\\/\b\f\n\r\tz", "\u0041\u00e9\u20AC\uD83D\uDE00", "é€😀"])");
    std::vector<std::string> strings;
    reader.array([&](std::size_t) { strings.push_back(reader.string()); });

    ASSERT_TRUE(reader.finish());
    EXPECT_EQ(strings, (std::vector<std::string>{"", "a\"\\/\b\f\n\r\tz", "Aé€😀", "é€😀"}));
}

TEST(JsonReader, TellsTheKindAndMovesPastNullOnly) {
    JsonReader reader(R"([{},[],"",-1,0,true,false,null,1])");
    using Kind = JsonReader::Kind;
    const std::vector<Kind> expected{Kind::object,  Kind::array,  Kind::string,
                                     Kind::number,  Kind::number, Kind::boolean,
                                     Kind::boolean, Kind::null,   Kind::number};
    reader.array([&](std::size_t i) {
        EXPECT_EQ(reader.kind(), expected[i]);
        EXPECT_EQ(reader.null(), expected[i] == Kind::null);
    });
    EXPECT_TRUE(reader.finish());
}

TEST(JsonReader, IntegersAreExactOrRefused) {
    const std::vector<std::pair<std::string, std::int64_t>> good{
        {"0", 0},
        {"-0", 0},
        {"9007199254740993", 9007199254740993},
        {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
        {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()}};
    for (const auto& [text, value] : good) {
        JsonReader reader(text);
        EXPECT_EQ(reader.integer(), value);
        EXPECT_TRUE(reader.finish()) << text;
    }
    for (const std::string text :
         {"1.0", "1e2", "-1.5", "9223372036854775808", "-9223372036854775809",
          "18446744073709551616", "\"1\"", "true", "[1]", "1e400"}) {
        JsonReader reader(text);
        EXPECT_EQ(reader.integer(), 0);
        EXPECT_FALSE(reader.finish()) << text;
    }
}

TEST(JsonReader, NamesThePlaceOfAWrongValue) {
    struct Case {
        const char* text;
        const char* pointer;
        const char* message;
    };
    for (const Case& c : std::vector<Case>{
             {R"({"jobs":[{"priority":1},{"priority":"x"}]})", "/jobs/1/priority",
              "must be an integer, not a string"},
             {R"({"jobs":[{"priority":101}]})", "/jobs/0/priority", "must be between 0 and 100"},
             {R"({"jobs":[{"priority":0.5}]})", "/jobs/0/priority",
              "must be an integer, without fraction or exponent"},
             {R"({"jobs":{}})", "/jobs", "must be an array, not an object"},
             {R"({"jobs":[7]})", "/jobs/0", "must be an object, not a number"},
             {R"([])", "", "must be an object, not an array"},
             {R"({"jobs":[{"a~/\"b":tru}]})", "/jobs/0/a~0~1\"b",
              "is not valid JSON at byte 19: a value is expected"},
             {R"({"jobs":[{"priority":1}})", "/jobs/0",
              "is not valid JSON at byte 23: ',' or ']' is expected"},
             {R"({"jobs":[]} 1)", "", "is not valid JSON at byte 12: nothing may follow the value"},
             {R"({"jobs":[)", "/jobs/0", "is not valid JSON at the end: a value is expected"},
             {R"({"x":1,"j\u006fbs":[],"jobs":[]})", "/jobs", "\"jobs\" is given twice"},
             {R"({"a":1 "b":2})", "", "is not valid JSON at byte 7: ',' or '}' is expected"},
         }) {
        JsonReader reader(c.text);
        reader.object([&](std::string_view key) {
            if (key != "jobs") return;
            reader.array([&](std::size_t) {
                reader.object([&](std::string_view name) {
                    if (name == "priority") reader.integer(0, 100);
                });
            });
        });
        const Error error = error_of(reader);
        EXPECT_EQ(error.pointer, c.pointer) << c.text;
        EXPECT_EQ(error.message, c.message) << c.text;
        const bool is_text = error.message.starts_with("is not valid JSON");
        EXPECT_EQ(error.code, is_text ? ErrorCode::malformed : ErrorCode::invalid);
    }
}

TEST(JsonReader, SaysProblemsOfTheWholeTextOfItsSubject) {
    const auto message = [](std::string_view text) {
        JsonReader reader(text, Reading::strict, "the body");
        reader.object([&](std::string_view key) {
            if (key == "n") reader.integer();
        });
        reader.fail_at("type", "is required");
        return error_of(reader).message;
    };
    EXPECT_EQ(message(""), "the body is empty; send a JSON object");
    EXPECT_EQ(message(" "), "the body is not valid JSON at the end: a value is expected");
    EXPECT_EQ(message("[]"), "the body must be an object, not an array");
    EXPECT_EQ(message(R"({"a":tru})"), "the body is not valid JSON at byte 5: a value is expected");
    EXPECT_EQ(message(R"({"n":"x"})"), "must be an integer, not a string");
    EXPECT_EQ(message("{}"), "is required");
}

TEST(JsonReader, SaysHowDeepTheValueItselfMayBe) {
    const std::string deep = repeat("[", 32) + repeat("]", 32);
    const std::string text = R"({"jobs":[{"payload":)" + deep + "}]}";
    JsonReader reader(text);
    reader.object([&](std::string_view) {
        reader.array([&](std::size_t) { reader.object([&](std::string_view) { reader.raw(); }); });
    });
    EXPECT_EQ(error_of(reader).pointer, "/jobs/0/payload");
    EXPECT_EQ(error_of(reader).message, "is nested more than 29 levels deep");
}

TEST(JsonReader, GivesTheCallersOwnProblemsAPlaceToo) {
    JsonReader reader(R"({"jobs":[{"name":"a"},{"name":"b"}]})");
    reader.object([&](std::string_view) {
        reader.array([&](std::size_t) {
            reader.object([&](std::string_view) {
                if (reader.string() == "b") reader.fail("must not be b", ErrorCode::too_large);
            });
        });
    });
    const Error error = error_of(reader);
    EXPECT_EQ(error.pointer, "/jobs/1/name");
    EXPECT_EQ(error.message, "must not be b");
    EXPECT_EQ(error.code, ErrorCode::too_large);
}

TEST(JsonReader, NamesTheMemberThatIsMissing) {
    JsonReader reader(R"([{"name":"a"},{}])");
    reader.array([&](std::size_t) {
        bool named = false;
        reader.object([&](std::string_view key) { named |= key == "name"; });
        if (!named) reader.fail_at("name", "is required");
    });
    EXPECT_EQ(error_of(reader).pointer, "/1/name");
    EXPECT_EQ(error_of(reader).message, "is required");
}

TEST(JsonReader, TakesOverAProblemThatAnotherReaderFoundInside) {
    JsonReader reader(R"({"jobs":[1,2]})");
    reader.object([&](std::string_view) {
        reader.raw();
        reader.fail_within({ErrorCode::too_large, "is too long", "/1/name"});
    });
    EXPECT_EQ(error_of(reader).pointer, "/jobs/1/name");
    EXPECT_EQ(error_of(reader).message, "is too long");
    EXPECT_EQ(error_of(reader).code, ErrorCode::too_large);
}

TEST(JsonReader, KeepsTheFirstProblemAndCallsNobodyAfterIt) {
    JsonReader reader(R"([1,2,3])");
    int calls = 0;
    reader.array([&](std::size_t) {
        ++calls;
        reader.fail("first");
        reader.fail("second");
        EXPECT_EQ(reader.string(), "");
        EXPECT_EQ(reader.integer(), 0);
        EXPECT_EQ(reader.raw(), "");
        EXPECT_FALSE(reader.boolean());
        EXPECT_FALSE(reader.null());
        reader.object([&](std::string_view) { ++calls; });
    });
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(error_of(reader).message, "first");
    EXPECT_EQ(error_of(reader).pointer, "/0");
}

TEST(JsonReader, RefusesNulInDecodedStringsAndKeysButKeepsItInRawValues) {
    JsonReader name(R"("a\u0000b")");
    EXPECT_EQ(name.string(), "");
    EXPECT_EQ(error_of(name).message, "must not contain \\u0000");

    JsonReader key(R"({"a\u0000b":1})");
    key.object([](std::string_view) { FAIL(); });
    EXPECT_EQ(error_of(key).message, "must not have \\u0000 in a key");

    JsonReader raw(R"({"a\u0000b":"\u0000"})");
    EXPECT_EQ(raw.raw(), R"({"a\u0000b":"\u0000"})");
    EXPECT_TRUE(raw.finish());
}

TEST(JsonReader, FindsARepeatedKeyAmongMany) {
    std::string members;
    for (int i = 0; i < 100; ++i) members += "\"key" + std::to_string(i) + "\":0,";
    for (const int again : {0, 15, 16, 17, 99}) {
        const std::string key = "key" + std::to_string(again);
        const std::string text = "{" + members + "\"" + key + "\":1}";
        JsonReader reader(text);
        reader.object([](std::string_view) {});
        EXPECT_EQ(error_of(reader).message, "\"" + key + "\" is given twice");
    }
    const std::string text = "{" + members + "\"last\":1}";
    JsonReader reader(text);
    reader.object([](std::string_view) {});
    EXPECT_TRUE(reader.finish());
}

struct LimitCase {
    std::string name, within, beyond;
    ErrorCode code = ErrorCode::too_large;
};

TEST(JsonReader, HoldsEachLimit) {
    const auto keys = [](std::size_t count) {
        std::string out = "{\"k\":0";
        for (std::size_t i = 1; i < count; ++i) out += ",\"" + std::to_string(i) + "\":0";
        return out + "}";
    };
    const std::vector<LimitCase> cases{
        {"arrays", repeat("[", 32) + repeat("]", 32), repeat("[", 33) + repeat("]", 33),
         ErrorCode::malformed},
        {"objects", repeat("{\"a\":", 31) + "{}" + repeat("}", 31),
         repeat("{\"a\":", 32) + "{}" + repeat("}", 32), ErrorCode::malformed},
        {"string", "\"" + repeat("x", 262144) + "\"", "\"" + repeat("x", 262145) + "\""},
        {"number", repeat("1", 64), repeat("1", 65)},
        {"deep", "[]", repeat("[", 100'000), ErrorCode::malformed},
        {"deep objects", "{}", repeat("{\"a\":", 100'000), ErrorCode::malformed},
        {"keys", keys(10'000), keys(10'001)},
    };
    for (const LimitCase& c : cases) {
        const auto read = [&](const std::string& text) {
            JsonReader reader(text);
            if (c.name == "keys")
                reader.object([](std::string_view) {});
            else
                reader.raw();
            return reader.finish();
        };
        EXPECT_TRUE(read(c.within)) << c.name;
        const auto beyond = read(c.beyond);
        ASSERT_FALSE(beyond) << c.name;
        EXPECT_EQ(beyond.error().code, c.code) << c.name;
    }
}

void descend(JsonReader& reader) {
    if (reader.kind() == JsonReader::Kind::array)
        reader.array([&](std::size_t) { descend(reader); });
}

TEST(JsonReader, CountsDepthOverReadAndRawValuesAlike) {
    const std::string within = repeat("[", 32) + repeat("]", 32), beyond = "[" + within + "]";
    JsonReader good(within), bad(beyond), mixed(beyond);
    descend(good);
    descend(bad);
    mixed.array([&](std::size_t) { mixed.raw(); });
    EXPECT_TRUE(good.finish());
    EXPECT_EQ(error_of(bad).code, ErrorCode::malformed);
    EXPECT_EQ(error_of(mixed).code, ErrorCode::malformed);
    EXPECT_EQ(error_of(mixed).pointer, "/0");
}

TEST(JsonReader, ShortensLongKeysInErrors) {
    const std::string key = repeat("é", 60), text = "{\"" + key + "\":x}";
    JsonReader reader(text);
    reader.object([](std::string_view) {});
    EXPECT_EQ(error_of(reader).pointer, "/" + repeat("é", 50) + "…");
}

}  // namespace json_reader_test
}  // namespace sluice
