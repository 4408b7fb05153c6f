#include "interfaces/http/message/url.hpp"

#include <gtest/gtest.h>

#include "interfaces/http/message/problem.hpp"

namespace sluice::http {
namespace url_test {

TEST(PercentDecode, DecodesOnce) {
    EXPECT_EQ(percent_decode("a%20b+c"), "a b+c");
    EXPECT_EQ(percent_decode("%2541"), "%41");
    EXPECT_EQ(percent_decode("%C3%a4"), "\xc3\xa4");
    EXPECT_EQ(percent_decode(""), "");
}

TEST(PercentDecode, RefusesWhatIsMalformedOrNotText) {
    for (const char* text : {"%", "%1", "%g0", "%0g", "a%", "%00", "%ff", "%c0%af", "%ed%a0%80",
                             "%f4%90%80%80", "%c3", "%e2%82"}) {
        EXPECT_FALSE(percent_decode(text)) << text;
    }
}

TEST(DecodeUnreserved, DecodesWhatMeansTheSameEitherWayOnce) {
    EXPECT_EQ(decode_unreserved("/%61%50i/%2d%2E%5f%7E%30"), "/aPi/-._~0");
    EXPECT_EQ(decode_unreserved("/a%20b%2Fc%00%25%3f%c3%a4"), "/a%20b%2Fc%00%25%3f%c3%a4");
    EXPECT_EQ(decode_unreserved("/%2561%%361"), "/%2561%61");
    EXPECT_EQ(decode_unreserved("/%6"), "/%6");
    EXPECT_EQ(decode_unreserved("/%zz%"), "/%zz%");
    EXPECT_EQ(decode_unreserved(""), "");
}

TEST(QueryParams, FindsDecodedValues) {
    const auto params = QueryParams::parse("state=ready&type=a%26b+c&flag&state=dead&&empty=");

    ASSERT_TRUE(params);
    EXPECT_EQ(*params->find("state"), "ready");
    EXPECT_EQ(*params->find("type"), "a&b c");
    EXPECT_EQ(*params->find("flag"), "");
    EXPECT_EQ(*params->find("empty"), "");
    EXPECT_EQ(params->find("absent"), nullptr);
    EXPECT_EQ(params->all().size(), 5u);
}

TEST(QueryParams, RefusesMalformedQueries) {
    for (const char* query : {"a=%", "%zz=1", "=1", "a=%00", "a=%ff"}) {
        EXPECT_FALSE(QueryParams::parse(query)) << query;
    }
}

TEST(QueryParams, TakesThirtyTwoAtMost) {
    std::string query = "p=1";
    for (int i = 1; i < 32; ++i) query += "&p=1";

    EXPECT_TRUE(QueryParams::parse(query));
    EXPECT_FALSE(QueryParams::parse(query + "&p=1"));
    EXPECT_TRUE(QueryParams::parse("")->all().empty());
}

TEST(Problem, IsAProblemDocument) {
    const Response response = problem(404, "not_found", "no \"such\" job\n", "id-1");

    EXPECT_EQ(response.status, 404);
    EXPECT_EQ(response.content_type, "application/problem+json");
    EXPECT_EQ(response.body,
              R"({"type":"https://sluice.dev/problems/not_found","title":"Not Found","status":404,)"
              R"("detail":"no \"such\" job\n","code":"not_found","request_id":"id-1"})");
}

TEST(Problem, PointsAtThePartThatIsWrong) {
    const Response response = problem(422, "invalid", "too long", "id-1", "/jobs/0/type");

    EXPECT_NE(response.body.find(R"("errors":[{"pointer":"/jobs/0/type","detail":"too long"}])"),
              std::string::npos);
}

TEST(Problem, StaysJsonWhateverItIsMadeOf) {
    const Response response =
        problem(400, "malformed", std::string_view("\x01\\\xff\xc3\xa4\0", 6), "id-1");

    EXPECT_NE(response.body.find("\"detail\":\"\\u0001\\\\\xef\xbf\xbd\xc3\xa4\\u0000\""),
              std::string::npos);
}

}  // namespace url_test
}  // namespace sluice::http
