#include "json/json_writer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "domain/jobs/ids.hpp"
#include "json/json_reader.hpp"

namespace sluice {
namespace json_writer_test {

std::string in_json(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

TEST(JsonWriter, PutsCommasBetweenMembersAndElementsOnly) {
    std::string out;
    JsonWriter json(out);
    json.begin_object();
    json.field("a", 1);
    json.key("b");
    json.begin_array();
    json.value(true);
    json.begin_object();
    json.end_object();
    json.begin_array();
    json.end_array();
    json.value("x");
    json.end_array();
    json.raw_field("c", R"({"d": [1,  2]})");
    json.field("e", nullptr);
    json.end_object();

    EXPECT_EQ(out, R"({"a":1,"b":[true,{},[],"x"],"c":{"d": [1,  2]},"e":null})");
}

TEST(JsonWriter, AppendsToWhatIsThere) {
    std::string out = "data: ";
    JsonWriter json(out);
    json.begin_array();
    json.value(1);
    json.end_array();

    EXPECT_EQ(out, "data: [1]");
}

TEST(JsonWriter, WritesEachKindOfValue) {
    std::string out;
    JsonWriter json(out);
    json.begin_array();
    json.value(std::numeric_limits<std::int64_t>::min());
    json.value(std::numeric_limits<std::uint64_t>::max());
    json.value(std::string("text"));
    json.value(std::string_view("view"));
    json.value(false);
    json.value(Timestamp{std::chrono::milliseconds(1'800'000'000'123)});
    json.value(std::optional<int>(7));
    json.value(std::optional<Timestamp>());
    json.value(JobId{1});
    json.end_array();

    EXPECT_EQ(out,
              "[-9223372036854775808,18446744073709551615,\"text\",\"view\",false,"
              "\"2027-01-15T08:00:00.123Z\",7,null,\"" +
                  to_text(JobId{1}) + "\"]");
}

TEST(JsonWriter, EscapesWhatMustBeEscapedAndNothingElse) {
    EXPECT_EQ(in_json(""), R"("")");
    EXPECT_EQ(in_json("plain text, longer than one word of eight bytes"),
              R"("plain text, longer than one word of eight bytes")");
    EXPECT_EQ(in_json("a\"b\\c/d"), R"("a\"b\\c/d")");
    EXPECT_EQ(in_json("\b\f\n\r\t"), R"("\b\f\n\r\t")");
    EXPECT_EQ(in_json(std::string_view("\0\x01\x1f\x7f", 4)), "\"\\u0000\\u0001\\u001f\x7f\"");
    EXPECT_EQ(in_json("\xE2\x80\xA8\xC3\xA9\xF0\x9F\x98\x80"),
              "\"\xE2\x80\xA8\xC3\xA9\xF0\x9F\x98\x80\"");
}

TEST(JsonWriter, ReplacesBytesThatAreNotUtf8) {
    EXPECT_EQ(in_json("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
    EXPECT_EQ(in_json("\xC0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
    EXPECT_EQ(in_json("cut\xE2\x82"), "\"cut\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(JsonWriter, EveryByteAtEveryPlaceComesBackFromTheReader) {
    for (int byte = 0x01; byte < 0x80; ++byte) {
        for (std::size_t index = 0; index < 20; ++index) {
            std::string text(20, 'x');
            text[index] = static_cast<char>(byte);
            const std::string json = in_json(text);

            JsonReader reader(json);

            EXPECT_EQ(reader.string(), text);
            EXPECT_TRUE(reader.finish());
        }
    }
}

}  // namespace json_writer_test
}  // namespace sluice
