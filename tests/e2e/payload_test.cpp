// Payloads are kept byte for byte, whatever JSON they are.
#include "domain/values/sha256.hpp"
#include "e2e/api.hpp"

namespace sluice::e2e {
namespace payload_test {

constexpr std::size_t payload_bytes_max = 256 * 1024;

ON_EACH_STORE(Payload);

std::string with_payload(const Api& api, std::string_view payload) {
    return R"({"type":"task","queue":")" + api.queue() + R"(","payload":)" + std::string(payload) +
           "}";
}

TEST_P(Payload, ComesBackByteForByteWithItsDigest) {
    const char* const payloads[] = {"{}",
                                    "[]",
                                    "null",
                                    "true",
                                    "false",
                                    "0",
                                    "-0",
                                    "-0.0",
                                    R"("")",
                                    R"("text")",
                                    R"({ "b" : 1 ,  "a":2,"c" : [ 1,2 , 3 ] })",
                                    "{\n  \"spaced\": [\r\n 1 ]\n}",
                                    "123456789012345678901234567890123456789012345678901234567890",
                                    "1.10000000000000000000000000000000000001e-300",
                                    "1E5",
                                    "1e+5",
                                    "18446744073709551616",
                                    R"("\u0041\u00e9\ud83d\udca1\/\b\f\n\r\t\"\\")",
                                    "\"naïve 💡 \u202e\"",
                                    R"({"a":{"b":{"c":[[[{"d":null}]]]}}})",
                                    R"({"dup":1,"DUP":2})",
                                    R"(["\u0000"])",
                                    R"({"":""})",
                                    R"({"__proto__":{},"constructor":1})"};

    for (const std::string payload : payloads) {
        const Response submitted = api.http.post("/api/v1/jobs", with_payload(api, payload));
        ASSERT_EQ(submitted.status, 202) << payload << submitted.body;
        const Json job = parse(submitted.body);
        const Response read = api.http.get("/api/v1/jobs/" + text(job, "id"));

        EXPECT_EQ(raw_member(submitted.body, "payload"), payload);
        EXPECT_EQ(raw_member(read.body, "payload"), payload);
        EXPECT_EQ(text(job, "payload_digest"), to_hex(sha256(payload)));
        const Response claimed = api.http.post("/api/v1/leases", api.claim_text());
        EXPECT_EQ(raw_member(claimed.body, "payload"), payload);
    }
}

TEST_P(Payload, HasTheDigestThatOtherToolsCompute) {
    const Response response = api.http.post("/api/v1/jobs", with_payload(api, R"({"n":1})"));

    // printf '{"n":1}' | sha256sum
    EXPECT_EQ(text(parse(response.body), "payload_digest"),
              "2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd");
}

TEST_P(Payload, MayHave256KiBAndNotAByteMore) {
    const std::string longest = "\"" + std::string(payload_bytes_max - 2, 'x') + "\"";
    const Response accepted = api.http.post("/api/v1/jobs", with_payload(api, longest));
    const Response refused = api.http.post("/api/v1/jobs", with_payload(api, longest + " "));
    const Response spaced = api.http.post("/api/v1/jobs", with_payload(api, "[" + longest + "]"));

    ASSERT_EQ(accepted.status, 202);
    EXPECT_EQ(raw_member(accepted.body, "payload"), longest);
    EXPECT_EQ(refused.status, 202) << "space after the value is not part of it";
    expect_refused(spaced, 413, "too_large", "/payload");
}

TEST_P(Payload, MayBeNestedUpToTheLimitAndNotDeeper) {
    // The body itself is the first of 32 levels.
    const auto nested = [](int depth) {
        return std::string(static_cast<std::size_t>(depth), '[') +
               std::string(static_cast<std::size_t>(depth), ']');
    };

    EXPECT_EQ(api.http.post("/api/v1/jobs", with_payload(api, nested(31))).status, 202);
    expect_refused(api.http.post("/api/v1/jobs", with_payload(api, nested(32))), 400, "malformed");
    expect_refused(api.http.post("/api/v1/jobs", with_payload(api, nested(100'000))), 400,
                   "malformed");
}

TEST_P(Payload, IsNullWhenNoneWasGiven) {
    const Json job = api.submit();

    EXPECT_TRUE(is_null(job, "payload"));
    EXPECT_EQ(text(job, "payload_digest"), to_hex(sha256("null")));
}

TEST_P(Payload, OfAReplayIsThatOfTheFirstJob) {
    const std::string payload = R"({ "keep" : [1 ,2] })";
    const std::string id =
        text(parse(api.http.post("/api/v1/jobs", with_payload(api, payload)).body), "id");
    expect_ok(api.cancel(id));

    const Response replayed = api.replay(id);

    EXPECT_EQ(raw_member(replayed.body, "payload"), payload);
}

TEST_P(Payload, ResultsAreKeptByteForByteToo) {
    api.submit();
    const Json lease = api.claim_one();
    const std::string result = R"({ "z":1, "a" : 1.50 , "s":"\u00e9"})";

    const Response reported = api.http.post("/api/v1/leases/" + text(lease, "lease_id") + "/report",
                                            R"({"outcome":"succeeded","result":)" + result + "}");

    EXPECT_EQ(raw_member(reported.body, "result"), result);
    EXPECT_EQ(raw_member(api.http.get("/api/v1/jobs/" + job_of(lease)).body, "result"), result);
}

}  // namespace payload_test
}  // namespace sluice::e2e
