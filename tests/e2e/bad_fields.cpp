#include "e2e/bad_requests.hpp"
#include "e2e/http_client.hpp"

namespace sluice::e2e {
namespace {

using Cases = std::vector<BadRequest>;

void add(Cases& cases, const std::string& path, const std::string& body, int status = 422,
         const std::string& code = "invalid") {
    cases.push_back(
        {path + " " + body.substr(0, 80), request_text("POST", path, body), status, code});
}

void add_job(Cases& cases, const std::string& field, const std::string& value, int status = 422,
             const std::string& code = "invalid") {
    const std::string type = field == "type" ? "" : R"("type":"t",)";
    add(cases, "/api/v1/jobs", "{" + type + "\"" + field + "\":" + value + "}", status, code);
}

void add_texts(Cases& cases) {
    for (const char* field : {"type", "tenant", "project", "queue", "entity_type", "entity_id",
                              "site_id", "node_id", "source", "correlation_id"}) {
        for (const char* value : {"1", "1.5", "true", "[]", "{}", "[\"t\"]", "{\"$gt\":\"\"}",
                                  "\"a\\nb\"", "\"\\u007f\"", "\"\\u0000\"", "\"\""}) {
            add_job(cases, field, value);
        }
        add_job(cases, field, "\"" + std::string(201, 'x') + "\"", 413, "too_large");
        add_job(cases, field, "\"" + std::string(20'000, 'x') + "\"", 413, "too_large");
    }
    for (const char* field : {"site_id", "node_id"}) {
        for (const char* value : {"\"a/c\"", "\"/\"", "\".\"", "\"..\""})
            add_job(cases, field, value);
    }
    add(cases, "/api/v1/jobs", "{}");
    add(cases, "/api/v1/jobs", R"({"type":null})");
}

void add_numbers(Cases& cases) {
    for (const char* field : {"priority", "delay_ms", "timeout_ms", "max_attempts"}) {
        for (const char* value :
             {"\"1\"", "true", "[]", "{}", "1.5", "1e2", "1.0", "9223372036854775808",
              "-9223372036854775809", "99999999999999999999999"}) {
            add_job(cases, field, value);
        }
    }
    for (const char* value : {"1000001", "-1000001"}) add_job(cases, "priority", value);
    for (const char* value : {"0", "-1", "1001"}) add_job(cases, "max_attempts", value);
    for (const char* value : {"-1", "2592000001"}) add_job(cases, "timeout_ms", value);
    for (const char* value : {"-1", "316224000001"}) add_job(cases, "delay_ms", value);
    for (const char* value :
         {"\"\"", "\"now\"", "1700000000", "\"2026-01-01\"", "\"2026-01-01T00:00:00\"",
          "\"2026-02-30T00:00:00Z\"", "\"2026-01-01T24:00:00Z\"", "\"2026-01-01T00:00:00+25:00\"",
          "\"9999-12-31T23:59:59Z\"", "\"2300-01-01T00:00:00Z\"", "\"2026-01-01T00:00:00.Z\"",
          "\" 2026-01-01T00:00:00Z\"", "\"2026-01-01T00:00:00Zx\"", "\"-026-01-01T00:00:00Z\""}) {
        add_job(cases, "run_after", value);
    }
    add(cases, "/api/v1/jobs", R"({"type":"t","run_after":"2026-01-01T00:00:00Z","delay_ms":1})");
}

void add_lists(Cases& cases) {
    for (const char* field : {"exclusive_keys", "labels", "depends_on"}) {
        for (const char* value :
             {"\"a\"", "1", "true", "[1]", "[null]", "[[]]", "[\"\"]", "[\"a\\nb\"]", "[{}]"}) {
            add_job(cases, field, value);
        }
    }
    add_job(cases, "exclusive_keys", "{}");
    add_job(cases, "labels", R"({"a":1})");
    add_job(cases, "labels", R"({"a":null})");
    add_job(cases, "labels", "[\"" + std::string(201, 'l') + "\"]", 413, "too_large");
    for (const char* value : {"[\"#0\"]", "[\"x\"]", "[\"65f000000000000000000000\"]", "{}"}) {
        add_job(cases, "depends_on", value);
    }
    for (const char* value : {"\"wait\"", "1", "\"\"", "\"CANCEL\""}) {
        add_job(cases, "on_dependency_failure", value);
    }
    for (const char* value :
         {"\"fast\"", "1", "true", "[-1]", "[\"1\"]", "[1.5]", "[316224000001]", "{}",
          R"({"kind":"x"})", R"({"kind":1})", R"({"kind":"exponential"})",
          R"({"kind":"exponential","base_ms":0})", R"({"kind":"exponential","base_ms":-1})",
          R"({"kind":"list","delays_ms":1})", R"({"kind":"list","delays_ms":[null]})",
          R"({"kind":"none","extra":1})", R"({"kind":"exponential","base_ms":"1"})"}) {
        add_job(cases, "backoff", value);
    }
    for (const char* name :
         {"state", "id", "attempt", "created_at", "payload_digest", "x", "", "Type", "payload "}) {
        add_job(cases, name, "1");
    }
}

void add_batches(Cases& cases) {
    for (const char* body :
         {"{}", R"({"jobs":{}})", R"({"jobs":[]})", R"({"jobs":[1]})", R"({"jobs":[null]})",
          R"({"jobs":[{}]})", R"({"jobs":[{"type":"t"}],"more":1})", R"({"jobs":"x"})", "[]",
          R"({"jobs":[{"type":"t","depends_on":["#0"]}]})",
          R"({"jobs":[{"type":"t","depends_on":["#1"]}]})",
          R"({"jobs":[{"type":"t","depends_on":["#x"]}]})",
          R"({"jobs":[{"type":"t","depends_on":["#-1"]}]})",
          R"({"jobs":[{"type":"t","depends_on":["#99999999999999999999"]}]})",
          R"({"jobs":[{"type":"t","depends_on":["#1"]},{"type":"t","depends_on":["#0"]}]})",
          R"({"jobs":[{"type":"t"},{"type":"t","tenant":"other"}]})"}) {
        add(cases, "/api/v1/jobs/batch", body);
    }
    for (const char* path : {"heartbeat", "report"}) {
        const std::string name = std::string(path) + "s";
        for (const char* value : {"[]", "{}", "1", "[1]", "[{}]", R"([{"lease_id":1}])",
                                  R"([{"lease_id":"x"}])", R"([{"lease_id":""}])"}) {
            add(cases, std::string("/api/v1/leases/") + path, "{\"" + name + "\":" + value + "}");
        }
    }
}

void add_claims(Cases& cases) {
    for (const char* fields : {R"("worker_id":1)",  R"("worker_id":"")", R"("worker_id":null)",
                               R"("worker_id":[])", R"("queues":1)",     R"("queues":[1])",
                               R"("queues":{})",    R"("types":"a")",    R"("types":[[]])",
                               R"("labels":1)",     R"("labels":[1])",   R"("labels":{"a":1})",
                               R"("limit":0)",      R"("limit":1001)",   R"("limit":"1")",
                               R"("limit":1.5)",    R"("lease_ms":99)",  R"("lease_ms":3600001)",
                               R"("lease_ms":1e9)", R"("wait_ms":-1)",   R"("wait_ms":60001)",
                               R"("wait_ms":"1")",  R"("tenant":1)",     R"("x":1)",
                               R"("Limit":1)"}) {
        const bool has_worker = std::string_view(fields).starts_with("\"worker_id");
        add(cases, "/api/v1/leases",
            std::string("{") + (has_worker ? "" : R"("worker_id":"w",)") + fields + "}");
    }
    add(cases, "/api/v1/leases", "");
    add(cases, "/api/v1/leases", "[]");
    std::string names;
    for (int i = 0; i < 201; ++i) names += (i > 0 ? ",\"n" : "\"n") + std::to_string(i) + "\"";
    add(cases, "/api/v1/leases", R"({"worker_id":"w","queues":[)" + names + "]}", 413, "too_large");
}

}  // namespace

std::vector<BadRequest> bad_fields() {
    Cases cases;
    for (const auto part : {add_texts, add_numbers, add_lists, add_batches, add_claims}) {
        part(cases);
    }
    return cases;
}

}  // namespace sluice::e2e
