// Exclusive keys: site_id, node_id and exclusive_keys are held by one running job at a time.
#include <mutex>

#include "e2e/api.hpp"

namespace sluice::e2e {
namespace exclusive_test {

ON_EACH_STORE(Exclusive);

TEST_P(Exclusive, EachKindOfKeyIsHeldByOneJobAtATime) {
    const std::string name = fresh_name("key");
    for (const Fields& keyed : {Fields{{"site_id", name}}, Fields{{"node_id", name}},
                                Fields{{"exclusive_keys", List{Json(name), "also"}}}}) {
        api.submit_batch({keyed, keyed});

        const Json first = api.claim_one({{"limit", 9}});
        EXPECT_TRUE(api.claim().empty());
        expect_ok(api.succeed(first));
        const Json second = api.claim_one({{"limit", 9}});
        expect_ok(api.succeed(second));
    }
}

TEST_P(Exclusive, KeysOfDifferentKindsDoNotMeet) {
    const std::string name = fresh_name("key");
    api.submit({{"site_id", name}});
    api.submit({{"node_id", name}});
    api.submit({{"exclusive_keys", List{Json(name)}}});
    api.submit({{"exclusive_keys", List{Json("site_id=" + name)}}});

    EXPECT_EQ(api.claim({{"limit", 9}}).size(), 4u);
}

TEST_P(Exclusive, KeysBelongToTheirTenants) {
    const std::string name = fresh_name("site");
    api.submit({{"site_id", name}, {"tenant", "a"}});
    api.submit({{"site_id", name}, {"tenant", "b"}});

    EXPECT_EQ(api.claim({{"tenant", "a"}}).size(), 1u);
    EXPECT_EQ(api.claim({{"tenant", "b"}}).size(), 1u);
}

TEST_P(Exclusive, HoldsAcrossQueuesAndTypes) {
    const std::string name = fresh_name("node");
    api.submit({{"node_id", name}});
    Api other(engine.port(), fresh_name("queue"));
    other.submit({{"node_id", name}, {"type", "other"}});

    const Json first = api.claim_one();
    EXPECT_TRUE(other.claim().empty());
    expect_ok(api.succeed(first));
    EXPECT_EQ(other.claim().size(), 1u);
}

TEST_P(Exclusive, AJobThatWaitsForItsKeyDoesNotHoldUpOthers) {
    const std::string name = fresh_name("site");
    api.submit({{"site_id", name}});
    api.claim_one();
    api.submit({{"site_id", name}, {"priority", 100}});
    const std::string free = api.submit_id();

    EXPECT_EQ(job_of(api.claim_one({{"limit", 9}})), free);
}

TEST_P(Exclusive, AJobNeedsAllOfItsKeys) {
    const std::string a = fresh_name("key");
    const std::string b = fresh_name("key");
    api.submit({{"exclusive_keys", List{Json(a)}}});
    const Json has_a = api.claim_one();
    api.submit({{"exclusive_keys", List{Json(b)}}});
    const Json has_b = api.claim_one();
    const std::string both = api.submit_id({{"exclusive_keys", List{Json(a), Json(b)}}});

    EXPECT_TRUE(api.claim().empty());
    expect_ok(api.succeed(has_a));
    EXPECT_TRUE(api.claim().empty());
    expect_ok(api.succeed(has_b));
    EXPECT_EQ(job_of(api.claim_one()), both);
}

TEST_P(Exclusive, AKeyGoesToTheHighestPriorityThatWaitsForIt) {
    const std::string site = fresh_name("site");
    api.submit({{"site_id", site}});
    const Json first = api.claim_one();
    const std::string low = api.submit_id({{"site_id", site}});
    const std::string high = api.submit_id({{"site_id", site}, {"priority", 5}});
    const std::string next = api.submit_id({{"site_id", site}});
    expect_ok(api.succeed(first));

    for (const std::string& wanted : {high, low, next}) {
        const Json lease = api.claim_one({{"limit", 9}});
        EXPECT_EQ(job_of(lease), wanted);
        expect_ok(api.succeed(lease));
    }
}

TEST_P(Exclusive, ARetryGivesItsKeyBackMeanwhile) {
    const std::string site = fresh_name("site");
    api.submit({{"site_id", site}, {"backoff", List{3'600'000}}});
    const std::string second = api.submit_id({{"site_id", site}});
    expect_ok(api.fail(api.claim_one()));

    EXPECT_EQ(job_of(api.claim_one()), second);
}

TEST_P(Exclusive, ALostLeaseGivesItsKeyBack) {
    const std::string site = fresh_name("site");
    api.submit({{"site_id", site}, {"max_attempts", 1}});
    const std::string second = api.submit_id({{"site_id", site}});
    api.claim_one({{"lease_ms", 120}});

    EXPECT_EQ(job_of(api.claim_one({{"wait_ms", 5000}})), second);
}

// As one client saw it: the job ran at least from the claim's answer to the report's sending.
struct Span {
    int key = 0;
    std::chrono::steady_clock::time_point from;
    std::chrono::steady_clock::time_point to;
};

TEST_P(Exclusive, SixteenClaimersNeverOverlapOnAKey) {
    std::vector<Fields> jobs;
    const std::string stem = fresh_name("node");
    for (int i = 0; i < 200; ++i) {
        jobs.push_back({{"node_id", stem + std::to_string(i % 5)}, {"payload", i % 5}});
    }
    api.submit_batch(jobs);
    std::mutex mutex;
    std::vector<Span> spans;

    in_parallel(16, [&](int) {
        Api mine(engine.port(), api.queue());
        for (;;) {
            const List leases = mine.claim({{"wait_ms", 300}, {"limit", 2}});
            const auto from = std::chrono::steady_clock::now();
            if (leases.empty()) return;
            for (const Json& lease : leases) {
                const Span span{static_cast<int>(number(at(lease, "job"), "payload")), from,
                                std::chrono::steady_clock::now()};
                expect_ok(mine.succeed(lease));
                const std::lock_guard lock(mutex);
                spans.push_back(span);
            }
        }
    });

    EXPECT_EQ(spans.size(), 200u);
    std::sort(spans.begin(), spans.end(),
              [](const Span& a, const Span& b) { return a.from < b.from; });
    std::map<int, Span> last;
    for (const Span& span : spans) {
        const auto before = last.find(span.key);
        if (before != last.end()) {
            EXPECT_LE(before->second.to, span.from) << "key " << span.key;
        }
        last[span.key] = span;
    }
}

}  // namespace exclusive_test
}  // namespace sluice::e2e
