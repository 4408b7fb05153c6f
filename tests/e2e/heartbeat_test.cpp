// Heartbeats: they extend the lease, send progress, and bring the request to stop.
#include "e2e/api.hpp"

namespace sluice::e2e {
namespace heartbeat_test {

ON_EACH_STORE(Heartbeat);

TEST_P(Heartbeat, ExtendsTheLease) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one({{"lease_ms", 5000}});

    const Json answer = expect_ok(api.heartbeat(lease, {{"lease_ms", 60'000}}));

    EXPECT_GT(text(answer, "lease_until"), text(lease, "lease_until"));
    EXPECT_FALSE(flag(answer, "cancel_requested"));
    EXPECT_EQ(text(api.job(id), "lease_until"), text(answer, "lease_until"));
}

TEST_P(Heartbeat, KeepsAJobForManyTerms) {
    const std::string id = api.submit_id({{"max_attempts", 1}});
    const Json lease = api.claim_one({{"lease_ms", 400}});
    const auto start = std::chrono::steady_clock::now();

    EXPECT_TRUE(eventually([&] {
        EXPECT_EQ(api.heartbeat(lease).status, 200);
        return since(start) > Millis(1000);
    }));

    EXPECT_EQ(api.state(id), "running");
    expect_ok(api.succeed(lease));
}

TEST_P(Heartbeat, KeepsTheTermThatTheLastOneAskedFor) {
    api.submit();
    const Json lease = api.claim_one({{"lease_ms", 30'000}});
    const std::string longer =
        text(expect_ok(api.heartbeat(lease, {{"lease_ms", 3'600'000}})), "lease_until");

    const Json next = expect_ok(api.heartbeat(lease));

    EXPECT_GE(text(next, "lease_until"), longer);
}

TEST_P(Heartbeat, ShowsProgressAndMessage) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();

    expect_ok(api.heartbeat(lease, {{"progress", 40}, {"message", "half \"way\" 💡"}}));
    EXPECT_EQ(number(api.job(id), "progress"), 40);
    EXPECT_EQ(text(api.job(id), "message"), "half \"way\" 💡");

    expect_ok(api.heartbeat(lease, {{"progress", 60}}));
    EXPECT_EQ(number(api.job(id), "progress"), 60);
    EXPECT_EQ(text(api.job(id), "message"), "half \"way\" 💡") << "kept when not said anew";
}

TEST_P(Heartbeat, ASuccessCompletesTheProgress) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    expect_ok(api.heartbeat(lease, {{"progress", 40}}));

    expect_ok(api.succeed(lease));

    EXPECT_EQ(number(api.job(id), "progress"), 100);
}

TEST_P(Heartbeat, ProgressStartsAnewWithEachAttempt) {
    const std::string id = api.submit_id({{"backoff", "none"}});
    const Json lease = api.claim_one();
    expect_ok(api.heartbeat(lease, {{"progress", 40}, {"message", "almost"}}));
    expect_ok(api.fail(lease));

    EXPECT_TRUE(is_null(api.job(id), "progress"));
    EXPECT_TRUE(is_null(api.job(id), "started_at"));
    EXPECT_TRUE(is_null(at(api.claim_one(), "job"), "message"));
}

TEST_P(Heartbeat, AsksTheWorkerToStopAfterACancel) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    expect_ok(api.cancel(id));

    EXPECT_TRUE(flag(expect_ok(api.heartbeat(lease)), "cancel_requested"));
    EXPECT_EQ(api.state(id), "canceled");
}

TEST_P(Heartbeat, MakesNoEvent) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    for (int i = 0; i < 5; ++i) expect_ok(api.heartbeat(lease, {{"progress", i}}));

    EXPECT_EQ(api.events(id).size(), 2u);
    EXPECT_EQ(number(api.job(id), "revision"), 2);
}

TEST_P(Heartbeat, RefusesWhatIsOutOfRange) {
    api.submit();
    const Json lease = api.claim_one();
    expect_refused(api.heartbeat(lease, {{"progress", 101}}), 422, "invalid", "/progress");
    expect_refused(api.heartbeat(lease, {{"progress", -1}}), 422, "invalid", "/progress");
    expect_refused(api.heartbeat(lease, {{"progress", 1.5}}), 422, "invalid", "/progress");
    expect_refused(api.heartbeat(lease, {{"lease_ms", 99}}), 422, "invalid", "/lease_ms");
    expect_refused(api.heartbeat(lease, {{"lease_ms", 3'600'001}}), 422, "invalid", "/lease_ms");
    expect_refused(api.heartbeat(lease, {{"message", std::string(2001, 'm')}}), 413, "too_large",
                   "/message");
    expect_refused(api.heartbeat(lease, {{"percent", 5}}), 422, "invalid", "/percent");
    EXPECT_EQ(api.heartbeat(lease, {{"message", std::string(2000, 'm')}}).status, 200);
}

TEST_P(Heartbeat, OfALeaseThatNeverWasIsRefused) {
    const std::string id = api.submit_id();
    const Json made_up = Fields{{"lease_id", id + "-00000000000000ff"}};
    const Json no_job = Fields{{"lease_id", "65f000000000000000000000-00000000000000ff"}};

    expect_refused(api.heartbeat(made_up), 409, "lease_lost");
    expect_refused(api.heartbeat(no_job), 404, "not_found");
    expect_refused(api.heartbeat(Fields{{"lease_id", "nonsense"}}), 404, "not_found");
    EXPECT_EQ(api.state(id), "queued");
}

}  // namespace heartbeat_test
}  // namespace sluice::e2e
