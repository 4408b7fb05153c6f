#include "interfaces/http/message/framing_gate.hpp"

#include <gtest/gtest.h>

#include <string>

#include "interfaces/http/message/request_parser.hpp"

namespace sluice::http {
namespace framing_gate_test {

// Sends a whole head through scanner, grammar and gate, as a connection does. 200: accepted;
// 0: not complete.
int judge(std::string_view bytes, const GateRules& rules = {}, Framing* framing = nullptr) {
    HeadScanner scanner;
    const auto outcome = scanner.scan(bytes, rules);
    if (const auto* rejection = std::get_if<Rejection>(&outcome)) return rejection->status;
    const auto* complete = std::get_if<HeadScanner::Complete>(&outcome);
    if (!complete) return 0;

    Head head;
    const auto malformed = parse_head(bytes.substr(0, complete->head_bytes), head);
    if (malformed) return malformed->status;
    const auto checked = check_framing(head, rules);
    if (const auto* rejection = std::get_if<Rejection>(&checked)) return rejection->status;
    if (framing) *framing = std::get<Framing>(checked);
    return 200;
}

int judge_headers(std::string_view headers, std::string_view method = "POST") {
    return judge(std::string(method) + " /jobs HTTP/1.1\r\nHost: here\r\n" + std::string(headers) +
                 "\r\n");
}

int judge_target(std::string_view target) {
    return judge("GET " + std::string(target) + " HTTP/1.1\r\nHost: here\r\n\r\n");
}

int judge_host(std::string_view host, const GateRules& rules = {}) {
    return judge("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n", rules);
}

TEST(FramingGate, AcceptsAnOrdinaryRequest) {
    Framing framing;

    const int status = judge(
        "POST /jobs?a=1 HTTP/1.1\r\nHost: here:80\r\nContent-Length: 12\r\n"
        "Expect: 100-continue\r\nX-Request-Id: abc-1\r\n\r\n",
        {}, &framing);

    EXPECT_EQ(status, 200);
    EXPECT_EQ(framing.body_bytes, 12u);
    EXPECT_TRUE(framing.keep_alive);
    EXPECT_TRUE(framing.expects_continue);
    EXPECT_EQ(framing.request_id, "abc-1");
}

TEST(FramingGate, TakesChunksWhenTheyAreAnnouncedPlainly) {
    for (const char* field : {"Transfer-Encoding: chunked\r\n", "transfer-encoding: chunked\r\n",
                              "Transfer-Encoding:chunked\r\n"}) {
        Framing framing;
        EXPECT_EQ(judge("POST /jobs HTTP/1.1\r\n" + std::string(field) + "Host: here\r\n\r\n", {},
                        &framing),
                  200)
            << field;
        EXPECT_TRUE(framing.is_chunked);
        EXPECT_TRUE(framing.has_body());
        EXPECT_EQ(framing.body_bytes, 0u);
    }
}

TEST(FramingGate, RefusesEveryOtherTransferEncodingAndTrailers) {
    for (const char* value :
         {"gzip", "identity", "CHUNKED", "Chunked", "chunked, identity", "identity, chunked",
          "gzip, chunked", "chunked, chunked", "chunked,", ",chunked", "chunked;q=1", "\"chunked\"",
          "xchunked", "chunkedx", "", " chunked", "\tchunked", "chunked ", "chunked\t"}) {
        EXPECT_EQ(judge_headers("Transfer-Encoding: " + std::string(value) + "\r\n"), 411) << value;
    }
    EXPECT_EQ(judge_headers("Transfer-Encoding:\tchunked\r\n"), 411);
    EXPECT_EQ(judge_headers("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 411);
    EXPECT_EQ(judge_headers("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 411);
    EXPECT_EQ(judge_headers("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"), 411);
    EXPECT_EQ(judge_headers("Transfer-Encoding: chunked\r\nContent-Length: x\r\n"), 411);
    EXPECT_EQ(judge_headers("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 411);
    EXPECT_EQ(judge_headers("Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n"), 411);
    EXPECT_EQ(judge_headers("Trailer: Authorization\r\n"), 411);
    EXPECT_EQ(judge_headers("Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n"), 411);
    EXPECT_NE(judge_headers("Transfer-Encoding : chunked\r\n"), 200);
    EXPECT_EQ(judge("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"), 411);
}

TEST(FramingGate, TakesContentLengthOnceAndInDigitsOnly) {
    EXPECT_EQ(judge_headers("Content-Length: 0\r\n"), 200);
    EXPECT_EQ(judge_headers("Content-Length: 1234567890\r\n"), 200);
    EXPECT_EQ(judge_headers("Content-Length: 12345678901\r\n"), 400);
    for (const char* value : {"5,5", "5, 5", "+5", "-5", "5 5", "0x5", "5.0", "5a", "", "\"5\""}) {
        EXPECT_EQ(judge_headers("Content-Length: " + std::string(value) + "\r\n"), 400) << value;
    }
    EXPECT_EQ(judge_headers("Content-Length: 5\r\nContent-Length: 5\r\n"), 400);
    EXPECT_EQ(judge_headers("Content-Length: 5\r\ncontent-length: 6\r\n"), 400);
}

TEST(FramingGate, TakesAMissingContentLengthAsAnEmptyBody) {
    for (const char* method : {"POST", "PUT", "PATCH", "BREW"}) {
        EXPECT_EQ(judge_headers("", method), 200) << method;
    }
}

TEST(FramingGate, RefusesABodyWhereItHasNoMeaning) {
    for (const char* method : {"GET", "HEAD", "DELETE", "OPTIONS"}) {
        EXPECT_EQ(judge_headers("Content-Length: 1\r\n", method), 400) << method;
        EXPECT_EQ(judge_headers("Content-Length: 0\r\n", method), 200) << method;
        EXPECT_EQ(judge_headers("Transfer-Encoding: chunked\r\n", method), 400) << method;
    }
}

TEST(FramingGate, LimitsTheBodyByItsAnnouncedSize) {
    Framing framing;
    framing.body_bytes = 100;

    EXPECT_FALSE(check_body_size(framing, 100));
    ASSERT_TRUE(check_body_size(framing, 99));
    EXPECT_EQ(check_body_size(framing, 99)->status, 413);
}

TEST(FramingGate, RequiresExactlyOneHost) {
    EXPECT_EQ(judge("GET / HTTP/1.1\r\n\r\n"), 400);
    EXPECT_EQ(judge("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), 400);
    EXPECT_EQ(judge("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n"), 400);
    for (const char* host : {"", "a b", "a/b", "u@h", "a:b", "a:", "[::1", "[::1]x", "a,b", ":80",
                             "a:1234567", "[z]"}) {
        const int expected = std::string_view(host) == "a:" ? 200 : 400;  // RFC 3986: empty port
        EXPECT_EQ(judge_host(host), expected) << host;
    }
}

TEST(FramingGate, SendsRequestsForForeignHostsAway) {
    GateRules rules;
    rules.allowed_hosts = {"jobs.example", "::1"};

    EXPECT_EQ(judge_host("jobs.example", rules), 200);
    EXPECT_EQ(judge_host("JOBS.example:8080", rules), 200);
    EXPECT_EQ(judge_host("[::1]:8080", rules), 200);
    EXPECT_EQ(judge_host("jobs.example.evil.example", rules), 421);
    EXPECT_EQ(judge_host("jobs.example.", rules), 421);
    EXPECT_EQ(judge_host("127.0.0.1", rules), 421);
}

TEST(FramingGate, TakesHttp10WithoutAHostFromThoseWhoWatchOnly) {
    GateRules rules;
    rules.allowed_hosts = {"here"};
    for (const char* path : {"/healthz", "/readyz", "/metrics", "/readyz?x=1"}) {
        const std::string target(path);
        EXPECT_EQ(judge("GET " + target + " HTTP/1.0\r\n\r\n", rules), 200) << path;
        EXPECT_EQ(judge("HEAD " + target + " HTTP/1.0\r\n\r\n", rules), 200) << path;
        EXPECT_EQ(judge("POST " + target + " HTTP/1.0\r\n\r\n", rules), 400) << path;
        EXPECT_EQ(judge("GET " + target + " HTTP/1.1\r\n\r\n", rules), 400) << path;
        EXPECT_EQ(judge("GET " + target + " HTTP/1.0\r\nHost: evil\r\n\r\n", rules), 421) << path;
        EXPECT_EQ(judge("GET " + target + " HTTP/1.0\r\nHost:\r\n\r\n", rules), 400) << path;
        EXPECT_EQ(judge("GET " + target + " HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"), 400) << path;
        EXPECT_EQ(judge("GET http://evil" + target + " HTTP/1.0\r\n\r\n", rules), 421) << path;
        EXPECT_EQ(judge("GET http://here" + target + " HTTP/1.0\r\n\r\n", rules), 200) << path;
    }
    for (const char* path : {"/", "/healthz/", "/api/v1/jobs", "/healthzz", "/%68ealthz"}) {
        EXPECT_EQ(judge("GET " + std::string(path) + " HTTP/1.0\r\n\r\n"), 400) << path;
    }
}

TEST(FramingGate, TakesTargetsThatNameThisHost) {
    const auto target_of = [](const std::string& target, const std::string& host) -> std::string {
        Framing framing;
        const std::string bytes = "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
        HeadScanner scanner;
        GateRules rules;
        rules.allowed_hosts = {"here", "::1"};
        const auto outcome = scanner.scan(bytes, rules);
        Head head;
        if (parse_head(bytes, head)) return "malformed";
        const auto checked = check_framing(head, rules);
        if (const auto* no = std::get_if<Rejection>(&checked)) return std::to_string(no->status);
        return std::string(std::get<Framing>(checked).target);
    };
    EXPECT_EQ(target_of("http://here/a?b=c", "here"), "/a?b=c");
    EXPECT_EQ(target_of("HTTPS://HERE:8080/a", "here:8080"), "/a");
    EXPECT_EQ(target_of("http://here:80/a", "here"), "/a");
    EXPECT_EQ(target_of("https://here/a", "here:443"), "/a");
    EXPECT_EQ(target_of("http://[::1]:8080/a", "[::1]:8080"), "/a");
    EXPECT_EQ(target_of("http://[::1]/a", "[::1]"), "/a");
    EXPECT_EQ(target_of("http://here", "here"), "/");
    for (const char* target :
         {"http://there/a", "http://here:81/a", "https://here:80/a", "http://u@here/a",
          "http://u:p@here/a", "http://here@evil/a", "http:///a", "http://here?a", "http:/here/a",
          "http:here/a", "http//here/a", "ftp://here/a", "//here/a#b", "http://here/a#b",
          "http://here/%00", "http://here/a%2fb", "http://here\\a/", "http://he%72e/a", "here/a"}) {
        EXPECT_EQ(target_of(target, "here"), "400") << target;
    }
    EXPECT_EQ(target_of("http://evil/a", "evil"), "421");
    EXPECT_EQ(target_of("http://here/a", "evil"), "400");
    EXPECT_EQ(judge("GET http://here/a HTTP/1.1\r\n\r\n"), 400) << "no Host";
    EXPECT_EQ(judge("GET http://here/a HTTP/1.0\r\n\r\n"), 400) << "no Host";
}

TEST(FramingGate, TakesTargetsInOriginForm) {
    EXPECT_EQ(judge_target("/"), 200);
    EXPECT_EQ(judge_target("/a?b=c&d=%2f"), 200);
    for (const char* target :
         {"*", "here:80", "a/b", "/a#b", "/\x80", "/\x7f", "/a b", "?a", "http://there/"}) {
        EXPECT_EQ(judge_target(target), 400) << target;
    }
    EXPECT_EQ(judge("GET  / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
    EXPECT_EQ(judge("GET / HTTP/1.1 \r\nHost: a\r\n\r\n"), 400);
    EXPECT_EQ(judge("GET /" + std::string(1, '\0') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
}

TEST(FramingGate, RefusesPathsThatDecodeToSomethingElse) {
    for (const char* path : {"/a%00", "/a%2fb", "/a%2Fb", "/%", "/%4", "/%zz", "/%c0%80", "/%ff",
                             "/%ed%a0%80", "/%f5%80%80%80", "/%e0%80%af"}) {
        EXPECT_EQ(judge_target(path), 400) << path;
    }
    EXPECT_EQ(judge_target("/%c3%a4%20x"), 200);
}

TEST(FramingGate, LimitsTheTarget) {
    EXPECT_EQ(judge_target("/" + std::string(2047, 'a')), 200);
    EXPECT_EQ(judge_target("/" + std::string(2048, 'a')), 414);
    EXPECT_EQ(judge_target("/" + std::string(9000, 'a')), 414);
}

TEST(FramingGate, ServesHttp11AndHttp10Only) {
    Framing framing;
    EXPECT_EQ(judge("GET / HTTP/1.0\r\nHost: a\r\n\r\n", {}, &framing), 200);
    EXPECT_FALSE(framing.keep_alive);
    for (const char* version : {"HTTP/2.0", "HTTP/1.2", "HTTP/0.9"}) {
        EXPECT_EQ(judge("GET / " + std::string(version) + "\r\nHost: a\r\n\r\n"), 505) << version;
    }
    for (const char* version : {"HTTP/11", "http/1.1", "HTTP/1.1x", "HTTP/1", "FTP/1.1", "x"}) {
        EXPECT_EQ(judge("GET / " + std::string(version) + "\r\nHost: a\r\n\r\n"), 400) << version;
    }
    EXPECT_EQ(judge("GET /\r\nHost: a\r\n\r\n"), 400);
}

TEST(FramingGate, KeepsAConnectionOfHttp10WhenTheClientAsksForIt) {
    const auto framing_of = [](const std::string& version, const std::string& connection) {
        Framing framing;
        EXPECT_EQ(
            judge("GET / " + version + "\r\nHost: a\r\nConnection: " + connection + "\r\n\r\n", {},
                  &framing),
            200);
        return framing;
    };
    for (const char* connection : {"keep-alive", "Keep-Alive", "x, keep-alive"}) {
        EXPECT_TRUE(framing_of("HTTP/1.0", connection).keep_alive) << connection;
        EXPECT_TRUE(framing_of("HTTP/1.0", connection).says_keep_alive) << connection;
    }
    EXPECT_FALSE(framing_of("HTTP/1.0", "keep-alive, close").keep_alive);
    EXPECT_FALSE(framing_of("HTTP/1.0", "x").keep_alive);
    EXPECT_TRUE(framing_of("HTTP/1.1", "keep-alive").keep_alive);
    EXPECT_FALSE(framing_of("HTTP/1.1", "keep-alive").says_keep_alive);
}

TEST(FramingGate, LimitsTheNumberOfHeaders) {
    const auto with = [](int count) {
        std::string headers;
        for (int i = 1; i < count; ++i) headers += "X: y\r\n";  // Host is one of them
        return headers;
    };

    EXPECT_EQ(judge_headers(with(64)), 200);
    EXPECT_EQ(judge_headers(with(65)), 431);
}

TEST(FramingGate, LimitsTheBytesOfTheHead) {
    const std::string start = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
    const auto with = [&](std::size_t total) {
        return start + std::string(total - start.size() - 4, 'x') + "\r\n\r\n";
    };

    EXPECT_EQ(judge(with(8192)), 200);
    EXPECT_EQ(judge(with(8193)), 431);
    EXPECT_EQ(judge(with(819200)), 431);
    EXPECT_EQ(judge(start + std::string(8192, 'x')), 431);  // its end never came
}

TEST(FramingGate, RefusesRepeatedHeadersThatDecide) {
    for (const char* name : {"Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"}) {
        const std::string once = std::string(name) + ": x\r\n";
        EXPECT_EQ(judge_headers(once), 200) << name;
        EXPECT_EQ(judge_headers(once + once), 400) << name;
    }
    EXPECT_EQ(judge_headers("Accept: a\r\nAccept: b\r\n"), 200);
}

TEST(FramingGate, MeetsNoOtherExpectationThanToContinue) {
    EXPECT_EQ(judge_headers("Expect: 100-Continue\r\n"), 200);
    EXPECT_EQ(judge_headers("Expect: 200-ok\r\n"), 417);
    EXPECT_EQ(judge_headers("Expect:\r\n"), 417);
    EXPECT_EQ(judge_headers("Expect: 100-continue\r\nExpect: x\r\n"), 417);
}

TEST(FramingGate, IgnoresUpgrades) {
    EXPECT_EQ(judge_headers("Connection: Upgrade\r\nUpgrade: h2c\r\n"), 200);
}

TEST(FramingGate, ClosesWhenTheClientAsksForIt) {
    for (const char* value : {"close", "Close", "keep-alive, close", "x ,close"}) {
        Framing framing;
        EXPECT_EQ(
            judge("GET / HTTP/1.1\r\nHost: a\r\nConnection: " + std::string(value) + "\r\n\r\n", {},
                  &framing),
            200);
        EXPECT_FALSE(framing.keep_alive) << value;
    }
}

TEST(FramingGate, RefusesHeadsThatOthersMayReadDifferently) {
    const std::string line = "GET / HTTP/1.1\r\nHost: a\r\n";
    EXPECT_EQ(judge("GET / HTTP/1.1\nHost: a\n\n"), 400);
    EXPECT_EQ(judge(line + "X: y\n\r\n"), 400);
    EXPECT_EQ(judge(line + "X: y\rZ: z\r\n\r\n"), 400);
    EXPECT_EQ(judge(line + "X: y\r\r\n\r\n"), 400);
    EXPECT_EQ(judge(line + "X: y\r\n folded\r\n\r\n"), 400);
    EXPECT_EQ(judge(line + "X: y\r\n\tfolded\r\n\r\n"), 400);
    EXPECT_EQ(judge("GET / HTTP/1.1\r\n Host: a\r\n\r\n"), 400);
    EXPECT_EQ(judge(line + "X : y\r\n\r\n"), 400);
    EXPECT_EQ(judge(line + "X\t: y\r\n\r\n"), 400);
    EXPECT_EQ(judge(line + ": y\r\n\r\n"), 400);
    EXPECT_EQ(judge(line + "X\r\n\r\n"), 400);
    EXPECT_EQ(judge(line + "X(y): z\r\n\r\n"), 400);
    EXPECT_EQ(judge(line + "X\xc3\xa4: z\r\n\r\n"), 400);
    EXPECT_EQ(judge(line + "X: a" + std::string(1, '\0') + "b\r\n\r\n"), 400);
    EXPECT_EQ(judge(line + "X: a\x01\r\n\r\n"), 400);
    EXPECT_EQ(judge(line + "X: a\x7f\r\n\r\n"), 400);
    EXPECT_EQ(judge("\r\n" + line + "\r\n"), 400);
    EXPECT_EQ(judge("G(T / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
    EXPECT_EQ(judge(line + "X: a\tb \xc3\xa4\r\n\r\n"), 200);
}

TEST(HeadScanner, JudgesAHeadAlikeInWhateverPiecesItArrives) {
    const std::string head = "GET / HTTP/1.1\r\nHost: a\r\nX: y z\r\n\r\n";
    const GateRules rules;
    HeadScanner scanner;

    for (std::size_t count = 1; count < head.size(); ++count) {
        const auto outcome = scanner.scan(std::string_view(head).substr(0, count), rules);
        EXPECT_TRUE(std::holds_alternative<HeadScanner::NeedMore>(outcome)) << count;
    }
    const auto outcome = scanner.scan(head + "rest", rules);

    ASSERT_TRUE(std::holds_alternative<HeadScanner::Complete>(outcome));
    EXPECT_EQ(std::get<HeadScanner::Complete>(outcome).head_bytes, head.size());
}

TEST(HeadScanner, RefusesABadByteAsSoonAsItArrives) {
    const GateRules rules;
    const std::string_view bad = "GET / HTTP/1.1\n";
    HeadScanner scanner;

    EXPECT_TRUE(
        std::holds_alternative<HeadScanner::NeedMore>(scanner.scan("GET / HTTP/1.1", rules)));
    EXPECT_TRUE(std::holds_alternative<Rejection>(scanner.scan(bad, rules)));
}

}  // namespace framing_gate_test
}  // namespace sluice::http
