#include "interfaces/http/deploy/envelope.hpp"

#include <gtest/gtest.h>

namespace sluice::http::deploy {
namespace envelope_test {

TEST(DeployEnvelope, SaysWhatWentWrongByItsCode) {
    const Response missing = refused({ErrorCode::not_found, "no job has this id", ""});
    EXPECT_EQ(missing.status, 200);
    EXPECT_EQ(missing.body, R"({"code":404,"message":"no job has this id","data":null})");

    const Response bad = refused({ErrorCode::invalid, "must not be empty", "/payload/appId"});
    EXPECT_EQ(bad.status, 200);
    EXPECT_EQ(bad.body, R"({"code":500,"message":"payload/appId: must not be empty","data":null})");

    for (const ErrorCode conflict : {ErrorCode::conflict, ErrorCode::lease_lost}) {
        EXPECT_EQ(refused({conflict, "x", ""}).body, R"({"code":409,"message":"x","data":null})");
    }
}

TEST(DeployEnvelope, AnEngineThatCannotAnswerSaysSoByTheHttpStatusToo) {
    for (const ErrorCode code : {ErrorCode::unavailable, ErrorCode::shutting_down}) {
        const Response response = refused({code, "later", ""});

        EXPECT_EQ(response.status, 503);
        EXPECT_EQ(response.body, R"({"code":503,"message":"later","data":null})");
        ASSERT_EQ(response.headers.size(), 1u);
        EXPECT_EQ(response.headers[0].first, "Retry-After");
    }
}

}  // namespace envelope_test
}  // namespace sluice::http::deploy
