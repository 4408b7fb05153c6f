#include "e2e/api.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

namespace sluice::e2e {
namespace {

Fields with_default(const Fields& fields, std::string_view name, std::string_view value) {
    Fields all = fields;
    all.insert(
        {{{name.data(), name.size()}, boost::json::string_view(value.data(), value.size())}});
    return all;
}

Json must(const Response& response, int status) {
    if (response.status != status) {
        throw std::runtime_error("answered " + std::to_string(response.status) + ", not " +
                                 std::to_string(status) + ": " + response.body);
    }
    return parse(response.body);
}

}  // namespace

Response Api::try_submit(const Fields& fields, const Headers& headers) {
    const Fields all = with_default(with_default(fields, "type", "task"), "queue", queue_);
    return http.post("/api/v1/jobs", serialize(all), headers);
}

Json Api::submit(const Fields& fields) {
    return must(try_submit(fields), 202);
}

Response Api::try_batch(const std::vector<Fields>& jobs, const Headers& headers) {
    List list;
    for (const Fields& job : jobs) {
        list.emplace_back(with_default(with_default(job, "type", "task"), "queue", queue_));
    }
    return http.post("/api/v1/jobs/batch", serialize(Fields{{"jobs", std::move(list)}}), headers);
}

List Api::submit_batch(const std::vector<Fields>& jobs) {
    return list(must(try_batch(jobs), 202), "jobs");
}

std::string Api::claim_text(const Fields& fields) const {
    Fields all = with_default(fields, "worker_id", "worker");
    if (!all.contains("queues")) all["queues"] = List{Json(queue_)};
    return serialize(all);
}

List Api::claim(const Fields& fields) {
    return list(must(http.post("/api/v1/leases", claim_text(fields)), 200), "leases");
}

Json Api::claim_one(const Fields& fields) {
    List leases = claim(fields);
    if (leases.size() != 1) throw std::runtime_error("the claim got " + serialize(leases));
    return leases.front();
}

Response Api::act(const Json& lease, std::string_view verb, const Fields& fields) {
    return http.post("/api/v1/leases/" + text(lease, "lease_id") + "/" + std::string(verb),
                     serialize(fields));
}

Response Api::heartbeat(const Json& lease, const Fields& fields) {
    return act(lease, "heartbeat", fields);
}

Response Api::log(const Json& lease, const List& entries) {
    return act(lease, "logs", {{"entries", entries}});
}

Response Api::report(const Json& lease, const Fields& fields) {
    return act(lease, "report", fields);
}

Response Api::release(const Json& lease, const Fields& fields) {
    return act(lease, "release", fields);
}

Response Api::cancel(const std::string& id, const Fields& fields) {
    return http.post("/api/v1/jobs/" + id + "/cancel", serialize(fields));
}

Response Api::replay(const std::string& id, const Fields& fields) {
    return http.post("/api/v1/jobs/" + id + "/replay", serialize(fields));
}

Json Api::get(const std::string& path) {
    return must(http.get(path), 200);
}

Json Api::job(const std::string& id) {
    return get("/api/v1/jobs/" + id);
}

List Api::events(const std::string& id) {
    return list(get("/api/v1/jobs/" + id + "/events?limit=1000"), "events");
}

std::vector<std::string> Api::steps(const std::string& id) {
    std::vector<std::string> types;
    for (const Json& event : events(id)) types.push_back(text(event, "type"));
    return types;
}

List Api::logs(const std::string& id) {
    return list(get("/api/v1/jobs/" + id + "/logs?limit=1000"), "logs");
}

Json Api::explain(const std::string& id) {
    return get("/api/v1/jobs/" + id + "/explain");
}

std::vector<std::string> Api::reasons(const std::string& id) {
    std::vector<std::string> codes;
    for (const Json& reason : list(explain(id), "reasons")) codes.push_back(text(reason, "code"));
    return codes;
}

bool Api::reaches(const std::string& id, const std::string& wanted) {
    return eventually([&] { return state(id) == wanted; });
}

std::string job_of(const Json& lease) {
    return text(at(lease, "job"), "id");
}

Json expect_ok(const Response& response, int status) {
    EXPECT_EQ(response.status, status) << response.body;
    return parse(response.body);
}

void expect_refused(const Response& response, int status, std::string_view code,
                    std::string_view pointer) {
    ASSERT_EQ(response.status, status) << response.body;
    EXPECT_EQ(response.header("Content-Type"), "application/problem+json");
    const Json problem = parse(response.body);
    EXPECT_EQ(text(problem, "code"), code) << response.body;
    EXPECT_EQ(number(problem, "status"), status);
    EXPECT_FALSE(text(problem, "detail").empty());
    EXPECT_FALSE(text(problem, "request_id").empty());
    EXPECT_EQ(text(problem, "request_id"), response.header("X-Request-Id"));
    if (pointer.empty()) return;
    EXPECT_EQ(text(list(problem, "errors").at(0), "pointer"), pointer) << response.body;
}

std::string fresh_name(std::string_view stem) {
    static std::atomic<int> count = 0;
    return std::string(stem) + "-" + std::to_string(++count);
}

void in_parallel(int count, const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([&work, i] {
            try {
                work(i);
            } catch (const std::exception& error) {
                ADD_FAILURE() << "thread " << i << ": " << error.what();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace sluice::e2e
