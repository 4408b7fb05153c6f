#include "e2e/bad_requests.hpp"

namespace sluice::e2e {
namespace {

const std::string body = R"({"type":"smuggled"})";
const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
const std::string post = "POST /api/v1/jobs HTTP/1.1\r\n";
const std::string get = "GET /healthz HTTP/1.1\r\n";
const std::string host = "Host: 127.0.0.1\r\n";
const std::string end = "\r\n";

using Cases = std::vector<BadRequest>;

void add(Cases& cases, std::string name, std::string bytes, int status, std::string code = "") {
    cases.push_back({std::move(name), std::move(bytes), status, std::move(code), true});
}

void add_transfer_codings(Cases& cases) {
    const std::string chunked = "5\r\nhello\r\n0\r\n\r\n";
    for (const std::string field :
         {"Transfer-Encoding: identity", "Transfer-Encoding: gzip", "transfer-ENCODING: CHUNKED",
          "Transfer-Encoding:\tchunked", "Transfer-Encoding: xchunked",
          "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: ", "Trailer: X-Sum",
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
          "Transfer-Encoding: chunked\r\nTrailer: X-Sum", "Transfer-Encoding: gzip, chunked",
          "Transfer-Encoding:  chunked", "Transfer-Encoding: chunked "}) {
        add(cases, field, post + host + field + "\r\n" + end + chunked, 411, "length_required");
    }
    add(cases, "CL and TE", post + host + length + "Transfer-Encoding: chunked\r\n" + end + chunked,
        411, "length_required");
    add(cases, "TE and CL", post + host + "Transfer-Encoding: chunked\r\n" + length + end + chunked,
        411, "length_required");
    add(cases, "space before colon", post + host + "Transfer-Encoding : chunked\r\n" + end, 400);
    add(cases, "TE folded", post + host + "Transfer-Encoding:\r\n chunked\r\n" + end, 400);
    add(cases, "TE after NUL", post + host + std::string("X: \0", 4) + "\r\n" + end, 400);
    add(cases, "TE after VT",
        post + host +
            "Transfer-Encoding:\x0b"
            "chunked\r\n" +
            end,
        400);
}

// Every mistake in the chunks; another request would follow each.
void add_chunks(Cases& cases) {
    const std::string chunked = post + host + "Transfer-Encoding: chunked\r\n" + end;
    const std::string hidden = post + host + length + end + body;
    const std::string last = "0\r\n\r\n";
    const std::vector<std::string> bodies{
        "5\nhello\r\n" + last,
        "5\r\nhello\n" + last,
        "5\r\nhello" + last,
        "5\r\nhelloX\r\n" + last,
        "5\r\nhell\r\n" + last,
        "5\rhello\r\n" + last,
        "5 \r\nhello\r\n" + last,
        " 5\r\nhello\r\n" + last,
        "0x5\r\nhello\r\n" + last,
        "+5\r\nhello\r\n" + last,
        "-5\r\nhello\r\n" + last,
        "5;\r\nhello\r\n" + last,
        "5;a=\r\nhello\r\n" + last,
        "5;a=\"b\r\nhello\r\n" + last,
        "5;a=\"\r\n\"\r\nhello\r\n" + last,
        "5;a\nb\r\nhello\r\n" + last,
        "5;" + std::string(200, 'a') + "\r\nhello\r\n" + last,
        "000000005\r\nhello\r\n" + last,
        "fffffffffffffffff\r\nhello\r\n" + last,
        "\r\n5\r\nhello\r\n" + last,
        "five\r\nhello\r\n" + last,
        body,
        "0\n\n",
        "0\r\n\n",
        "0\r\r\n",
        "0\r\nX-Sum: 1\r\n\r\n",
        "0\r\nContent-Length: 5\r\n\r\n",
        "0\r\n" + hidden,
        std::string("5\0\r\nhello\r\n", 11) + last,
    };
    for (const std::string& bad : bodies) {
        add(cases, "chunks " + bad.substr(0, 24), chunked + bad + hidden, 400, "bad_chunk");
    }
    add(cases, "a chunk over 1 MiB", chunked + "100001\r\n", 413, "body_too_large");
    add(cases, "chunks over 1 MiB",
        chunked + "80000\r\n" + std::string(0x80000, ' ') + "\r\n80001\r\n", 413, "body_too_large");
    std::string many = chunked;
    for (int i = 0; i < 65'537; ++i) many += "1\r\n \r\n";
    add(cases, "too many chunks", many + last, 400, "too_many_chunks");
    for (const char* method : {"GET", "HEAD", "DELETE", "OPTIONS"}) {
        add(cases, std::string(method) + " with chunks",
            std::string(method) + " /healthz HTTP/1.1\r\n" + host +
                "Transfer-Encoding: chunked\r\n" + end + last,
            400, method == std::string("HEAD") ? "" : "unexpected_body");
    }
    add(cases, "chunks in HTTP/1.0",
        "POST /api/v1/jobs HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n" + end + last,
        411, "length_required");
}

void add_lengths(Cases& cases) {
    for (const char* bad :
         {"19,19", "+19", "-19", "0x13", "1 9", "19a", "a19", "1e1", "19.0", "", "00000000019",
          "99999999999", "18446744073709551635", "\"19\"", "19;"}) {
        add(cases, std::string("length ") + bad,
            post + host + "Content-Length: " + bad + "\r\n" + end + body, 400,
            "bad_content_length");
    }
    add(cases, "two equal lengths", post + host + length + length + end + body, 400,
        "bad_content_length");
    add(cases, "two lengths", post + host + length + "Content-Length: 0\r\n" + end + body, 400,
        "bad_content_length");
    add(cases, "folded length", post + host + "Content-Length: 1\r\n 9\r\n" + end + body, 400);
    for (const char* large : {"1048577", "9999999999"}) {
        add(cases, std::string("length ") + large,
            post + host + "Content-Length: " + large + "\r\n" + end, 413, "body_too_large");
    }
    add(cases, "batch over 8 MiB",
        "POST /api/v1/jobs/batch HTTP/1.1\r\n" + host + "Content-Length: 8388609\r\n" + end, 413,
        "body_too_large");
    for (const char* method : {"GET", "HEAD", "DELETE", "OPTIONS"}) {
        add(cases, std::string(method) + " with a body",
            std::string(method) + " /healthz HTTP/1.1\r\n" + host + length + end + body, 400,
            method == std::string("HEAD") ? "" : "unexpected_body");
    }
}

void add_hosts(Cases& cases) {
    add(cases, "no host", get + end, 400, "bad_host");
    for (const char* other : {"GET /api/v1/jobs", "GET /", "POST /readyz", "GET /readyz/"}) {
        add(cases, std::string("HTTP/1.0 without host: ") + other,
            std::string(other) + " HTTP/1.0\r\n" + end, 400, "bad_host");
    }
    add(cases, "two hosts", get + host + host + end, 400, "bad_host");
    add(cases, "two hosts, other case", get + host + "hOST: evil\r\n" + end, 400, "bad_host");
    for (const char* bad :
         {"", "127.0.0.1:80:80", "[::1", "[::1]x", "a b", "127.0.0.1:8000000", "user@127.0.0.1",
          "http://127.0.0.1", "127.0.0.1/x", "127.0.0.1,evil", "127.0.0.1:x", "<script>"}) {
        add(cases, std::string("host ") + bad, get + "Host: " + bad + "\r\n" + end, 400,
            "bad_host");
    }
    for (const char* foreign :
         {"evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example",
          "0x7f.1", "2130706433", "10.0.0.1", "[::ffff:127.0.0.1]", "127.1", "0"}) {
        add(cases, std::string("host ") + foreign, get + "Host: " + foreign + "\r\n" + end, 421,
            "misdirected");
    }
}

void add_lines(Cases& cases) {
    add(cases, "bare LF", "GET /healthz HTTP/1.1\nHost: 127.0.0.1\n\n", 400);
    add(cases, "one bare LF", get + "Host: 127.0.0.1\nX: y\r\n" + end, 400);
    add(cases, "bare CR", get + "Host: 127.0.0.1\rX: y\r\n" + end, 400);
    add(cases, "CR CR LF", get + "Host: 127.0.0.1\r\r\n" + end, 400);
    add(cases, "folded with space", get + host + "X: a\r\n b\r\n" + end, 400);
    add(cases, "folded with tab", get + host + "X: a\r\n\tb\r\n" + end, 400);
    add(cases, "leading empty line", "\r\n" + get + host + end, 400);
    add(cases, "leading space", " " + get + host + end, 400);
    add(cases, "no colon", get + host + "nonsense\r\n" + end, 400);
    add(cases, "no name", get + host + ": value\r\n" + end, 400);
    add(cases, "space in name", get + host + "X y: z\r\n" + end, 400);
    add(cases, "bracket in name", get + host + "X(y): z\r\n" + end, 400);
    add(cases, "control in value",
        get + host +
            "X: a\x01"
            "b\r\n" +
            end,
        400);
    add(cases, "DEL in value",
        get + host +
            "X: a\x7f"
            "b\r\n" +
            end,
        400);
    add(cases, "NUL in value", get + host + std::string("X: a\0b\r\n", 8) + end, 400);
    add(cases, "NUL in target", std::string("GET /\0 HTTP/1.1\r\n", 17) + host + end, 400);
    add(cases, "escape in value", get + host + "X: \x1b[31m\r\n" + end, 400);
    add(cases, "TLS", "\x16\x03\x01\x02\x01\x01\x01\xfc\x03\x03 hello\r\n\r\n", 400);
    add(cases, "words", "EHLO example.org\r\n\r\n", 400);
    add(cases, "only line ends", "\r\n\r\n\r\n", 400);
}

void add_versions(Cases& cases) {
    for (const char* other : {"HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "HTTP/3.0", "HTTP/9.9"}) {
        add(cases, other, std::string("GET /healthz ") + other + "\r\n" + host + end, 505,
            "version_not_supported");
    }
    for (const char* bad : {"http/1.1", "HTTP/1.1x", "HTTP/11", "HTTP/1", "HTTP 1.1", "HTTPS/1.1",
                            "HTTP/1.1 ", "HTTP/+1.1", "ICY"}) {
        add(cases, bad, std::string("GET /healthz ") + bad + "\r\n" + host + end, 400);
    }
    add(cases, "no version", "GET /healthz\r\n" + host + end, 400);
    add(cases, "no target", "GET  HTTP/1.1\r\n" + host + end, 400);
    add(cases, "two spaces", "GET  /healthz HTTP/1.1\r\n" + host + end, 400);
    add(cases, "tab", "GET\t/healthz\tHTTP/1.1\r\n" + host + end, 400);
}

void add_targets(Cases& cases) {
    for (const char* bad : {"http://localhost/healthz",
                            "http://127.0.0.1:1/healthz",
                            "http://u@127.0.0.1/healthz",
                            "http://evil.example@127.0.0.1/",
                            "ftp://127.0.0.1/healthz",
                            "http:///healthz",
                            "http://127.0.0.1?x",
                            "http://127.0.0.1/%2f",
                            "http://evil.example/",
                            "healthz",
                            "*",
                            "127.0.0.1:80",
                            "/healthz#x",
                            "/%00",
                            "/%2f",
                            "/api%2Fv1/jobs",
                            "/%zz",
                            "/%",
                            "/%4",
                            "/%c0%80",
                            "/%ed%a0%80",
                            "/%ff",
                            "/\xff",
                            "/\xc3\xa9",
                            "?x",
                            "\\healthz"}) {
        add(cases, std::string("target ") + bad,
            std::string("GET ") + bad + " HTTP/1.1\r\n" + host + end, 400);
    }
    add(cases, "space in target", "GET /a b HTTP/1.1\r\n" + host + end, 400);
    add(cases, "CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\n" + host + end, 400);
    const std::string long_path = "/" + std::string(2048, 'a');
    add(cases, "long target", "GET " + long_path + " HTTP/1.1\r\n" + host + end, 414,
        "target_too_long");
    add(cases, "endless target", "GET /" + std::string(9000, 'a'), 414, "target_too_long");
}

void add_headers(Cases& cases) {
    std::string many;
    for (int i = 0; i < 64; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
    add(cases, "65 headers", get + host + many + end, 431, "header_too_large");
    add(cases, "8 KiB head", get + host + "X: " + std::string(8192, 'x') + "\r\n" + end, 431,
        "header_too_large");
    add(cases, "100 KB head", get + host + "X: " + std::string(100'000, 'x') + "\r\n" + end, 431,
        "header_too_large");
    for (const char* name : {"Content-Type", "Authorization", "Idempotency-Key", "Last-Event-ID"}) {
        const std::string twice = std::string(name) + ": 1\r\n" + name + ": 1\r\n";
        add(cases, std::string("two ") + name, get + host + twice + end, 400, "repeated_header");
    }
    for (const char* expectation : {"200-ok", "100-continue, x", ""}) {
        add(cases, std::string("expect ") + expectation,
            post + host + "Expect: " + expectation + "\r\n" + length + end + body, 417,
            "expectation_failed");
    }
}

void add_smuggling(Cases& cases) {
    const std::string hidden = post + host + length + end + body;
    add(cases, "hidden behind a GET",
        get + host + "Content-Length: " + std::to_string(hidden.size()) + "\r\n" + end + hidden,
        400, "unexpected_body");
    add(cases, "hidden behind a chunk",
        post + host + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n" + end + "0\r\n\r\n" +
            hidden,
        411, "length_required");
    add(cases, "hidden behind a fold",
        post + host + "X: y\r\n Content-Length: 0\r\n" + end + hidden, 400);
    add(cases, "hidden in a target", "GET /healthz?x=\r\n\r\n" + hidden, 400);
    add(cases, "hidden behind a version",
        "GET /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\n" + host + end + "0\r\n\r\n" +
            hidden,
        411);
}

}  // namespace

std::vector<BadRequest> bad_framing() {
    Cases cases;
    for (const auto part : {add_transfer_codings, add_chunks, add_lengths, add_hosts, add_lines,
                            add_versions, add_targets, add_headers, add_smuggling}) {
        part(cases);
    }
    return cases;
}

}  // namespace sluice::e2e
