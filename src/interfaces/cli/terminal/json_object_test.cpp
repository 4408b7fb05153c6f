#include "interfaces/cli/terminal/json_object.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace json_object_test {

TEST(JsonObject, TellsMembersAsPeopleReadThem) {
    const JsonObject object(
        R"({"text":"a\nb","none":null,"n":1.50,"list":["a","b"],"empty":[],"deep":[{"x":1}],)"
        R"("object":{ "y" : 2 }})");

    EXPECT_EQ(object.text("text"), "a\nb");
    EXPECT_EQ(object.text("none"), "");
    EXPECT_EQ(object.text("n"), "1.50");
    EXPECT_EQ(object.text("list"), "a,b");
    EXPECT_EQ(object.text("empty"), "");
    EXPECT_EQ(object.text("deep"), R"([{"x":1}])");
    EXPECT_EQ(object.text("object"), R"({ "y" : 2 })");
    EXPECT_EQ(object.text("other"), "");
    EXPECT_EQ(object.elements("deep"), std::vector<std::string>{R"({"x":1})"});
    EXPECT_TRUE(object.elements("object").empty() && object.elements("other").empty());
    EXPECT_EQ(object.picked({"n", "other", "text"}), R"({"n":1.50,"other":null,"text":"a\nb"})");
}

TEST(JsonObject, OfSomethingElseIsEmpty) {
    for (const char* text : {"", "[1]", "1", "{\"a\":1", "{\"a\":1}x"}) {
        EXPECT_TRUE(JsonObject(text).members().empty()) << text;
    }
}

TEST(IndentedJson, PutsEachMemberOnItsLine) {
    EXPECT_EQ(indented_json(R"({"a":[1, {}],"b":"x, {\"y\"}","c":{}})"),
              "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": \"x, {\\\"y\\\"}\",\n  \"c\": {}\n}");
    EXPECT_EQ(indented_json("[]"), "[]");
    EXPECT_EQ(indented_json("1"), "1");
}

TEST(JsonProblem, SaysWhatIsWrong) {
    EXPECT_FALSE(json_problem(R"({"a":[1,2,"x"]})"));
    EXPECT_FALSE(json_problem("null"));
    EXPECT_TRUE(json_problem(""));
    EXPECT_TRUE(json_problem("{a:1}"));
    EXPECT_TRUE(json_problem("1 2"));
}

}  // namespace json_object_test
}  // namespace sluice::cli
