// Idempotency-Key: the same request again is answered like the first and adds nothing.
#include <mutex>
#include <set>

#include "e2e/api.hpp"

namespace sluice::e2e {
namespace idempotency_test {

ON_EACH_STORE(Idempotency);

Headers key(const std::string& value) {
    return {{"Idempotency-Key", value}};
}

std::size_t jobs_in(Api& api) {
    return list(api.get("/api/v1/jobs?limit=200&queue=" + api.queue()), "jobs").size();
}

TEST_P(Idempotency, ARepeatGetsTheSameAnswerAndAddsNoJob) {
    const std::string name = fresh_name("key");
    const Response first = api.try_submit({{"priority", 3}}, key(name));
    const Response again = api.try_submit({{"priority", 3}}, key(name));

    EXPECT_EQ(first.status, 202);
    EXPECT_EQ(again.status, 202);
    EXPECT_EQ(first.body, again.body);
    EXPECT_EQ(first.header("Location"), again.header("Location"));
    EXPECT_EQ(first.header("Idempotent-Replayed"), "");
    EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
    EXPECT_EQ(jobs_in(api), 1u);
}

TEST_P(Idempotency, AnswersAsAtFirstEvenWhenTheJobHasEnded) {
    const std::string name = fresh_name("key");
    const Response first = api.try_submit({}, key(name));
    expect_ok(api.succeed(api.claim_one()));

    const Response again = api.try_submit({}, key(name));

    EXPECT_EQ(again.body, first.body);
}

TEST_P(Idempotency, AnotherBodyUnderTheSameKeyIsRefused) {
    const std::string name = fresh_name("key");
    api.try_submit({{"priority", 1}}, key(name));

    expect_refused(api.try_submit({{"priority", 2}}, key(name)), 422, "idempotency_key_reused");
    EXPECT_EQ(jobs_in(api), 1u);
}

TEST_P(Idempotency, ARefusedRequestUsesUpNoKey) {
    const std::string name = fresh_name("key");
    expect_refused(api.try_submit({{"priority", "x"}}, key(name)), 422, "invalid");
    expect_refused(api.try_submit({{"depends_on", List{"65f000000000000000000000"}}}, key(name)),
                   422, "invalid");

    EXPECT_EQ(api.try_submit({{"priority", 1}}, key(name)).status, 202);
}

TEST_P(Idempotency, KeysBelongToTheirTenants) {
    const std::string name = fresh_name("key");
    const Json ours = expect_ok(api.try_submit({{"tenant", "a"}}, key(name)), 202);
    const Json theirs = expect_ok(api.try_submit({{"tenant", "b"}}, key(name)), 202);

    EXPECT_NE(text(ours, "id"), text(theirs, "id"));
    EXPECT_EQ(at(expect_ok(api.try_submit({{"tenant", "a"}}, key(name)), 202), "id"),
              at(ours, "id"));
}

TEST_P(Idempotency, CoversWholeBatches) {
    const std::string name = fresh_name("key");
    const std::vector<Fields> jobs(5);
    const Response first = api.try_batch(jobs, key(name));
    const Response again = api.try_batch(jobs, key(name));

    EXPECT_EQ(first.status, 202);
    EXPECT_EQ(first.body, again.body);
    EXPECT_EQ(jobs_in(api), 5u);
    expect_refused(api.try_batch(std::vector<Fields>(4), key(name)), 422, "idempotency_key_reused");
}

TEST_P(Idempotency, ASingleJobAndABatchDoNotShareAKey) {
    const std::string name = fresh_name("key");
    api.try_batch(std::vector<Fields>(1), key(name));

    expect_refused(api.try_submit({}, key(name)), 422, "idempotency_key_reused");
}

TEST_P(Idempotency, QuotesAroundAKeyAreNotPartOfIt) {
    const std::string name = fresh_name("key");
    const Response plain = api.try_submit({}, key(name));

    EXPECT_EQ(api.try_submit({}, key("\"" + name + "\"")).body, plain.body);
}

TEST_P(Idempotency, RefusesKeysThatAreNotKeys) {
    for (const std::string& bad : {std::string(201, 'k'), std::string("a b"), std::string("\"\""),
                                   std::string("caf\xc3\xa9")}) {
        expect_refused(api.try_submit({}, key(bad)), 400, "malformed");
    }
    EXPECT_EQ(api.try_submit({}, key(std::string(200, 'k'))).status, 202);
    EXPECT_EQ(jobs_in(api), 1u);
}

TEST_P(Idempotency, SixtyFourSubmitsAtOnceMakeOneJob) {
    const std::string name = fresh_name("key");
    std::mutex mutex;
    std::set<std::string> ids;

    in_parallel(64, [&](int) {
        Api mine(engine.port(), api.queue());
        const Response response = mine.try_submit({{"priority", 9}}, key(name));
        const std::string id = text(parse(response.body), "id");
        const std::lock_guard lock(mutex);
        ids.insert(id);
    });

    EXPECT_EQ(ids.size(), 1u);
    EXPECT_EQ(jobs_in(api), 1u);
    EXPECT_EQ(api.claim({{"limit", 10}}).size(), 1u);
}

TEST_P(Idempotency, OfTwoBodiesAtOnceUnderOneKeyOneWins) {
    for (int round = 0; round < 5; ++round) {
        const std::string name = fresh_name("key");
        std::mutex mutex;
        std::map<int, std::set<std::string>> accepted;  // by body
        in_parallel(16, [&](int i) {
            Api mine(engine.port(), api.queue());
            const Response response = mine.try_submit({{"priority", i % 2}}, key(name));
            const std::lock_guard lock(mutex);
            if (response.status == 202) accepted[i % 2].insert(text(parse(response.body), "id"));
            if (response.status != 202) expect_refused(response, 422, "idempotency_key_reused");
        });
        EXPECT_EQ(accepted.size(), 1u);
        EXPECT_EQ(accepted.begin()->second.size(), 1u);
    }
    EXPECT_EQ(jobs_in(api), 5u);
}

TEST_P(Idempotency, AReplayIsMadeOnceToo) {
    const std::string name = fresh_name("key");
    const std::string id = api.submit_id();
    expect_ok(api.succeed(api.claim_one()));
    const std::string path = "/api/v1/jobs/" + id + "/replay";

    const Json first = expect_ok(api.http.post(path, "{}", key(name)), 202);
    const Json again = expect_ok(api.http.post(path, "{}", key(name)), 202);

    EXPECT_EQ(text(first, "id"), text(again, "id"));
    EXPECT_NE(text(first, "id"), id);
    EXPECT_EQ(jobs_in(api), 2u);
    expect_refused(api.http.post(path, R"({"reason":"x"})", key(name)), 422,
                   "idempotency_key_reused");
}

TEST_P(Idempotency, ABatchOfLogLinesIsStoredOnce) {
    api.submit();
    const Json lease = api.claim_one();
    const std::string path = "/api/v1/leases/" + text(lease, "lease_id") + "/logs";
    const std::string lines = R"({"entries":[{"message":"tick"}]})";

    expect_ok(api.http.post(path, lines, key("a")));
    expect_ok(api.http.post(path, lines, key("a")));
    expect_ok(api.http.post(path, lines, key("b")));

    EXPECT_EQ(api.logs(job_of(lease)).size(), 2u);
}

}  // namespace idempotency_test
}  // namespace sluice::e2e
