// Thousands of requests with one mistake each, whole and in two pieces, and JSON with one wrong
// byte: none of them becomes a job.
#include <boost/json.hpp>

#include "e2e/api.hpp"
#include "e2e/bad_requests.hpp"

namespace sluice::e2e {
namespace bad_generated_test {

// The statuses of all answers to these bytes, until the connection ends.
std::vector<int> statuses(std::uint16_t port, std::string_view first,
                          std::string_view second = {}) {
    Client client(port);
    client.send(first);
    if (!second.empty()) client.send(second);
    client.finish_sending();
    std::string all;
    for (std::string more; !(more = client.receive_some(Millis(10'000))).empty();) all += more;
    std::vector<int> found;
    constexpr std::string_view start = "HTTP/1.1 ";
    for (std::size_t at = all.find(start); at != std::string::npos; at = all.find(start, at + 1)) {
        const char digit = all[at + start.size()];  // the texts of refusals name the version, too
        if (digit >= '1' && digit <= '5')
            found.push_back(std::stoi(all.substr(at + start.size(), 3)));
    }
    return found;
}

bool is_refusal(int status) {
    return (status >= 400 && status < 500) || status == 501 || status == 505;
}

class BadGenerated : public testing::Test {
  protected:
    BadGenerated() : engine("memory:"), api(engine.port(), "default") {}

    void expect_refused(const RawRequest& bad) {
        for (const int status : statuses(engine.port(), bad.bytes)) {
            EXPECT_TRUE(is_refusal(status)) << bad.name << ": " << status;
        }
    }
    std::size_t jobs() { return list(api.get("/api/v1/jobs"), "jobs").size(); }

    Engine engine;
    Api api;
};

TEST_F(BadGenerated, WhatTheyAreMadeOfIsAccepted) {
    EXPECT_EQ(statuses(engine.port(), good_generated()), std::vector<int>{202});
    EXPECT_EQ(jobs(), 1u);
}

TEST_F(BadGenerated, NoneOfThousandsBecomesAJob) {
    const std::vector<RawRequest> all = bad_generated();
    EXPECT_GE(all.size(), 2000u);

    for (const RawRequest& bad : all) expect_refused(bad);

    EXPECT_EQ(jobs(), 0u);
    EXPECT_EQ(api.http.get("/readyz").status, 200);
}

TEST_F(BadGenerated, InTwoPiecesTheyMeetTheSameAnswer) {
    std::vector<RawRequest> chosen;
    const std::vector<RawRequest> all = bad_generated();
    for (std::size_t i = 0; i < all.size(); i += all.size() / 60) {
        const bool is_short = all[i].bytes.size() > 80 && all[i].bytes.size() < 250;
        if (is_short) chosen.push_back(all[i]);
    }
    ASSERT_GE(chosen.size(), 50u);

    for (const RawRequest& bad : chosen) {
        const std::vector<int> whole = statuses(engine.port(), bad.bytes);
        const std::string_view bytes = bad.bytes;
        for (std::size_t at = 1; at < bytes.size(); ++at) {
            EXPECT_EQ(statuses(engine.port(), bytes.substr(0, at), bytes.substr(at)), whole)
                << bad.name << " at " << at;
        }
    }
    EXPECT_EQ(jobs(), 0u);
}

// Whether another parser takes it for JSON.
bool is_json(const std::string& text) {
    boost::system::error_code error;
    boost::json::parse(boost::json::string_view(text.data(), text.size()), error);
    return !error;
}

// Every text that differs from a good one in one byte, or lacks its end, and is no JSON any more.
std::vector<std::string> broken_json() {
    const std::string good = R"({"type":"malformed","priority":1,"payload":)"
                             R"({"a":[1,-2.5e+3,true,false,null,"x\u00e9\n\\"],"b":{}}})";
    std::vector<std::string> found;
    const auto take = [&](const std::string& text) {
        if (!is_json(text)) found.push_back(text);
    };
    const std::string_view bytes("{}[]:,\"'\\/0-+.eEux \t\n\r\0\x1f\x7f\x80\xc0\xff", 28);
    for (std::size_t at = 0; at < good.size(); ++at) {
        take(good.substr(0, at));
        std::string shorter = good;
        take(shorter.erase(at, 1));
        for (const char byte : bytes) {
            std::string other = good;
            other[at] = byte;
            take(other);
            std::string longer = good;
            take(longer.insert(at, 1, byte));
        }
    }
    return found;
}

TEST_F(BadGenerated, JsonWithOneByteWrongIsRefused) {
    const std::vector<std::string> all = broken_json();
    EXPECT_GE(all.size(), 1500u);
    for (const std::string& body : all) {
        const Response answer = api.http.post("/api/v1/jobs", body);
        EXPECT_TRUE(answer.status == 400 || answer.status == 413 || answer.status == 422)
            << answer.status << ' ' << body;
    }
    EXPECT_EQ(jobs(), 0u);
}

std::vector<std::string> sound_json() {
    std::vector<std::string> all{"0",
                                 "-0",
                                 "0.0",
                                 "-0.5e-7",
                                 "1E5",
                                 "1e+5",
                                 "123456789012345678",
                                 "1e308",
                                 "4.9e-324",
                                 "0.1",
                                 "true",
                                 "false",
                                 "\"\"",
                                 "\" \"",
                                 "[]",
                                 "{}",
                                 "[[]]",
                                 "[{}]",
                                 "[ ]",
                                 "{ }",
                                 "[1,2]",
                                 "[ 1 , 2 ]",
                                 "\"\\\"\"",
                                 "\"\\\\\"",
                                 "\"\\/\"",
                                 "\"\\b\\f\\n\\r\\t\"",
                                 "\"\\u0020\"",
                                 "\"\\u00e9\"",
                                 "\"\\uD83D\\uDE00\"",
                                 "\"\\ud83d\\ude00\"",
                                 "\"\xc3\xa9\"",
                                 "\"\xf0\x9f\x98\x80\"",
                                 "\"\x7f\"",
                                 "\"\xe2\x80\xa8\"",
                                 "\"/\"",
                                 "{\"\":1}",
                                 "{\"a\":{\"a\":1}}",
                                 "{\"a\":1,\"b\":2}",
                                 "{\"\\u0061\":1}",
                                 "[null,true,1,\"x\",[],{}]",
                                 "\"\xef\xbf\xbf\"",
                                 "\"\xf4\x8f\xbf\xbf\"",
                                 "{\"a\" : [ 1 ,\t2 , \"3\" ] }"};
    for (int depth = 1; depth <= 31; ++depth) {
        const auto size = static_cast<std::size_t>(depth);
        all.push_back(std::string(size, '[') + std::string(size, ']'));
    }
    for (int digits = 1; digits <= 64; ++digits) {
        all.push_back("0." + std::string(static_cast<std::size_t>(digits > 62 ? 62 : digits), '7'));
    }
    return all;
}

TEST_F(BadGenerated, SoundJsonIsAcceptedAndComesBackAsItWas) {
    for (const std::string& payload : sound_json()) {
        const Response answer = api.http.post(
            "/api/v1/jobs", R"( { "type" : "sound" , "payload" : )" + payload + "}\r\n");
        ASSERT_EQ(answer.status, 202) << payload << answer.body;
        const std::string id = text(parse(answer.body), "id");
        EXPECT_EQ(raw_member(api.http.get("/api/v1/jobs/" + id).body, "payload"), payload);
    }
}

TEST_F(BadGenerated, WhatParsersDisagreeAboutIsEitherKeptOrRefused) {
    for (const std::string& payload :
         {std::string("1e400"), std::string("-1e400"), std::string("1e-400"),
          std::string("123123123123123123123123123123"), std::string("1.5e+9999"),
          std::string("\"\\ud800\""), std::string("\"\\udfff\\ud800\""),
          std::string("\"\\uD800\\uD800\""), std::string("\"\xed\xa0\x80\""),
          std::string("\"\xc0\xaf\""), std::string("\"\xf8\x88\x80\x80\x80\""),
          std::string("\xef\xbb\xbf[]"), std::string("[\"\\u0000\"]"),
          std::string("{\"a\":1,\"a\":2}"), std::string("{\"a\\u0000b\":1}"),
          std::string("\"\xff\xfe\""), std::string("\"\\uFFFE\""),
          std::string(500, '[') + std::string(500, ']'), "0." + std::string(100, '0') + "1"}) {
        const Response answer =
            api.http.post("/api/v1/jobs", R"({"type":"doubtful","payload":)" + payload + "}");
        if (answer.status == 202) {
            const std::string id = text(parse(answer.body), "id");
            EXPECT_EQ(raw_member(api.http.get("/api/v1/jobs/" + id).body, "payload"), payload);
        } else {
            EXPECT_TRUE(answer.status == 400 || answer.status == 413 || answer.status == 422)
                << answer.status << ' ' << payload;
        }
    }
}

}  // namespace bad_generated_test
}  // namespace sluice::e2e
