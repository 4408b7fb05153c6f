#include "application/secrets/secret_marks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sluice {
namespace secret_marks_test {

// Marks by the usual names, and by these paths for jobs of type "t".
SecretMarks marks_with(std::vector<std::string> paths,
                       const std::vector<std::string>& names = SecretNames::usual_marks()) {
    JobTypes types;
    types.put({.name = "t", .redact = std::move(paths)});
    return {names, types};
}

std::string shown(const SecretMarks& marks, std::string_view payload) {
    std::string buffer;
    return std::string(marks.shown("t", payload, buffer));
}

TEST(SecretMarks, HideMembersOfTheUsualNamesAtAnyDepth) {
    const SecretMarks marks;
    EXPECT_EQ(shown(marks, R"({"user":"ann","password":"hunter22"})"),
              R"({"user":"ann","password":"***"})");
    EXPECT_EQ(shown(marks, R"([{"a":[{"token":"abcdefgh"}]}])"), R"([{"a":[{"token":"***"}]}])");
}

TEST(SecretMarks, ANameCountsWithoutRegardToCaseAndJoints) {
    const SecretMarks marks;
    for (const char* name : {"apiKey", "API_KEY", "api-key", "Api_Key_", "-APIKEY", "apikey"}) {
        EXPECT_EQ(shown(marks, fmt::format(R"({{"{}" : "x"}})", name)),
                  fmt::format(R"({{"{}" : "***"}})", name));
    }
}

TEST(SecretMarks, AWordOfANameIsEnough) {
    const SecretMarks marks;
    for (const char* name :
         {"registryPassword", "gitToken", "GIT_TOKEN", "x-api-key", "my_token"}) {
        EXPECT_EQ(shown(marks, fmt::format(R"({{"a":[{{"{}":"x"}}]}})", name)),
                  fmt::format(R"({{"a":[{{"{}":"***"}}]}})", name));
    }
}

TEST(SecretMarks, OnlyNamesCountAndOnlyWholeWords) {
    const SecretMarks marks;
    for (const char* text :
         {R"({"tokens":1})", R"({"token_count":1})", R"({"page":"token"})",
          R"({"passwordless":true})", R"(["password"])", R"({"a":"password: x"})"}) {
        EXPECT_EQ(shown(marks, text), text);
    }
}

TEST(SecretMarks, QuotesInANameDoNotHideIt) {
    const SecretMarks marks;
    EXPECT_EQ(shown(marks, R"({"a\"token":1})"), R"({"a\"token":"***"})");
    EXPECT_EQ(shown(marks, R"({"token\"a":1})"), R"({"token\"a":"***"})");
}

TEST(SecretMarks, WhateverTheValueIsItIsHiddenAsAWhole) {
    const SecretMarks marks;
    EXPECT_EQ(shown(marks, R"({"secret":{"a":[1,"}"]},"b":2})"), R"({"secret":"***","b":2})");
    EXPECT_EQ(shown(marks, R"({"secret":[1,2]})"), R"({"secret":"***"})");
    EXPECT_EQ(shown(marks, R"({"secret":42})"), R"({"secret":"***"})");
    EXPECT_EQ(shown(marks, R"({"secret":null})"), R"({"secret":"***"})");
}

TEST(SecretMarks, ARepeatedNameIsHiddenEachTime) {
    EXPECT_EQ(shown(SecretMarks(), R"({"token":"one","token":"two"})"),
              R"({"token":"***","token":"***"})");
}

TEST(SecretMarks, ANameThatIsWrittenWithEscapesIsTheSameName) {
    EXPECT_EQ(shown(SecretMarks(), R"({"pass\u0077ord":"hunter22"})"),
              R"({"pass\u0077ord":"***"})");
    EXPECT_EQ(shown(marks_with({}, {"a/b"}), R"({"a\/b":"hunter22"})"), R"({"a\/b":"***"})");
}

TEST(SecretMarks, AllAroundASecretKeepsItsBytes) {
    EXPECT_EQ(shown(SecretMarks(),
                    "{ \"n\" : 1.50e+1 ,\t\"token\"\n:\r\n\"a\\\"b\" , \"u\":\"\\u00e9\" }"),
              "{ \"n\" : 1.50e+1 ,\t\"token\"\n:\r\n\"***\" , \"u\":\"\\u00e9\" }");
}

