// Requests with a hidden one inside, for readers that find the end of the first one elsewhere.
#include "e2e/bad_requests.hpp"

namespace sluice::e2e {
namespace {

using Attacks = std::vector<RawRequest>;

const std::string job = R"({"type":"smuggled"})";
const std::string hidden =
    "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    "Content-Length: " +
    std::to_string(job.size()) + "\r\n\r\n" + job;

std::string length(std::size_t bytes) {
    return "Content-Length: " + std::to_string(bytes) + "\r\n";
}

std::string request(const std::string& lines, const std::string& body,
                    const std::string& first = "POST /api/v1/jobs HTTP/1.1") {
    return first + "\r\nHost: localhost\r\nContent-Type: application/json\r\n" + lines + "\r\n" +
           body;
}

std::string in_hex(std::size_t number) {
    std::string digits;
    for (; number > 0; number /= 16) digits.insert(0, 1, "0123456789abcdef"[number % 16]);
    return digits;
}

std::string chunk(const std::string& bytes) {
    return in_hex(bytes.size()) + "\r\n" + bytes + "\r\n";
}

// Every spelling of Transfer-Encoding that some server has accepted, or has overlooked.
std::vector<std::string> transfer_codings() {
    std::vector<std::string> lines;
    for (const char* line : {"Transfer-Encoding: chunked",
                             "Transfer-Encoding : chunked",
                             "Transfer-Encoding\t:chunked",
                             "Transfer-Encoding:\tchunked",
                             "Transfer-Encoding:\x0b"
                             "chunked",
                             "Transfer-Encoding: xchunked",
                             "Transfer-Encoding: chunked, identity",
                             "Transfer-Encoding: identity",
                             "Transfer-Encoding: identity, chunked",
                             "Transfer-Encoding: cow\r\nTransfer-Encoding: chunked",
                             "Transfer-Encoding: chunked\r\nTransfer-Encoding: cow",
                             "transfer-encoding: CHUNKED",
                             " Transfer-Encoding: chunked",
                             "X: y\r\n Transfer-Encoding: chunked",
                             "X: y\nTransfer-Encoding: chunked",
                             "X: y\rTransfer-Encoding: chunked",
                             "Transfer-Encoding:\r\n chunked",
                             "Transfer-Encoding: \"chunked\"",
                             "Transfer-Encoding: 'chunked'",
                             "Transfer-Encoding: chunked;",
                             "Transfer-Encoding: ,chunked",
                             "Transfer-Encoding: chunked\x0c",
                             "Transfer-Encoding: \xffzip, chunked",
                             "Transfer-Encoding\x80: chunked"}) {
        lines.push_back(std::string(line) + "\r\n");
    }
    return lines;
}

void add_length_against_chunks(Attacks& out) {
    const std::string after_the_end = "0\r\n\r\n" + hidden;
    const std::string in_a_chunk = chunk(hidden) + "0\r\n\r\n";
    for (const std::string& coding : transfer_codings()) {
        out.push_back(
            {"CL.TE " + coding, request(length(after_the_end.size()) + coding, after_the_end)});
        // A reader that unfolds lines, or ignores invalid names, finds another field or none in
        // these: then the length counts, and the rest is a regular second request.
        const bool is_of_another_field =
            coding.starts_with("X: y\r\n ") || coding.starts_with("Transfer-Encoding\x80");
        if (is_of_another_field) continue;
        out.push_back({"TE.CL " + coding,
                       request(length(in_hex(hidden.size()).size() + 2) + coding, in_a_chunk)});
        out.push_back({"TE.0 " + coding, request(coding + length(0), in_a_chunk)});
    }
}

void add_lengths(Attacks& out) {
    const std::string all = std::to_string(hidden.size());
    for (const std::string& lines :
         {length(0) + length(hidden.size()), length(hidden.size()) + length(0),
          "Content-Length: 0, " + all + "\r\n", "Content-Length: " + all + ", 0\r\n",
          "Content-Length: 0\r\n ," + all + "\r\n", "Content-Length : " + all + "\r\n" + length(0),
          "Content-Length: +" + all + "\r\n", "Content-Length: " + all + "x\r\n",
          "X: y\nContent-Length: " + all + "\r\n", "X: y\rContent-Length: " + all + "\r\n",
          "Content-Length: 0x" + in_hex(hidden.size()) + "\r\n",
          "Connection: Content-Length\r\n" + length(hidden.size()),
          "Connection: close, Content-Length\r\n" + length(hidden.size()), length(hidden.size())}) {
        out.push_back({"CL.CL " + lines, request(lines, hidden)});
        for (const char* first : {"GET /healthz HTTP/1.1", "HEAD /healthz HTTP/1.1",
                                  "DELETE /healthz HTTP/1.1", "OPTIONS /healthz HTTP/1.1"}) {
            // Without any length the hidden one would be a regular request of its own.
            if (lines.starts_with("Content-Length: 0\r\n ")) continue;
            if (lines.find("Content-Length") == std::string::npos) continue;
            out.push_back({std::string("0.CL ") + first + lines, request(lines, hidden, first)});
        }
    }
}

void add_chunks(Attacks& out) {
    const std::string coding = "Transfer-Encoding: chunked\r\n";
    const std::string end = "0\r\n\r\n";
    const std::vector<std::string> bodies{"5;a=b\r\nhello\r\n" + chunk(hidden) + end,
                                          "5;\nhello\r\n" + chunk(hidden) + end,
                                          "5;a=\"\r\n" + hidden + "\"\r\nhello\r\n" + end,
                                          "0;x\n\n" + hidden,
                                          "00000000\r\n\n" + hidden,
                                          "0x5\r\nhello\r\n" + end,
                                          "5 \r\nhello\r\n" + chunk(hidden) + end,
                                          "+5\r\nhello\r\n" + chunk(hidden) + end,
                                          "-1\r\n" + hidden,
                                          "ffffffffffffffff0\r\n" + hidden,
                                          "10000000000000000\r\n" + hidden,
                                          "5\r\nhelloXX" + chunk(hidden) + end,
                                          "5\nhello\n" + chunk(hidden) + end,
                                          "5\r\nhello" + chunk(hidden) + end,
                                          "0\r\nX-Trailer: y\r\nContent-Length: 0\r\n\r\n",
                                          "0\r\nTransfer-Encoding: x\r\n\r\n",
                                          chunk(hidden) + "0\n\n",
                                          "0\r\n" + chunk(hidden),
                                          "\r\n" + hidden,
                                          "0;a=\"\r\n\r\n" + hidden + "\"\r\n\r\n",
                                          "0\r\n\rX" + hidden,
                                          "0\r\r\n\r\n" + hidden,
                                          "0 \r\n\r\n" + hidden,
                                          "0\t\r\n\r\n" + hidden,
                                          "0;\r\n\r\n" + hidden,
                                          "0\r\nX: y\r\n\r\n" + hidden,
                                          "0\r\nX: y\n\n" + hidden,
                                          "000000000000000000000\r\n\r\n" + hidden,
                                          "100000000\r\n\r\n" + hidden,
                                          "80000000\r\n" + hidden};
    for (const std::string& body : bodies) {
        out.push_back({"chunks " + body.substr(0, 20), request(coding, body)});
    }
}

void add_others(Attacks& out) {
    const std::string get = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";
    out.push_back({"in a body", request(length(hidden.size()), hidden)});
    out.push_back({"in a JSON text", request(length(hidden.size() + 2), "[\n" + hidden)});
    out.push_back({"in a header after CR", get + "X: a\r\r" + hidden});
    out.push_back({"in a header after NUL", get + std::string("X: a\0\r\n", 7) + hidden});
    out.push_back({"in a header, encoded", get + "X: a%0d%0a%0d%0a" + job + "\r\n\r\n"});
    out.push_back(
        {"in a target, encoded",
         "GET /healthz%0d%0aContent-Length:%200%0d%0a%0d%0aPOST%20/api/v1/jobs HTTP/1.1\r\n"
         "Host: localhost\r\n\r\n"});
    out.push_back({"behind a fold", get + "X: y\r\n " + hidden});
    out.push_back({"behind HTTP/0.9", "GET /healthz\r\n" + hidden});
    out.push_back({"behind HTTP/1.0 with a coding",
                   request("Transfer-Encoding: chunked\r\n", "0\r\n\r\n" + hidden,
                           "POST /api/v1/jobs HTTP/1.0")});
    out.push_back({"behind an expectation",
                   request("Expect: 100-continue\r\n" + length(hidden.size()), hidden)});
    out.push_back(
        {"behind a bad expectation", request("Expect: x\r\n" + length(hidden.size()), hidden)});
    out.push_back(
        {"behind two hosts", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: " + hidden});
    out.push_back({"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + hidden});
    out.push_back({"with another method",
                   request("X-HTTP-Method-Override: PUT\r\n" + length(hidden.size()), hidden)});
}

}  // namespace

std::vector<RawRequest> smuggling_attacks() {
    Attacks all;
    for (const auto part : {add_length_against_chunks, add_lengths, add_chunks, add_others}) {
        part(all);
    }
    return all;
}

}  // namespace sluice::e2e
