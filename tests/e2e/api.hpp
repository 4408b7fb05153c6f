#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "e2e/engine.hpp"
#include "e2e/http_client.hpp"
#include "e2e/json.hpp"

namespace sluice::e2e {

// The native API as one client uses it, within one queue, so that tests which share an engine do
// not meet. Calls that must not be refused throw, with the answer, when they are. One thread; each
// thread makes its own.
class Api {
  public:
    Api(std::uint16_t port, std::string queue)
        : http(port), port_(port), queue_(std::move(queue)) {}

    Client http;

    std::uint16_t port() const { return port_; }
    const std::string& queue() const { return queue_; }

    // Submits a job of type "task" unless the fields say otherwise.
    Json submit(const Fields& fields = {});
    Response try_submit(const Fields& fields, const Headers& headers = {});
    std::string submit_id(const Fields& fields = {}) { return text(submit(fields), "id"); }
    List submit_batch(const std::vector<Fields>& jobs);
    Response try_batch(const std::vector<Fields>& jobs, const Headers& headers = {});

    // Claims for "worker" unless the fields say otherwise; returns the "leases".
    List claim(const Fields& fields = {});
    Json claim_one(const Fields& fields = {});                // throws when there is none
    std::string claim_text(const Fields& fields = {}) const;  // the request, for sending by hand

    Response heartbeat(const Json& lease, const Fields& fields = {});
    Response log(const Json& lease, const List& entries);
    Response report(const Json& lease, const Fields& fields);
    Response succeed(const Json& lease) { return report(lease, {{"outcome", "succeeded"}}); }
    Response fail(const Json& lease) { return report(lease, {{"outcome", "failed"}}); }
    Response release(const Json& lease, const Fields& fields = {});
    Response cancel(const std::string& id, const Fields& fields = {});
    Response replay(const std::string& id, const Fields& fields = {});

    Json job(const std::string& id);
    std::string state(const std::string& id) { return text(job(id), "state"); }
    List events(const std::string& id);
    std::vector<std::string> steps(const std::string& id);  // the types of its events
    List logs(const std::string& id);
    Json explain(const std::string& id);
    std::vector<std::string> reasons(const std::string& id);  // the codes of its explanation

    Json get(const std::string& path);  // throws unless the answer is 200
    bool reaches(const std::string& id, const std::string& state);

  private:
    Response act(const Json& lease, std::string_view verb, const Fields& fields);

    std::uint16_t port_;
    std::string queue_;
};

// The id of the job under a lease.
std::string job_of(const Json& lease);

// The answer's status, checked, and its body.
Json expect_ok(const Response& response, int status = 200);

// Expects a refusal that is well-formed: problem+json with this status and code.
void expect_refused(const Response& response, int status, std::string_view code,
                    std::string_view pointer = {});

// A name that no other test in this run has.
std::string fresh_name(std::string_view stem);

// A test that runs on an engine with each kind of store, which it shares with others.
class EachStore : public testing::TestWithParam<const char*> {
  protected:
    EachStore() : engine(shared_engine(GetParam())), api(engine.port(), fresh_name("queue")) {}

    Engine& engine;
    Api api;
};

// Calls `work(i)` in `count` threads at once and waits for them. An exception in a thread is a
// failure.
void in_parallel(int count, const std::function<void(int)>& work);

}  // namespace sluice::e2e

// A suite of tests that each run on both stores.
#define ON_EACH_STORE(Suite)                                                    \
    class Suite : public EachStore {}; /* NOLINT(bugprone-macro-parentheses) */ \
    INSTANTIATE_TEST_SUITE_P(Store, Suite, testing::Values("memory", "sqlite"), \
                             [](const auto& tested) { return std::string(tested.param); })