TEST(SecretMarks, APayloadWithoutSecretsIsShownItself) {
    const SecretMarks marks;
    const std::string payload = R"({"path":"a\\nb","url":"http://token:80/"})";
    std::string buffer;
    EXPECT_EQ(marks.shown("t", payload, buffer).data(), payload.data());
}

TEST(SecretMarks, PathsGoByMembersAndStars) {
    const auto marks = marks_with({"db.url", "accounts.*.pin", "list.1", "*.deep.*"}, {});
    EXPECT_EQ(shown(marks, R"({"db":{"url":"x","name":"y"},"url":"z"})"),
              R"({"db":{"url":"***","name":"y"},"url":"z"})");
    EXPECT_EQ(shown(marks, R"({"accounts":[{"pin":1,"id":2},{"pin":3}]})"),
              R"({"accounts":[{"pin":"***","id":2},{"pin":"***"}]})");
    EXPECT_EQ(shown(marks, R"({"accounts":{"ann":{"pin":1}},"pin":2})"),
              R"({"accounts":{"ann":{"pin":"***"}},"pin":2})");
    EXPECT_EQ(shown(marks, R"({"list":["a","b","c"]})"), R"({"list":["a","***","c"]})");
    EXPECT_EQ(shown(marks, R"({"x":{"deep":[1,{}]},"deep":{"y":1}})"),
              R"({"x":{"deep":["***","***"]},"deep":{"y":1}})");
}

TEST(SecretMarks, APathOfStarsAloneIsFoundWithoutAnyName) {
    EXPECT_EQ(shown(marks_with({"*"}, {}), R"(["a",{"b":1}])"), R"(["***","***"])");
}

TEST(SecretMarks, PathsAreThoseOfTheTypeAndUnknownTypesHaveThoseOfTheDefault) {
    JobTypes types;
    JobType fallback;
    fallback.redact = {"pin"};
    types.set_default(fallback);
    types.put({.name = "t"});
    const SecretMarks marks({}, types);
    std::string buffer;
    EXPECT_EQ(marks.shown("t", R"({"pin":1})", buffer), R"({"pin":1})");
    EXPECT_EQ(marks.shown("other", R"({"pin":1})", buffer), R"({"pin":"***"})");
}

TEST(SecretMarks, NoMarksHideNothing) {
    EXPECT_EQ(shown(SecretMarks::none(), R"({"password":"x"})"), R"({"password":"x"})");
}

TEST(SecretMarks, WhatIsNestedTooDeepToLookAtIsHidden) {
    std::string payload = R"({"token":)" + std::string(100, '[') + std::string(100, ']') + "}";
    EXPECT_EQ(shown(SecretMarks(), payload), R"({"token":"***"})");
    payload = std::string(100, '[') + R"({"token":"hunter22"})" + std::string(100, ']');
    EXPECT_EQ(shown(SecretMarks(), payload).find("hunter22"), std::string::npos);
}

TEST(SecretMarks, CutOffTextDoesNoHarm) {
    const std::string whole = R"({"a":[{"token":"x\"y","b":{}}],"secret":[1,{"c":2}]} )";
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        const std::string part = whole.substr(0, length);
        EXPECT_EQ(shown(SecretMarks(), part).find("x\\\"y"), std::string::npos);
    }
}

TEST(SecretMarks, TheSecretTextsAreDecodedAndComeFromInsideOfWhatIsHidden) {
    JobSpec spec;
    spec.type = "t";
    spec.payload = R"({"a":"open","token":"x\ny","credentials":{"name":["u1","u2"],"n":-3}})";
    EXPECT_EQ(SecretMarks().secret_texts(spec),
              (std::vector<std::string>{"x\ny", "u1", "u2", "3"}));
}

TEST(SecretMarks, BadNamesAndPathsAreRefused) {
    for (const char* path : {"", ".", "a.", ".a", "a..b", "a\"b", "a\\b", "a\nb"}) {
        EXPECT_NE(SecretMarks::problem_with_path(path), "") << path;
    }
    for (const char* path : {"a", "a.b", "*", "a.*.b", "a.0"}) {
        EXPECT_EQ(SecretMarks::problem_with_path(path), "") << path;
    }
    for (const char* name : {"", "_", "-", "a\"", "\\"}) {
        EXPECT_NE(SecretMarks::problem_with_name(name), "") << name;
    }
    EXPECT_EQ(SecretMarks::problem_with_name("api_key"), "");
}

}  // namespace secret_marks_test
}  // namespace sluice
