#include "e2e/outage_load.hpp"

#include <algorithm>
#include <functional>

namespace sluice::e2e {
namespace {

constexpr Millis longest_answer(10'000);
constexpr Millis pause_after_refusal(20);
constexpr Millis pause_between(2);  // the machine has other work, too
constexpr int refusals_max = 5000;  // of one request, before the test gives up

std::string submission(const std::string& name) {
    return serialize(Fields{{"type", "task"}, {"queue", "load"}, {"correlation_id", name}});
}

bool is_accepted(const Response& response) {
    return response.status / 100 == 2;
}

}  // namespace

OutageLoad::OutageLoad(std::uint16_t port, Clients clients) : port_(port) {
    const auto start = [this](int count, const std::function<void(int)>& work) {
        for (int i = 0; i < count; ++i) {
            threads_.emplace_back([work, i] {
                try {
                    work(i);
                } catch (const std::exception& error) {
                    ADD_FAILURE() << error.what();
                }
            });
        }
    };
    start(clients.with_keys, [this](int i) { submit_with_keys("key-" + std::to_string(i)); });
    start(clients.without_keys, [this](int) { submit_without_keys(); });
    start(clients.workers, [this](int) { work(); });
}

void OutageLoad::stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    if (!threads_.empty()) {
        std::printf("%d accepted, %d refused, the slowest answer took %lld ms\n", accepted(),
                    refused(), static_cast<long long>(slowest_.count()));
    }
    threads_.clear();
}

Response OutageLoad::call(Client& http, const std::string& path, const std::string& body,
                          const Headers& headers) {
    const auto start = std::chrono::steady_clock::now();
    const Response response = http.post(path, body, headers);
    const Millis took = since(start);
    EXPECT_LT(took, longest_answer) << path;
    if (response.status == 503) {
        ++refused_;
        EXPECT_NE(response.header("Retry-After"), "") << path;
    } else {
        ++accepted_;
        EXPECT_TRUE(is_accepted(response)) << path << " " << response.status << response.body;
    }
    const std::lock_guard lock(mutex_);
    slowest_ = std::max(slowest_, took);
    return response;
}

void OutageLoad::insist(Client& http, const std::string& path, const std::string& body,
                        const Headers& headers) {
    for (int refusals = 0; refusals < refusals_max; ++refusals) {
        if (call(http, path, body, headers).status != 503) return;
        std::this_thread::sleep_for(pause_after_refusal);
    }
    throw std::runtime_error("the engine does not come back");
}

void OutageLoad::submit_with_keys(const std::string& name) {
    Client http(port_);
    for (int i = 0; !stop_; ++i) {
        const std::string key = name + "-" + std::to_string(i);
        insist(http, "/api/v1/jobs", submission(key), {{"Idempotency-Key", key}});
        ++keys_;
        std::this_thread::sleep_for(pause_between);
    }
}

void OutageLoad::submit_without_keys() {
    Client http(port_);
    while (!stop_) {
        const bool accepted = is_accepted(call(http, "/api/v1/jobs", submission("once")));
        ++(accepted ? sent_once_ : unknown_);
        std::this_thread::sleep_for(accepted ? pause_between : pause_after_refusal);
    }
}

void OutageLoad::work() {
    Api api(port_, "load");
    const std::string claim =
        api.claim_text({{"limit", 4}, {"wait_ms", 500}, {"lease_ms", 60'000}});
    while (!stop_) {
        const Response claimed = call(api.http, "/api/v1/leases", claim);
        if (!is_accepted(claimed)) {
            std::this_thread::sleep_for(pause_after_refusal);
            continue;
        }
        for (const Json& lease : list(parse(claimed.body), "leases")) {
            insist(api.http, "/api/v1/leases/" + text(lease, "lease_id") + "/report",
                   R"({"outcome":"succeeded"})");
            ++reported_;
        }
    }
}

void OutageLoad::expect_all_kept(const PostgresServer& server) const {
    const auto count = [&](const std::string& of) { return server.ask("SELECT count" + of); };
    EXPECT_EQ(count("(*) FROM job WHERE correlation_id LIKE 'key-%'"), keys_);
    EXPECT_EQ(count("(DISTINCT correlation_id) FROM job WHERE correlation_id LIKE 'key-%'"), keys_);
    const std::int64_t once = count("(*) FROM job WHERE correlation_id = 'once'");
    EXPECT_GE(once, sent_once_);
    EXPECT_LE(once, sent_once_ + unknown_);
    EXPECT_EQ(count("(*) FROM done"), reported_);
    EXPECT_EQ(count("(DISTINCT e.job_id) FROM event e JOIN done d ON d.id = e.job_id "
                    "AND d.state = e.to_state"),
              reported_);
    const Ended verified = run_sluice({"audit", "verify", "--store", server.url()});
    EXPECT_EQ(verified.code, 0) << verified.errors << verified.output;
}

}  // namespace sluice::e2e
