// Bad requests by the thousand: a good one, with one mistake at a time.
#include <set>

#include "e2e/bad_requests.hpp"

namespace sluice::e2e {
namespace {

using Bytes = std::vector<RawRequest>;

// The parts of a request that would submit a job.
struct Parts {
    std::string method = "POST";
    std::string target = "/api/v1/jobs";
    std::string version = "HTTP/1.1";
    std::string host = "Host: 127.0.0.1\r\n";
    std::string length = "Content-Length: 20\r\n";
    std::string more{};

    std::string text() const {
        return method + " " + target + " " + version + "\r\n" + host +
               "Content-Type: application/json\r\n" + more + length + "\r\n" + malformed_job;
    }
};

bool is_token(int byte) {
    const std::string_view others = "!#$%&'*+-.^_`|~";
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') ||
           (byte > 0 && byte < 127 && others.find(static_cast<char>(byte)) != others.npos);
}

bool is_digit(int byte) {
    return byte >= '0' && byte <= '9';
}

bool is_blank(int byte) {
    return byte == ' ' || byte == '\t';
}

std::string one(int byte) {
    return std::string(1, static_cast<char>(byte));
}

std::string shown(int byte) {
    return "byte " + std::to_string(byte);
}

void add_methods(Bytes& out) {
    for (int byte = 0; byte < 256; ++byte) {
        if (is_token(byte)) continue;
        out.push_back(
            {shown(byte) + " in the method", Parts{.method = "PO" + one(byte) + "ST"}.text()});
    }
    for (const char* method : {"", "post", "Post", "POSTS", "OST", "P", "PUT", "PATCH", "TRACE",
                               "PRI", "CONNECT", "PROPFIND", "POST/", "POST:", "\"POST\""}) {
        out.push_back({std::string("method ") + method, Parts{.method = method}.text()});
    }
}

void add_targets(Bytes& out) {
    for (int byte = 0; byte < 256; ++byte) {
        const bool is_visible = byte > 0x20 && byte < 0x7f && byte != '#';
        if (is_visible) continue;
        for (const char* rest : {"/api/v1/jobs", ""}) {
            out.push_back({shown(byte) + " in the target",
                           Parts{.target = std::string("/api/v1/jobs") + one(byte) + rest}.text()});
        }
    }
    const std::string hex = "0123456789abcdef";
    for (const char high : hex) {
        for (const char low : hex) {
            const std::string escape = std::string("%") + high + low;
            out.push_back({escape, Parts{.target = "/api/v1/jobs" + escape}.text()});
        }
    }
    for (const char* target : {"%",
                               "%1",
                               "%g1",
                               "%1g",
                               "% 1",
                               "%%",
                               "%u002f",
                               "%-1",
                               "%0x",
                               "//api/v1/jobs",
                               "/api//v1/jobs",
                               "/./api/v1/jobs",
                               "/x/../api/v1/jobs",
                               "/api/v1/jobs/",
                               "/api/v1/jobs/.",
                               "/api/v1/jobs;x",
                               "/API/V1/JOBS",
                               "/api/v1/jobs%",
                               "/api/v1/jobs%2",
                               "/api\\v1\\jobs",
                               "http://127.0.0.2/api/v1/jobs",
                               "http://127.0.0.1:1/api/v1/jobs",
                               "https://x@127.0.0.1/api/v1/jobs",
                               "//127.0.0.1/api/v1/jobs",
                               "127.0.0.1/api/v1/jobs",
                               "api/v1/jobs",
                               "*",
                               "?",
                               "/",
                               ".",
                               "..",
                               "/..",
                               "/%2e%2e/api",
                               "/api/v1/jobs#x",
                               "/api/v1%2fjobs",
                               "/api/v1%2Fjobs",
                               "/api/v1%5cjobs",
                               "/api/v1/jobs%00",
                               "/api/v1/jobs%c0%af",
                               "/api/v1/jobs%ed%a0%80",
                               "file:///etc/passwd",
                               "javascript:x"}) {
        out.push_back({std::string("target ") + target, Parts{.target = target}.text()});
    }
}

void add_versions(Bytes& out) {
    for (char major = '0'; major <= '9'; ++major) {
        for (char minor = '0'; minor <= '9'; ++minor) {
            if (major == '1' && minor <= '1') continue;
            const std::string version = std::string("HTTP/") + major + "." + minor;
            out.push_back({version, Parts{.version = version}.text()});
        }
    }
    const std::string good = "HTTP/1.1";
    for (std::size_t i = 0; i < good.size(); ++i) {
        for (const char other : std::string_view("x /.-\t\0\r\n2\x80", 11)) {
            std::string version = good;
            if (version[i] == other) continue;
            version[i] = other;
            out.push_back({"version at " + std::to_string(i) + shown(other),
                           Parts{.version = version}.text()});
        }
        std::string shorter = good;
        shorter.erase(i, 1);
        out.push_back({"version " + shorter, Parts{.version = shorter}.text()});
        std::string longer = good;
        longer.insert(i, 1, good[i]);
        out.push_back({"version " + longer, Parts{.version = longer}.text()});
    }
}

void add_fields(Bytes& out) {
    for (int byte = 0; byte < 256; ++byte) {
        if (!is_token(byte) && byte != ':') {
            out.push_back(
                {shown(byte) + " in a name", Parts{.more = "X" + one(byte) + "Y: z\r\n"}.text()});
        }
        const bool is_control = (byte < 0x20 && byte != '\t') || byte == 0x7f;
        if (!is_control) continue;
        out.push_back(
            {shown(byte) + " in a value", Parts{.more = "X: a" + one(byte) + "b\r\n"}.text()});
        out.push_back(
            {shown(byte) + " before a value", Parts{.more = "X:" + one(byte) + "b\r\n"}.text()});
        out.push_back(
            {shown(byte) + " before a line", Parts{.more = one(byte) + "X: b\r\n"}.text()});
    }
    for (const char* line : {" X: y", "\tX: y", ": y", "X", "X y", "X : y", "X\t: y", ":", " ",
                             "\t", "=: y", "{}: y", "X;: y", "\xc3\xa9: y"}) {
        out.push_back(
            {std::string("line ") + line, Parts{.more = std::string(line) + "\r\n"}.text()});
    }
    for (const int count : {62, 64, 100, 1000}) {
        std::string many;
        for (int i = 0; i < count; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
        out.push_back({std::to_string(count) + " more fields", Parts{.more = many}.text()});
    }
    for (const std::size_t size : {8192, 10'000, 100'000, 1'000'000}) {
        out.push_back(
            {"a long value", Parts{.more = "X: " + std::string(size, 'v') + "\r\n"}.text()});
        out.push_back({"a long name", Parts{.more = std::string(size, 'n') + ": v\r\n"}.text()});
        out.push_back({"a long target", Parts{.target = "/" + std::string(size, 't')}.text()});
        out.push_back({"a long method", Parts{.method = std::string(size, 'M')}.text()});
        out.push_back({"a long version", Parts{.version = std::string(size, '1')}.text()});
    }
    for (const char* name :
         {"Content-Type", "content-TYPE", "Content-Length", "content-length", "Host", "hOST"}) {
        for (const char* value : {"application/json", "20", "127.0.0.1", "", "x"}) {
            out.push_back({std::string("another ") + name + value,
                           Parts{.more = std::string(name) + ": " + value + "\r\n"}.text()});
        }
    }
    for (const char* expectation : {"", "x", "100", "100-continue, 100-continue", "200-ok",
                                    "100-continue;q=1", "\"100-continue\""}) {
        out.push_back({std::string("expect ") + expectation,
                       Parts{.more = std::string("Expect: ") + expectation + "\r\n"}.text()});
    }
}

void add_lengths(Bytes& out) {
    const auto add = [&](const std::string& value) {
        out.push_back(
            {"length " + value, Parts{.length = "Content-Length: " + value + "\r\n"}.text()});
    };
    for (int byte = 0; byte < 256; ++byte) {
        if (is_digit(byte)) continue;
        add("2" + one(byte) + "0");
        if (is_blank(byte)) continue;
        add(one(byte) + "20");
        add("20" + one(byte));
    }
    const std::vector<std::string> values{"20",
                                          "0",
                                          "5",
                                          "+20",
                                          "-20",
                                          "020",
                                          "0x14",
                                          "20.0",
                                          "2e1",
                                          "",
                                          " ",
                                          "20,20",
                                          "20, 20",
                                          "twenty",
                                          "00000000020",
                                          "4294967316",
                                          "18446744073709551636",
                                          "99999999999999999999999999"};
    for (const std::string& first : values) {
        for (const std::string& second : values) {
            out.push_back({"lengths " + first + " and " + second,
                           Parts{.length = "Content-Length: " + first +
                                           "\r\nContent-Length: " + second + "\r\n"}
                               .text()});
        }
    }
}

void add_transfer_codings(Bytes& out) {
    const std::string_view names[] = {"Transfer-Encoding", "transfer-encoding", "TRANSFER-ENCODING",
                                      "tRANSFER-eNCODING", "Trailer"};
    const std::string_view values[] = {"chunked",
                                       "Chunked",
                                       "CHUNKED",
                                       "identity",
                                       "gzip",
                                       "gzip, chunked",
                                       "chunked, gzip",
                                       "chunked, identity",
                                       "identity, chunked",
                                       "xchunked",
                                       "chunkedx",
                                       "chunk",
                                       "\"chunked\"",
                                       "'chunked'",
                                       "chunked;q=1",
                                       "chunked,",
                                       ",chunked",
                                       "",
                                       "\tchunked",
                                       "  chunked",
                                       "chunked\t",
                                       "x",
                                       "deflate",
                                       "cow",
                                       "chunked chunked"};
    for (const std::string_view name : names) {
        for (const std::string_view value : values) {
            const std::string line = std::string(name) + ": " + std::string(value) + "\r\n";
            out.push_back({line + " before", Parts{.more = line}.text()});
            out.push_back({line + " alone", Parts{.length = line}.text()});
        }
    }
    for (const char* line :
         {"Transfer-Encoding : chunked", "Transfer-Encoding\t: chunked",
          " Transfer-Encoding: chunked", "Transfer-Encoding: chunked\r",
          "Transfer-Encoding:\x0b"
          "chunked",
          "Transfer-Encoding: chunked\x0c", "Transfer-Encoding\r: chunked",
          "Transfer-Encoding: \x7f"
          "chunked",
          "Transfer-Encoding:\n chunked", "Transfer-Encoding:\r\n chunked",
          "Transfer-Encoding: chunked\nX: y", "X: y\nTransfer-Encoding: chunked",
          "X: y\rTransfer-Encoding: chunked", "Transfer\x80-Encoding: chunked"}) {
        out.push_back({line, Parts{.more = std::string(line) + "\r\n"}.text()});
    }
}

void add_hosts(Bytes& out) {
    for (int byte = 0; byte < 256; ++byte) {
        if (!is_blank(byte)) {
            out.push_back({shown(byte) + " before the host",
                           Parts{.host = "Host: " + one(byte) + "127.0.0.1\r\n"}.text()});
        }
        out.push_back({shown(byte) + " in the host",
                       Parts{.host = "Host: 127" + one(byte) + ".0.0.1\r\n"}.text()});
    }
    for (const char* host :
         {"", "Host:\r\n", "Host: \r\n", "Host: evil.example\r\n", "Host: 127.0.0.1:\r\n\tx\r\n",
          "Host: 127.0.0.1:port\r\n", "Host: 127.0.0.1:99999999\r\n",
          "Host: 127.0.0.1 127.0.0.1\r\n", "Host: [::1\r\n", "Host: ::1\r\n", "Host: [::1]]\r\n",
          "Host: [::1%25lo]\r\n", "Host: [127.0.0.1\r\n", "Hos: 127.0.0.1\r\n",
          "Host : 127.0.0.1\r\n", "Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n",
          "Host: http://127.0.0.1\r\n", "Host: localhost.\r\n"}) {
        out.push_back({std::string("host line ") + host, Parts{.host = host}.text()});
    }
}

// Each line end of the head in its turn is replaced.
void add_line_ends(Bytes& out) {
    const std::string good = Parts{}.text();
    const std::size_t head = good.find("\r\n\r\n") + 4;
    for (std::size_t at = good.find("\r\n"); at < head; at = good.find("\r\n", at + 2)) {
        for (const std::string_view other :
             {std::string_view("\n"), std::string_view("\r"), std::string_view("\n\r"),
              std::string_view("\r\r\n"), std::string_view("\r\n "), std::string_view("\r\n\t"),
              std::string_view("\0", 1), std::string_view("\v"), std::string_view("\f"),
              std::string_view("\x85"), std::string_view("\\r\\n"), std::string_view(" "),
              std::string_view("\r\n\0", 3), std::string_view("")}) {
            std::string bytes = good;
            bytes.replace(at, 2, other);
            out.push_back({"line end at " + std::to_string(at), bytes});
        }
    }
    for (const char* before :
         {"\r\n", "\n", " ", "\t", "\r", "\xef\xbb\xbf", "x\r\n", "\x16\x03\x01"}) {
        out.push_back({"before the request", before + good});
    }
}

void add_beginnings(Bytes& out) {
    const std::string good = Parts{}.text();
    for (std::size_t size = 1; size < good.size(); ++size) {
        out.push_back({"the first " + std::to_string(size) + " bytes", good.substr(0, size)});
    }
}

}  // namespace

std::vector<RawRequest> bad_generated() {
    Bytes all;
    for (const auto part : {add_methods, add_targets, add_versions, add_fields, add_lengths,
                            add_transfer_codings, add_hosts, add_line_ends, add_beginnings}) {
        part(all);
    }
    std::set<std::string_view> seen;
    Bytes distinct;
    for (const RawRequest& request : all) {
        if (seen.insert(request.bytes).second) distinct.push_back(request);
    }
    return distinct;
}

std::string good_generated() {
    return Parts{}.text();
}

}  // namespace sluice::e2e
