// Which jobs a claim takes, and in which order.
#include "e2e/api.hpp"

namespace sluice::e2e {
namespace claim_test {

ON_EACH_STORE(Claim);

std::vector<std::string> ids_of(const List& leases) {
    std::vector<std::string> ids;
    for (const Json& lease : leases) ids.push_back(job_of(lease));
    return ids;
}

TEST_P(Claim, HandsOutTheJobUnderALease) {
    const std::string id = api.submit_id({{"payload", 5}});

    const Json lease = api.claim_one({{"worker_id", "w-1"}, {"lease_ms", 20'000}});

    EXPECT_EQ(job_of(lease), id);
    EXPECT_EQ(number(lease, "attempt"), 1);
    const Json& job = at(lease, "job");
    EXPECT_EQ(text(job, "state"), "running");
    EXPECT_EQ(text(job, "locked_by"), "w-1");
    EXPECT_EQ(text(job, "lease_until"), text(lease, "lease_until"));
    EXPECT_EQ(text(job, "started_at"), text(job, "locked_at"));
    EXPECT_GT(text(lease, "lease_until"), text(job, "locked_at"));
    EXPECT_EQ(api.job(id), job);
}

TEST_P(Claim, TakesAJobOnce) {
    api.submit();

    EXPECT_EQ(api.claim({{"limit", 5}}).size(), 1u);
    EXPECT_TRUE(api.claim().empty());
}

TEST_P(Claim, TakesOnlyFromTheQueuesItNames) {
    const std::string other = fresh_name("queue");
    const std::string third = fresh_name("queue");
    const std::string a = api.submit_id();
    const std::string b = api.submit_id({{"queue", other}});
    api.submit({{"queue", third}});

    EXPECT_EQ(ids_of(api.claim({{"queues", List{Json(other)}}, {"limit", 9}})), (std::vector{b}));
    EXPECT_EQ(ids_of(api.claim({{"queues", List{Json(api.queue()), Json(other)}}, {"limit", 9}})),
              (std::vector{a}));
}

TEST_P(Claim, TakesOnlyTheTypesItNames) {
    api.submit({{"type", "a"}});
    const std::string b = api.submit_id({{"type", "b"}});
    const std::string c = api.submit_id({{"type", "c"}});

    EXPECT_EQ(ids_of(api.claim({{"types", List{"c", "b", "x"}}, {"limit", 9}})),
              (std::vector{b, c}));
}

TEST_P(Claim, TakesOnlyJobsWhoseLabelsTheWorkerHas) {
    const std::string plain = api.submit_id();
    const std::string gpu = api.submit_id({{"labels", List{"gpu"}}});
    const std::string both = api.submit_id({{"labels", List{"gpu", "zone=eu"}}});

    EXPECT_EQ(ids_of(api.claim({{"limit", 9}})), (std::vector{plain}));
    EXPECT_TRUE(api.claim({{"limit", 9}, {"labels", List{"zone=eu"}}}).empty());
    EXPECT_EQ(ids_of(api.claim({{"limit", 9}, {"labels", List{"gpu", "more"}}})),
              (std::vector{gpu}));
    EXPECT_EQ(ids_of(api.claim({{"limit", 9}, {"labels", Fields{{"zone", "eu"}}}})),
              std::vector<std::string>{});
    EXPECT_EQ(ids_of(api.claim({{"limit", 9}, {"labels", List{"zone=eu", "a", "gpu"}}})),
              (std::vector{both}));
}

TEST_P(Claim, TakesOnlyJobsOfItsTenant) {
    const std::string theirs = api.submit_id({{"tenant", "acme"}});

    EXPECT_TRUE(api.claim().empty());
    EXPECT_EQ(ids_of(api.claim({{"tenant", "acme"}})), (std::vector{theirs}));
}

TEST_P(Claim, TakesTheHighestPriorityFirstAndThenTheOldest) {
    const std::string low = api.submit_id({{"priority", -1}});
    const std::string first = api.submit_id();
    const std::string second = api.submit_id({{"type", "other"}});
    const std::string high = api.submit_id({{"priority", 10}});
    const std::string third = api.submit_id({{"labels", List{"x"}}});

    EXPECT_EQ(ids_of(api.claim({{"limit", 9}, {"labels", List{"x"}}})),
              (std::vector{high, first, second, third, low}));
}

TEST_P(Claim, TakesNoMoreThanItsLimit) {
    api.submit_batch(std::vector<Fields>(7));

    EXPECT_EQ(api.claim({{"limit", 3}}).size(), 3u);
    EXPECT_EQ(api.claim().size(), 1u) << "one when it does not say";
    EXPECT_EQ(api.claim({{"limit", 100}}).size(), 3u);
}

TEST_P(Claim, TakesNothingBeforeItsTime) {
    const auto start = std::chrono::steady_clock::now();
    const std::string id = api.submit_id({{"delay_ms", 300}});

    EXPECT_TRUE(api.claim().empty());
    const Json lease = api.claim_one({{"wait_ms", 5000}});

    EXPECT_EQ(job_of(lease), id);
    EXPECT_GE(since(start), Millis(295));
    EXPECT_LT(since(start), Millis(1500));
    const Json& job = at(lease, "job");
    EXPECT_GE(text(job, "started_at"), text(job, "run_after"));
}

TEST_P(Claim, GivesEachAttemptANewLease) {
    api.submit({{"backoff", "none"}});
    const Json first = api.claim_one();
    expect_ok(api.fail(first));

    const Json second = api.claim_one();

    EXPECT_EQ(job_of(first), job_of(second));
    EXPECT_LT(text(first, "lease_id"), text(second, "lease_id"));
    EXPECT_EQ(number(second, "attempt"), 2);
    EXPECT_TRUE(is_null(at(second, "job"), "error_code")) << "of the attempt before";
}

TEST_P(Claim, RefusesWhatIsNotAClaim) {
    const auto post = [&](const char* body) { return api.http.post("/api/v1/leases", body); };
    expect_refused(post("{}"), 422, "invalid", "/worker_id");
    expect_refused(post(""), 422, "invalid", "/worker_id");
    expect_refused(post(R"({"worker_id":""})"), 422, "invalid", "/worker_id");
    expect_refused(post(R"({"worker_id":"w","limit":0})"), 422, "invalid", "/limit");
    expect_refused(post(R"({"worker_id":"w","limit":1001})"), 422, "invalid", "/limit");
    expect_refused(post(R"({"worker_id":"w","lease_ms":99})"), 422, "invalid", "/lease_ms");
    expect_refused(post(R"({"worker_id":"w","lease_ms":3600001})"), 422, "invalid", "/lease_ms");
    expect_refused(post(R"({"worker_id":"w","wait_ms":60001})"), 422, "invalid", "/wait_ms");
    expect_refused(post(R"({"worker_id":"w","wait_ms":-1})"), 422, "invalid", "/wait_ms");
    expect_refused(post(R"({"worker_id":"w","queues":"q"})"), 422, "invalid", "/queues");
    expect_refused(post(R"({"worker_id":"w","queues":[1]})"), 422, "invalid", "/queues/0");
    expect_refused(post(R"({"worker_id":"w","queue":"q"})"), 422, "invalid", "/queue");
    const std::string name(201, 'w');
    expect_refused(post((R"({"worker_id":")" + name + "\"}").c_str()), 413, "too_large",
                   "/worker_id");
}

TEST_P(Claim, ParallelClaimsNeverShareAJob) {
    api.submit_batch(std::vector<Fields>(300));
    std::vector<std::vector<std::string>> taken(8);

    in_parallel(8, [&](int i) {
        Api mine(engine.port(), api.queue());
        for (List leases; !(leases = mine.claim({{"limit", 5}})).empty();) {
            for (const Json& lease : leases) {
                taken[static_cast<std::size_t>(i)].push_back(job_of(lease));
            }
        }
    });

    std::vector<std::string> all;
    for (const auto& some : taken) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all.size(), 300u);
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

}  // namespace claim_test
}  // namespace sluice::e2e
