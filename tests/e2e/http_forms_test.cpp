// The forms of HTTP that clients in the field use: chunked bodies, HTTP/1.0, targets with a host or
// with encoded letters; and the bodies that each contract accepts.
#include "e2e/api.hpp"

namespace sluice::e2e {
namespace http_forms_test {

ON_EACH_STORE(HttpForms);

const std::string chunked = "Transfer-Encoding: chunked\r\n";

std::string post_head(const std::string& target, const std::string& more,
                      const std::string& version = "HTTP/1.1") {
    return "POST " + target + " " + version +
           "\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" + more + "\r\n";
}

std::string chunk(const std::string& bytes) {
    char size[20];
    std::snprintf(size, sizeof(size), "%zx\r\n", bytes.size());
    return size + bytes + "\r\n";
}

// Runs a program of the machine in a shell, and returns its output.
Ended run_shell(const std::string& command) {
    Process process({"/bin/sh", "-c", command});
    const std::optional<int> code = process.wait(Millis(30'000));
    return {code.value_or(-1), process.output(), process.errors()};
}

bool has_program(const std::string& name) {
    return run_shell("command -v " + name + " && " + name + " --version").code == 0;
}

TEST_P(HttpForms, AJobMayBeSubmittedInChunks) {
    const std::string body = R"({"type":"task","queue":")" + api.queue() + R"(","payload":"é"})";
    std::string request = post_head("/api/v1/jobs", chunked);
    request += "5;name=\"a;b\"\r\n" + body.substr(0, 5) + "\r\n";
    for (std::size_t at = 5; at < body.size(); ++at) request += chunk(body.substr(at, 1));
    request += "0\r\n\r\n";
    Client client(engine.port());

    client.send(request + request + request_text("GET", "/healthz", ""));

    for (int i = 0; i < 2; ++i) {
        const auto answer = client.receive();
        ASSERT_TRUE(answer);
        const Json job = expect_ok(*answer, 202);
        EXPECT_EQ(text(job, "payload"), "é");
    }
    const auto after = client.receive();
    ASSERT_TRUE(after);
    EXPECT_EQ(after->status, 200);
}

TEST_P(HttpForms, ABatchInChunksMayBeAsLargeAsOneWithALength) {
    std::string jobs;
    for (int i = 0; i < 30; ++i) {
        jobs += (i > 0 ? "," : "") + (R"({"type":"task","queue":")" + api.queue()) +
                R"(","payload":")" + std::string(200'000, 'p') + "\"}";
    }
    const std::string body = R"({"jobs":[)" + jobs + "]}";
    Client client(engine.port());
    client.send(post_head("/api/v1/jobs/batch", chunked));
    for (std::size_t at = 0; at < body.size(); at += 50'000) {
        client.send(chunk(body.substr(at, 50'000)));
    }
    client.send("0\r\n\r\n");

    const auto answer = client.receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 202) << answer->body.substr(0, 300);
}

// With libcurl's own chunks, from a pipe and from a text, and with an expectation.
TEST_P(HttpForms, CurlSendsChunks) {
    const std::string url = "http://127.0.0.1:" + std::to_string(engine.port()) + "/api/v1/jobs";
    const std::string body = R"({"type":"task","queue":")" + api.queue() + R"("})";
    const std::string curl = "curl -sS -X POST -H 'Content-Type: application/json' ";
    for (const std::string how :
         {"-T - ", "-H 'Transfer-Encoding: chunked' --data-binary @- ",
          "-T - -H 'Expect: 100-continue' ", "-T - --http1.1 -H 'Connection: close' "}) {
        const Ended ended = run_shell("printf '%s' '" + body + "' | " + curl + how + url);
        EXPECT_EQ(ended.code, 0) << how << ended.errors;
        EXPECT_EQ(text(parse(ended.output), "queue"), api.queue()) << how << ended.output;
    }
    EXPECT_EQ(api.claim({{"limit", 10}}).size(), 4u);
}

// A stream of node has no known length before its end.
TEST_P(HttpForms, NodeSendsChunks) {
    if (!has_program("node")) GTEST_SKIP() << "node is not installed";
    const std::string script =
        "const request = require(\"http\").request({port: " + std::to_string(engine.port()) +
        ", path: \"/api/v1/jobs\", method: \"POST\", "
        "headers: {\"Content-Type\": \"application/json\"}}, answer => { "
        "answer.resume(); console.log(answer.statusCode) }); "
        "request.write(\"{\\\"type\\\":\\\"task\\\",\"); "
        "setTimeout(() => request.end(\"\\\"queue\\\":\\\"" +
        api.queue() + "\\\"}\"), 20)";
    const Ended ended = run_shell("node -e '" + script + "'");
    EXPECT_EQ(ended.output, "202\n") << ended.errors;
    EXPECT_EQ(api.claim().size(), 1u);
}

// A generator of Python, sent by its standard library.
TEST_P(HttpForms, PythonSendsChunks) {
    if (!has_program("python3")) GTEST_SKIP() << "python3 is not installed";
    const std::string script =
        "import http.client as h, json\n"
        "c = h.HTTPConnection(\"127.0.0.1\", " +
        std::to_string(engine.port()) +
        ")\n"
        "body = (t.encode() for t in json.JSONEncoder().iterencode({\"type\": \"task\", "
        "\"queue\": \"" +
        api.queue() +
        "\", \"payload\": list(range(100))}))\n"
        "c.request(\"POST\", \"/api/v1/jobs\", body, {\"Content-Type\": \"application/json\"}, "
        "encode_chunked=True)\n"
        "print(c.getresponse().status)\n";
    const Ended ended = run_shell("python3 -c '" + script + "'");
    EXPECT_EQ(ended.output, "202\n") << ended.errors;
    EXPECT_EQ(api.claim().size(), 1u);
}

TEST_P(HttpForms, WhoWatchesMaySpeakHttp10WithoutAHost) {
    for (const char* path : {"/healthz", "/readyz", "/metrics"}) {
        Client client(engine.port());
        client.send("GET " + std::string(path) + " HTTP/1.0\r\n\r\n");
        const auto answer = client.receive();
        ASSERT_TRUE(answer) << path;
        EXPECT_EQ(answer->status, 200) << path;
        EXPECT_EQ(answer->header("Connection"), "close") << path;
        EXPECT_TRUE(client.is_closed_by_peer(Millis(5000))) << path;
    }
}

// As "ab -k" asks.
TEST_P(HttpForms, AConnectionOfHttp10IsKeptWhenAsked) {
    Client client(engine.port());
    const std::string body = R"({"type":"task","queue":")" + api.queue() + R"("})";
    for (int i = 0; i < 3; ++i) {
        client.send(post_head("/api/v1/jobs",
                              "Connection: Keep-Alive\r\nContent-Length: " +
                                  std::to_string(body.size()) + "\r\n",
                              "HTTP/1.0") +
                    body);
        const auto answer = client.receive();
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->status, 202);
        EXPECT_EQ(answer->header("Connection"), "keep-alive");
    }
}

TEST_P(HttpForms, TargetsMayNameThisHost) {
    const std::string host = "127.0.0.1:" + std::to_string(engine.port());
    const std::string id = api.submit_id();
    Client client(engine.port());
    for (const char* scheme : {"http://", "https://", "HTTP://"}) {
        const Response answer =
            client.get(scheme + host + "/api/v1/jobs/" + id + "?tenant=default", {{"Host", host}});
        EXPECT_EQ(text(expect_ok(answer), "id"), id);
    }
    const Response other = client.get("http://localhost/healthz", {{"Host", "127.0.0.1"}});
    expect_refused(other, 400, "bad_host");
}

TEST_P(HttpForms, LettersDigitsAndMarksMayBeEncodedInPaths) {
    const std::string id = api.submit_id();
    std::string encoded;
    for (const char c : id) {
        char escape[4];
        std::snprintf(escape, sizeof(escape), "%%%02x", static_cast<unsigned char>(c));
        encoded += escape;
    }
    EXPECT_EQ(text(api.get("/%61pi/v1/%6A%6Fbs/" + encoded), "id"), id);
    EXPECT_EQ(api.http.get("/api/v1/jobs%2F" + id).status, 400);
    EXPECT_EQ(api.http.get("/api/v1/jobs/%2e%2e").status, 404);
    EXPECT_EQ(api.http.get("/api/v1/jobs/%2561").status, 404);
}

// A key counts for the same request, however its path is written.
TEST_P(HttpForms, AnEncodedPathIsTheSameRequest) {
    const std::string body = R"({"type":"task","queue":")" + api.queue() + R"("})";
    const Headers key{{"Idempotency-Key", fresh_name("key")}};
    const Json first = expect_ok(api.http.post("/api/v1/jobs", body, key), 202);
    const Response again = api.http.post("/api/v1/%6a%6f%62%73", body, key);
    EXPECT_EQ(text(parse(again.body), "id"), text(first, "id")) << again.body;
}

TEST_P(HttpForms, ATenantIsNotNamedByAParameterWhereTheBodyNamesIt) {
    const std::string body = R"({"type":"task","queue":")" + api.queue() + R"("})";
    const Response refused = api.http.post("/api/v1/jobs?tenant=b", body);
    expect_refused(refused, 400, "malformed");
    EXPECT_NE(refused.body.find("\\\"tenant\\\" is not a known parameter"), std::string::npos);
    EXPECT_TRUE(list(api.get("/api/v1/jobs?queue=" + api.queue()), "jobs").empty());
    EXPECT_EQ(api.http.post("/api/v1/jobs?", body).status, 202);
    EXPECT_EQ(api.http.get("/healthz?x=1").status, 200);
}

// Encodings and charsets that are not supported are refused everywhere, in the form of each
// contract.
TEST_P(HttpForms, BodiesInOtherEncodingsAreRefusedByEachContract) {
    for (const char* path : {"/api/v1/jobs", "/api/jobs", "/api/apps", "/deploy/jobs"}) {
        const Response coded =
            api.http.post(path, R"({"type":"t"})", {{"Content-Encoding", "gzip"}});
        EXPECT_EQ(coded.header("Accept-Encoding"), "identity") << path;
        const Response foreign = api.http.post(
            path, R"({"type":"t"})", {{"Content-Type", "application/json; charset=utf-16"}});
        for (const Response* answer : {&coded, &foreign}) {
            EXPECT_EQ(answer->status, 415) << path << answer->body;
        }
        const bool is_enveloped = std::string(path).starts_with("/deploy");
        if (is_enveloped) {
            EXPECT_EQ(number(parse(coded.body), "code"), 415) << coded.body;
        }
        EXPECT_EQ(foreign.header("Accept-Encoding"), "") << path;
    }
    const std::string body = R"({"type":"task","queue":")" + api.queue() + R"("})";
    for (const char* type :
         {"application/json;charset=UTF-8", "application/json; charset=\"utf-8\"",
          "application/json ; x=y; Charset=utf8", "Application/JSON"}) {
        EXPECT_EQ(api.http.post("/api/v1/jobs", body, {{"Content-Type", type}}).status, 202)
            << type;
    }
    EXPECT_EQ(api.http.post("/api/v1/jobs", body, {{"Content-Encoding", "Identity"}}).status, 202);
}

// The native API requires a Content-Type. The others take the body for JSON, as their own systems
// do.
TEST_P(HttpForms, ABodyWithoutAContentTypeIsForTolerantContracts) {
    const auto send = [&](const std::string& path, const std::string& body) {
        Client client(engine.port());
        client.send("POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n\r\n" + body);
        return client.receive().value_or(Response{});
    };
    expect_refused(send("/api/v1/jobs", R"({"type":"t"})"), 415, "unsupported_media_type");
    EXPECT_EQ(send("/api/jobs", R"({"action":"untyped"})").status, 202);
    const std::string id = api.submit_id();
    EXPECT_EQ(send("/api/v1/jobs/" + id + "/cancel", "").status, 200) << "there is no body";
}

TEST_P(HttpForms, HistogramsHaveTheirBucketsFirst) {
    api.submit();
    const std::string page = api.http.get("/metrics").body;
    for (const std::string name : {"sluice_commit_seconds", "sluice_commit_batch_size"}) {
        const std::size_t bucket = page.find("\n" + name + "_bucket{le=\"+Inf\"} ");
        const std::size_t sum = page.find("\n" + name + "_sum ");
        const std::size_t count = page.find("\n" + name + "_count ");
        ASSERT_NE(count, std::string::npos) << page;
        EXPECT_LT(bucket, sum);
        EXPECT_LT(sum, count);
    }
}

}  // namespace http_forms_test
}  // namespace sluice::e2e
