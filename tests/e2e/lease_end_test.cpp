// How leases end without a report: deadlines, silence, and giving a job back.
#include "e2e/api.hpp"

namespace sluice::e2e {
namespace lease_end_test {

ON_EACH_STORE(LeaseEnd);

TEST_P(LeaseEnd, ADeadlineEndsTheJobAsTimedOut) {
    const std::string id = api.submit_id({{"timeout_ms", 120}, {"max_attempts", 5}});
    const Json lease = api.claim_one();

    EXPECT_TRUE(api.reaches(id, "timed_out"));
    const Json job = api.job(id);
    EXPECT_EQ(text(job, "error_code"), "JOB_TIMEOUT");
    EXPECT_NE(text(job, "error_message").find("120"), std::string::npos);
    EXPECT_FALSE(text(job, "completed_at").empty());
    EXPECT_TRUE(flag(expect_ok(api.heartbeat(lease)), "cancel_requested"));
    EXPECT_EQ(api.steps(id).back(), "timed_out");
}

TEST_P(LeaseEnd, HeartbeatsDoNotMoveADeadline) {
    const std::string id = api.submit_id({{"timeout_ms", 200}});
    const Json lease = api.claim_one();
    const auto start = std::chrono::steady_clock::now();

    EXPECT_TRUE(eventually([&] {
        return flag(expect_ok(api.heartbeat(lease, {{"lease_ms", 60'000}})), "cancel_requested");
    }));

    EXPECT_LT(since(start), Millis(2000));
    EXPECT_EQ(api.state(id), "timed_out");
}

TEST_P(LeaseEnd, ASuccessAfterTheDeadlineIsRefused) {
    const std::string id = api.submit_id({{"timeout_ms", 100}});
    const Json lease = api.claim_one();
    ASSERT_TRUE(api.reaches(id, "timed_out"));

    expect_refused(api.succeed(lease), 409, "conflict");

    EXPECT_EQ(api.state(id), "timed_out");
    EXPECT_EQ(api.steps(id).back(), "lease_closed");
}

TEST_P(LeaseEnd, AReportThatAgreesWithTheDeadlineMayBeRepeated) {
    const std::string id = api.submit_id({{"timeout_ms", 100}});
    const Json lease = api.claim_one();
    ASSERT_TRUE(api.reaches(id, "timed_out"));
    const Response first = api.report(lease, {{"outcome", "timed_out"}});

    const Response again = api.report(lease, {{"outcome", "timed_out"}});

    EXPECT_EQ(first.status, 200) << first.body;
    EXPECT_EQ(again.status, 200) << again.body;
    EXPECT_EQ(again.body, first.body);
}

TEST_P(LeaseEnd, KeysOfATimedOutJobStayTakenUntilItsWorkerStops) {
    const std::string site = fresh_name("site");
    const std::string id = api.submit_id({{"site_id", site}, {"timeout_ms", 100}});
    const Json lease = api.claim_one();
    const std::string next = api.submit_id({{"site_id", site}});
    ASSERT_TRUE(api.reaches(id, "timed_out"));

    EXPECT_TRUE(api.claim().empty());
    expect_ok(api.report(lease, {{"outcome", "canceled"}}));
    EXPECT_EQ(job_of(api.claim_one()), next);
}

TEST_P(LeaseEnd, ALostLeaseQueuesTheJobAgainAndCountsTheAttempt) {
    const std::string id = api.submit_id({{"max_attempts", 2}, {"backoff", List{3'600'000}}});
    api.claim_one({{"worker_id", "silent"}, {"lease_ms", 100}});

    EXPECT_TRUE(api.reaches(id, "queued"));
    const Json job = api.job(id);
    EXPECT_EQ(text(job, "error_code"), "LEASE_EXPIRED");
    EXPECT_NE(text(job, "error_message").find("silent"), std::string::npos);
    EXPECT_EQ(number(job, "attempt"), 1);
    EXPECT_TRUE(is_null(job, "started_at"));
    EXPECT_TRUE(is_null(job, "locked_by"));
    EXPECT_EQ(number(api.claim_one(), "attempt"), 2) << "at once, whatever the backoff";
}

TEST_P(LeaseEnd, ALostLeaseFailsTheJobWhenItsAttemptsAreUsedUp) {
    const std::string id = api.submit_id({{"max_attempts", 2}});
    api.claim_one({{"lease_ms", 100}});
    api.claim_one({{"lease_ms", 100}, {"wait_ms", 5000}});

    EXPECT_TRUE(api.reaches(id, "failed"));
    EXPECT_EQ(text(api.job(id), "error_code"), "LEASE_EXPIRED");
    EXPECT_EQ(api.steps(id), (std::vector<std::string>{"submitted", "claimed", "lease_expired",
                                                       "claimed", "failed"}));
}

TEST_P(LeaseEnd, NothingOfAWorkerThatSleptTooLongIsAccepted) {
    const std::string id = api.submit_id({{"backoff", "none"}});
    const Json stale = api.claim_one({{"worker_id", "sleeper"}, {"lease_ms", 100}});
    const Json current = api.claim_one({{"worker_id", "fresh"}, {"wait_ms", 5000}});
    const Json before = api.job(id);
    const List events = api.events(id);

    expect_refused(api.heartbeat(stale, {{"progress", 99}}), 409, "lease_lost");
    expect_refused(api.log(stale, {Fields{{"message", "from the past"}}}), 409, "lease_lost");
    expect_refused(api.succeed(stale), 409, "lease_lost");
    expect_refused(api.fail(stale), 409, "lease_lost");
    expect_refused(api.release(stale), 409, "lease_lost");

    EXPECT_EQ(api.job(id), before);
    EXPECT_EQ(api.events(id), events);
    EXPECT_TRUE(api.logs(id).empty());
    expect_ok(api.succeed(current));
}

TEST_P(LeaseEnd, AStaleLeaseIsRefusedWhileTheJobWaitsToo) {
    const std::string id = api.submit_id();
    const Json stale = api.claim_one({{"lease_ms", 100}});
    ASSERT_TRUE(api.reaches(id, "queued"));

    expect_refused(api.succeed(stale), 409, "lease_lost");
    expect_refused(api.heartbeat(stale), 409, "lease_lost");

    EXPECT_EQ(api.state(id), "queued");
}

TEST_P(LeaseEnd, AStaleLeaseIsRefusedAfterTheEndToo) {
    const std::string id = api.submit_id({{"max_attempts", 1}});
    const Json stale = api.claim_one({{"lease_ms", 100}});
    ASSERT_TRUE(api.reaches(id, "failed"));

    expect_refused(api.succeed(stale), 409, "lease_lost");
    expect_refused(api.heartbeat(stale), 409, "lease_lost");
    expect_refused(api.log(stale, {Fields{{"message", "x"}}}), 409, "lease_lost");

    EXPECT_EQ(text(api.job(id), "error_code"), "LEASE_EXPIRED");
}

TEST_P(LeaseEnd, AJobThatIsGivenBackDoesNotCountTheAttempt) {
    const std::string id = api.submit_id({{"max_attempts", 1}});
    for (int i = 0; i < 3; ++i) {
        const Json lease = api.claim_one();
        EXPECT_EQ(number(lease, "attempt"), 1);
        const Json answer = expect_ok(api.release(lease, {{"reason", "shutting down"}}));
        EXPECT_EQ(text(answer, "state"), "queued");
        EXPECT_EQ(number(answer, "attempt"), 0);
        expect_refused(api.succeed(lease), 409, "lease_lost");
    }

    const List events = api.events(id);
    EXPECT_EQ(text(events[2], "type"), "handed_back");
    EXPECT_EQ(text(at(events[2], "detail"), "reason"), "shutting down");
    expect_ok(api.succeed(api.claim_one()));
}

TEST_P(LeaseEnd, GivingACanceledJobBackFreesItsKeys) {
    const std::string site = fresh_name("site");
    const std::string id = api.submit_id({{"site_id", site}});
    const Json lease = api.claim_one();
    const std::string next = api.submit_id({{"site_id", site}});
    expect_ok(api.cancel(id));

    EXPECT_EQ(text(expect_ok(api.release(lease)), "state"), "canceled");

    EXPECT_EQ(job_of(api.claim_one()), next);
}

TEST_P(LeaseEnd, GivingBackRefusesWhatItDoesNotKnow) {
    api.submit();
    const Json lease = api.claim_one();
    expect_refused(api.release(lease, {{"because", "x"}}), 422, "invalid", "/because");
    expect_refused(api.release(lease, {{"reason", 1}}), 422, "invalid", "/reason");
    expect_refused(api.release(lease, {{"reason", std::string(2001, 'r')}}), 413, "too_large",
                   "/reason");
    EXPECT_EQ(api.http.post("/api/v1/leases/" + text(lease, "lease_id") + "/release", "").status,
              200);
}

}  // namespace lease_end_test
}  // namespace sluice::e2e
