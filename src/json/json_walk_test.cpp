#include "json/json_walk.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace json_walk_test {

std::string text_of(const JsonPath& path) {
    std::string text;
    for (const JsonStep& step : path) text += (step.is_member ? "." : "#") + step.name;
    return text;
}

TEST(TakeValues, AsksFromTheOutsideToTheInsideInOrder) {
    std::string asked;
    take_values(R"( {"a" : [1, {"b":{}}, []], "c\u0064" :"}" } )",
                [&](const JsonPath& path) {
                    asked += text_of(path) + " ";
                    return false;
                },
                [](std::string_view) { FAIL(); });
    EXPECT_EQ(asked, ".a .a#0 .a#1 .a#1.b .a#2 .cd ");
}

TEST(TakeValues, GivesValuesAsTheyStandAndLooksNoFurtherIntoThem) {
    std::vector<std::string> taken;
    take_values(R"({"a":{"x":"]\"}","a":1} ,"b":[ {"a": -1.5e3 } ],"a":"\\"})",
                [](const JsonPath& path) { return path.back().name == "a"; },
                [&](std::string_view value) { taken.emplace_back(value); });
    EXPECT_EQ(taken, (std::vector<std::string>{R"({"x":"]\"}","a":1})", "-1.5e3", R"("\\")"}));
}

TEST(TakeValues, FindsNothingBelowScalars) {
    for (const char* text : {"1", "null", R"("a")", "", " ", "{}", "[ ]"}) {
        take_values(
            text,
            [](const JsonPath&) {
                ADD_FAILURE();
                return true;
            },
            [](std::string_view) {});
    }
}

TEST(ForEachToken, TellsNamesStringsNumbersAndObjectsApart) {
    using Kind = JsonToken::Kind;
    std::string found;
    for_each_token(R"({"a\u0062" : ["x\"y", -1.5e3,true,7], "c":{"d":"e"} } )",
                   [&](const JsonToken& token) {
                       const bool is_text = token.kind == Kind::name || token.kind == Kind::string;
                       found += is_text ? token.decoded() : std::string(token.source);
                       found += token.kind == Kind::name ? ": " : ", ";
                   });
    EXPECT_EQ(found, "{, ab: x\"y, -1.5e3, 7, c: {, d: e, }, }, ");
}

}  // namespace json_walk_test
}  // namespace sluice
