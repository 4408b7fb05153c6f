// Jobs that wait for other jobs.
#include "e2e/api.hpp"

namespace sluice::e2e {
namespace dependency_test {

ON_EACH_STORE(Dependency);

List on(const std::string& id) {
    return List{Json(id)};
}

TEST_P(Dependency, AJobRunsAfterAllThatItDependsOnSucceeded) {
    const std::string a = api.submit_id();
    const std::string b = api.submit_id();
    const std::string last =
        api.submit_id({{"depends_on", List{Json(a), Json(b)}}, {"priority", 100}});

    const List leases = api.claim({{"limit", 9}});
    ASSERT_EQ(leases.size(), 2u);
    expect_ok(api.succeed(leases[0]));
    EXPECT_TRUE(api.claim().empty());
    expect_ok(api.succeed(leases[1]));

    EXPECT_EQ(job_of(api.claim_one()), last);
}

TEST_P(Dependency, OnAJobThatSucceededBeforeDoesNotWait) {
    const std::string first = api.submit_id();
    expect_ok(api.succeed(api.claim_one()));

    const std::string second = api.submit_id({{"depends_on", on(first)}});

    EXPECT_EQ(job_of(api.claim_one()), second);
}

TEST_P(Dependency, AFailureCancelsWhatDependsOnIt) {
    for (const char* outcome : {"failed", "canceled", "timed_out"}) {
        const std::string first = api.submit_id({{"max_attempts", 1}});
        const std::string second = api.submit_id({{"depends_on", on(first)}});
        expect_ok(api.report(api.claim_one(), {{"outcome", outcome}}));

        const Json job = api.job(second);
        EXPECT_EQ(text(job, "state"), "canceled") << outcome;
        EXPECT_EQ(text(job, "error_code"), "DEPENDENCY_FAILED");
        EXPECT_NE(text(job, "error_message").find(first), std::string::npos);
        EXPECT_EQ(text(api.events(second)[1], "actor"), "engine");
    }
}

TEST_P(Dependency, AFailureThatIsTriedAgainCancelsNothing) {
    const std::string first = api.submit_id({{"backoff", "none"}});
    const std::string second = api.submit_id({{"depends_on", on(first)}});
    expect_ok(api.fail(api.claim_one()));
    EXPECT_EQ(api.state(second), "queued");

    expect_ok(api.succeed(api.claim_one()));

    EXPECT_EQ(job_of(api.claim_one()), second);
}

TEST_P(Dependency, OnAJobThatFailedBeforeIsCanceledAtOnce) {
    const std::string first = api.submit_id();
    expect_ok(api.cancel(first));

    const std::string second = api.submit_id({{"depends_on", on(first)}});

    EXPECT_EQ(api.state(second), "canceled");
    EXPECT_TRUE(api.claim().empty());
}

TEST_P(Dependency, WithThePolicyRunWaitsForTheEndWhateverItIs) {
    const std::string first = api.submit_id();
    const std::string second =
        api.submit_id({{"depends_on", on(first)}, {"on_dependency_failure", "run"}});
    expect_ok(api.cancel(first));

    EXPECT_EQ(job_of(api.claim_one()), second);
    const std::string third =
        api.submit_id({{"depends_on", on(first)}, {"on_dependency_failure", "run"}});
    EXPECT_EQ(job_of(api.claim_one()), third);
}

TEST_P(Dependency, AChainRunsInItsOrder) {
    std::vector<Fields> jobs(10);
    for (std::size_t i = 1; i < jobs.size(); ++i) {
        jobs[i]["depends_on"] = List{Json("#" + std::to_string(i - 1))};
        jobs[i]["priority"] = static_cast<int>(i);
    }
    const List accepted = api.submit_batch(jobs);

    for (const Json& job : accepted) {
        const Json lease = api.claim_one({{"limit", 9}});
        EXPECT_EQ(job_of(lease), text(job, "id"));
        expect_ok(api.succeed(lease));
    }
}

TEST_P(Dependency, ACancelRunsDownTheChain) {
    std::vector<Fields> jobs(20);
    for (std::size_t i = 1; i < jobs.size(); ++i) {
        jobs[i]["depends_on"] = List{Json("#" + std::to_string(i - 1))};
    }
    const List accepted = api.submit_batch(jobs);

    expect_ok(api.cancel(text(accepted[0], "id")));

    for (const Json& job : accepted) EXPECT_EQ(api.state(text(job, "id")), "canceled");
}

TEST_P(Dependency, ADiamondRunsItsEndOnce) {
    std::vector<Fields> jobs(4);
    jobs[1]["depends_on"] = jobs[2]["depends_on"] = List{"#0"};
    jobs[3]["depends_on"] = List{"#1", "#2"};
    const List accepted = api.submit_batch(jobs);
    expect_ok(api.succeed(api.claim_one({{"limit", 9}})));
    const List middle = api.claim({{"limit", 9}});
    ASSERT_EQ(middle.size(), 2u);
    for (const Json& lease : middle) expect_ok(api.succeed(lease));

    EXPECT_EQ(job_of(api.claim_one({{"limit", 9}})), text(accepted[3], "id"));
}

TEST_P(Dependency, TimeCountsToo) {
    const std::string first = api.submit_id();
    api.submit({{"depends_on", on(first)}, {"delay_ms", 250}});
    const auto start = std::chrono::steady_clock::now();
    expect_ok(api.succeed(api.claim_one()));

    EXPECT_EQ(api.claim({{"wait_ms", 5000}}).size(), 1u);
    EXPECT_GT(since(start), Millis(150));
}

TEST_P(Dependency, OnWhatIsNotThereIsRefused) {
    const std::string theirs = api.submit_id({{"tenant", "acme"}});
    const Response unknown = api.try_submit({{"depends_on", List{"65f000000000000000000000"}}});
    expect_refused(unknown, 422, "invalid", "/depends_on");
    EXPECT_NE(unknown.body.find("65f000000000000000000000"), std::string::npos);
    expect_refused(api.try_submit({{"depends_on", on(theirs)}}), 422, "invalid", "/depends_on");
    expect_refused(api.try_submit({{"depends_on", List{"nonsense"}}}), 422, "invalid",
                   "/depends_on/0");
    expect_refused(api.try_submit({{"depends_on", "x"}}), 422, "invalid", "/depends_on");
    expect_refused(api.try_submit({{"depends_on", on(theirs)}, {"on_dependency_failure", "wait"}}),
                   422, "invalid", "/on_dependency_failure");
    List many;
    for (int i = 0; i < 101; ++i) many.emplace_back(theirs);
    expect_refused(api.try_submit({{"depends_on", many}}), 413, "too_large", "/depends_on");
}

TEST_P(Dependency, ManyJobsMayDependOnOne) {
    std::vector<Fields> jobs(500);
    for (std::size_t i = 1; i < jobs.size(); ++i) jobs[i]["depends_on"] = List{"#0"};
    api.submit_batch(jobs);

    expect_ok(api.succeed(api.claim_one({{"limit", 1000}})));

    EXPECT_EQ(api.claim({{"limit", 1000}}).size(), 499u);
}

}  // namespace dependency_test
}  // namespace sluice::e2e
