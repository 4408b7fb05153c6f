#include "conformance/jobs.hpp"

#include <stdexcept>

namespace sluice::e2e {
namespace {

void must_have_status(const Response& response, int status) {
    if (response.status == status) return;
    throw std::runtime_error("answered " + std::to_string(response.status) + ", not " +
                             std::to_string(status) + ": " + response.body);
}

}  // namespace

Response JobsApi::post(const std::string& body, const Headers& headers) {
    return worker.http.post("/api/jobs", body, headers);
}

Response JobsApi::try_create(const Fields& fields, const Headers& headers) {
    Fields all = fields;
    if (!all.contains("action") && !all.contains("jobType")) all["action"] = action;
    return post(serialize(all), headers);
}

Json JobsApi::create(const Fields& fields) {
    const Response response = try_create(fields);
    must_have_status(response, 202);
    return parse(response.body);
}

Json JobsApi::claim(const Fields& fields) {
    Fields all = fields;
    if (!all.contains("types")) all["types"] = List{Json(action)};
    return worker.claim_one(all);
}

bool JobsApi::nothing_to_claim() {
    return worker.claim({{"types", List{Json(action)}}}).empty();
}

std::string JobsApi::run_to_end(const Fields& report) {
    const std::string id = create_id();
    must_have_status(worker.report(claim(), report), 200);
    return id;
}

std::string JobsApi::cancelled() {
    const std::string id = create_id();
    must_have_status(cancel(id), 200);
    return id;
}

Response JobsApi::get(const std::string& path, const Headers& headers) {
    return worker.http.get("/api/jobs" + path, headers);
}

Json JobsApi::job(const std::string& id) {
    const Response response = get("/" + id);
    must_have_status(response, 200);
    return parse(response.body);
}

bool JobsApi::reaches(const std::string& id, const std::string& wanted) {
    return eventually([&] { return state(id) == wanted; });
}

List JobsApi::logs(const std::string& id) {
    const Response response = get("/" + id + "/logs?limit=1000");
    must_have_status(response, 200);
    return list(parse(response.body), "logs");
}

List JobsApi::list_of(const std::string& query) {
    const Response response = get("?" + query);
    must_have_status(response, 200);
    return list(parse(response.body), "jobs");
}

std::vector<std::string> JobsApi::ids_of(const std::string& query) {
    std::vector<std::string> ids;
    for (const Json& job : list_of(query)) ids.push_back(text(job, "id"));
    return ids;
}

Response JobsApi::cancel(const std::string& id, const Fields& fields) {
    return worker.http.post("/api/jobs/" + id + "/cancel", serialize(fields));
}

Response JobsApi::replay(const std::string& id, const Fields& fields) {
    return worker.http.post("/api/jobs/" + id + "/replay", serialize(fields));
}

std::vector<StreamEvent> JobsApi::stream(const std::string& id, const std::string& last_event_id) {
    Headers headers;
    if (!last_event_id.empty()) headers.emplace_back("Last-Event-ID", last_event_id);
    EventStream events(port(), stream_path(id), headers);
    return events.rest();
}

std::string stream_path(const std::string& id) {
    return "/api/jobs/" + id + "/stream";
}

Json log_entry(const std::string& message) {
    return Fields{{"message", message}};
}

}  // namespace sluice::e2e
