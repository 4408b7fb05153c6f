#include "e2e/bad_requests.hpp"
#include "e2e/http_client.hpp"

namespace sluice::e2e {
namespace {

using Cases = std::vector<BadRequest>;

const std::string no_job = "/api/v1/jobs/65f000000000000000000000";
const std::string no_lease = "/api/v1/leases/65f000000000000000000000-0000000000000001";

void add_methods(Cases& cases) {
    struct Wrong {
        const char* method;
        std::string path;
    };
    const Wrong wrong[] = {{"PUT", "/api/v1/jobs"},
                           {"DELETE", "/api/v1/jobs"},
                           {"PATCH", "/api/v1/jobs"},
                           {"OPTIONS", "/api/v1/jobs"},
                           {"BREW", "/api/v1/jobs"},
                           {"get", "/api/v1/jobs"},
                           {"DELETE", no_job},
                           {"POST", no_job},
                           {"PUT", no_job},
                           {"GET", "/api/v1/leases"},
                           {"GET", no_lease + "/report"},
                           {"GET", no_lease + "/logs"},
                           {"POST", no_job + "/logs"},
                           {"POST", no_job + "/events"},
                           {"POST", no_job + "/stream"},
                           {"GET", no_job + "/cancel"},
                           {"GET", no_job + "/replay"},
                           {"POST", no_job + "/explain"},
                           {"POST", "/healthz"},
                           {"POST", "/readyz"},
                           {"POST", "/metrics"},
                           {"GET", no_lease + "/release"},
                           {"GET", no_lease + "/heartbeat"}};
    for (const Wrong& request : wrong) {
        cases.push_back({std::string(request.method) + " " + request.path,
                         request_text(request.method, request.path, ""), 405,
                         "method_not_allowed"});
    }
}

void add_paths(Cases& cases) {
    for (const char* path :
         {"/", "//healthz", "/healthz/", "/../healthz", "/api/v1", "/api/v1/", "/api/v2/jobs",
          "/API/v1/jobs", "/api/v1/jobs/", "/api/v1/jobs//logs", "/api/v1/jobs/1/2/3",
          "/api/v1/leases/x/y", "/favicon.ico", "/api/v1/jobs/%2e%2e", "/.git/config",
          "/api/v1/jobs/x/stream/", "/etc/passwd"}) {
        cases.push_back(
            {std::string("GET ") + path, request_text("GET", path, ""), 404, "not_found"});
    }
    for (const char* id :
         {"1", "x", "65F000000000000000000000", "65f00000000000000000000",
          "65f0000000000000000000000", "65f00000000000000000000g", "000000000000000000000000",
          "ffffffffffffffffffffffff", "65f000000000ffff00000000", "65f0000003e9000000000000", "-1",
          "null", "65f0%3000"}) {
        for (const char* part : {"", "/logs", "/events", "/stream", "/explain"}) {
            const std::string path = std::string("/api/v1/jobs/") + id + part;
            cases.push_back({"GET " + path, request_text("GET", path, ""), 404, "not_found"});
        }
    }
    for (const char* id : {"x", "65f000000000000000000000", "65f000000000000000000000-1",
                           "65f000000000000000000000-ffffffffffffffff",
                           "65f000000000000000000000_0000000000000001"}) {
        for (const char* part : {"/heartbeat", "/report", "/logs", "/release"}) {
            const std::string path = std::string("/api/v1/leases/") + id + part;
            cases.push_back({"POST " + path, request_text("POST", path, "{}"), 404, "not_found"});
        }
    }
}

void add_parameters(Cases& cases) {
    for (const char* query :
         {"limit=0",
          "limit=201",
          "limit=99999999999999999999",
          "limit=-1",
          "limit=1.5",
          "limit=a",
          "limit=",
          "limit=%201",
          "cursor=x",
          "cursor=",
          "cursor=65f000000000000000000000",
          "state=x",
          "state=QUEUED",
          "state=queued;running",
          "replay_of=1",
          "created_from=x",
          "created_from=2026-13-01T00:00:00Z",
          "created_from=2026-01-01",
          "created_before=0",
          "order=asc",
          "limit=1&limit=1",
          "%00=1",
          "type=%00",
          "type=%ff",
          "type=%c0%af",
          "type=%",
          "type=%1",
          "type=%gg",
          "=1",
          "LIMIT=1",
          "a=1&a=2&a=3&a=4&a=5&a=6&a=7&a=8&a=9&a=10&a=11&a=12&a=13&a=14&a=15&a=16&a=17&a=18&a=19"
          "&a=20&a=21&a=22&a=23&a=24&a=25&a=26&a=27&a=28&a=29&a=30&a=31&a=32&a=33&a=34"}) {
        cases.push_back({std::string("list by ") + query,
                         request_text("GET", std::string("/api/v1/jobs?") + query, ""), 400,
                         "malformed"});
    }
    for (const char* query :
         {"after=-1", "after=x", "limit=0", "limit=1001", "x=1", "after=1&after=1"}) {
        for (const char* part : {"/logs", "/events"}) {
            cases.push_back({std::string(part) + " by " + query,
                             request_text("GET", no_job + part + "?" + query, ""), 400,
                             "malformed"});
        }
    }
    // Calls that take no parameter at all: the tenant, for one, is named in the body here.
    for (const char* path :
         {"/api/v1/jobs", "/api/v1/jobs/batch", "/api/v1/leases", "/api/v1/leases/heartbeat",
          "/api/v1/leases/report", "/api/v1/entities", "/api/v1/sites", "/api/v1/environments",
          "/api/v1/nodes", "/api/v1/gates/check", "/api/v1/tokens", "/api/v1/tokens/x/revoke"}) {
        for (const char* query : {"tenant=b", "x=1", "x", "%", "=1", "tenant=default"}) {
            const std::string target = std::string(path) + "?" + query;
            cases.push_back({"POST " + target, request_text("POST", target, R"({"type":"t"})"), 400,
                             "malformed"});
        }
    }
    for (const char* part : {"/heartbeat", "/report", "/logs", "/release"}) {
        const std::string target = no_lease + part + "?tenant=b";
        cases.push_back({"POST " + target, request_text("POST", target, "{}"), 400, "malformed"});
    }
    cases.push_back(
        {"whoami by x", request_text("GET", "/api/v1/whoami?x=1", ""), 400, "malformed"});
    cases.push_back({"get by x", request_text("GET", no_job + "?x=1", ""), 400, "malformed"});
    cases.push_back(
        {"cancel by x", request_text("POST", no_job + "/cancel?x=1", "{}"), 400, "malformed"});
}

void add_content_types(Cases& cases) {
    for (const char* type :
         {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
          "application/jsonx", "application/json5", "text/json", "application/problem+json", "json",
          "*/*", "", "application/json, text/plain", "application/json; charset=utf-16",
          "application/json;charset=ISO-8859-1", "application/json; charset=\"latin1\"",
          "application/json; x=\"; charset=utf-8\"; CHARSET=us-ascii",
          "application/json; charset="}) {
        cases.push_back(
            {std::string("type ") + type,
             request_text("POST", "/api/v1/jobs", R"({"type":"t"})", {{"Content-Type", type}}), 415,
             "unsupported_media_type"});
    }
}

void add_content_codings(Cases& cases) {
    for (const char* coding : {"gzip", "br", "deflate", "identity, gzip", "x", ""}) {
        cases.push_back({std::string("coding ") + coding,
                         request_text("POST", "/api/v1/jobs", R"({"type":"t"})",
                                      {{"Content-Encoding", coding}}),
                         415, "unsupported_media_type"});
    }
    const std::string body = R"({"type":"t"})";
    cases.push_back({"no Content-Type",
                     "POST /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: " +
                         std::to_string(body.size()) + "\r\n\r\n" + body,
                     415, "unsupported_media_type"});
}

void add_keys(Cases& cases) {
    for (const std::string& key : {std::string(201, 'k'), std::string("a b"), std::string("\"\""),
                                   std::string("\xc3\xa9"), std::string("")}) {
        cases.push_back(
            {"key " + key.substr(0, 20),
             request_text("POST", "/api/v1/jobs", R"({"type":"t"})", {{"Idempotency-Key", key}}),
             400, "malformed"});
    }
}

}  // namespace

std::vector<BadRequest> bad_routing() {
    Cases cases;
    for (const auto part : {add_methods, add_paths, add_parameters, add_content_types,
                            add_content_codings, add_keys}) {
        part(cases);
    }
    return cases;
}

}  // namespace sluice::e2e
