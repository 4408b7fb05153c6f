// Cancel and replay.
#include <atomic>
#include <mutex>

#include "e2e/api.hpp"

namespace sluice::e2e {
namespace cancel_test {

ON_EACH_STORE(Cancel);

TEST_P(Cancel, EndsAQueuedJob) {
    const std::string id = api.submit_id();

    const Json answer = expect_ok(api.cancel(id, {{"reason", "not needed"}}));

    EXPECT_EQ(text(answer, "state"), "canceled");
    EXPECT_EQ(text(answer, "error_message"), "not needed");
    EXPECT_FALSE(text(answer, "completed_at").empty());
    EXPECT_EQ(api.job(id), answer);
    EXPECT_TRUE(api.claim().empty());
    const List events = api.events(id);
    EXPECT_EQ(text(events[1], "type"), "canceled");
    EXPECT_EQ(text(at(events[1], "detail"), "reason"), "not needed");
}

TEST_P(Cancel, EndsARunningJobAtOnce) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();

    EXPECT_EQ(text(expect_ok(api.cancel(id)), "state"), "canceled");

    EXPECT_EQ(api.state(id), "canceled");
    expect_refused(api.succeed(lease), 409, "conflict");
    EXPECT_EQ(api.state(id), "canceled");
}

TEST_P(Cancel, AgainChangesNothing) {
    const std::string id = api.submit_id();
    const Response first = api.cancel(id, {{"reason", "a"}});

    const Response again = api.cancel(id, {{"reason", "b"}});

    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(api.events(id).size(), 2u);
}

TEST_P(Cancel, OfAJobThatEndedOtherwiseIsRefused) {
    for (const char* outcome : {"succeeded", "failed", "timed_out"}) {
        const std::string id = api.submit_id({{"max_attempts", 1}});
        expect_ok(api.report(api.claim_one(), {{"outcome", outcome}}));

        expect_refused(api.cancel(id), 409, "conflict");

        EXPECT_EQ(api.state(id), outcome);
    }
}

TEST_P(Cancel, OfNoJobIsNotFound) {
    expect_refused(api.cancel("65f000000000000000000000"), 404, "not_found");
    expect_refused(api.cancel("nonsense"), 404, "not_found");
    const std::string theirs = api.submit_id({{"tenant", "acme"}});
    expect_refused(api.http.post("/api/v1/jobs/" + theirs + "/cancel?tenant=other", ""), 404,
                   "not_found");
    EXPECT_EQ(api.state(theirs), "queued");
}

TEST_P(Cancel, RefusesWhatItDoesNotKnow) {
    const std::string id = api.submit_id();
    expect_refused(api.cancel(id, {{"why", "x"}}), 422, "invalid", "/why");
    expect_refused(api.cancel(id, {{"reason", 5}}), 422, "invalid", "/reason");
    expect_refused(api.cancel(id, {{"reason", std::string(2001, 'r')}}), 413, "too_large",
                   "/reason");
    expect_refused(api.http.post("/api/v1/jobs/" + id + "/cancel?force=1", ""), 400, "malformed");
    EXPECT_EQ(api.state(id), "queued");
    EXPECT_EQ(api.http.post("/api/v1/jobs/" + id + "/cancel", "").status, 200) << "no body needed";
}

TEST_P(Cancel, KeepsTheKeysTakenUntilTheWorkerReports) {
    const std::string site = fresh_name("site");
    const std::string id = api.submit_id({{"site_id", site}});
    const Json lease = api.claim_one();
    const std::string next = api.submit_id({{"site_id", site}});
    expect_ok(api.cancel(id));

    EXPECT_TRUE(api.claim().empty());
    expect_ok(api.heartbeat(lease));
    EXPECT_TRUE(api.claim().empty());
    EXPECT_EQ(text(expect_ok(api.report(lease, {{"outcome", "canceled"}})), "state"), "canceled");

    EXPECT_EQ(job_of(api.claim_one()), next);
}

TEST_P(Cancel, KeepsTheKeysTakenUntilTheLeaseEnds) {
    const std::string site = fresh_name("site");
    const std::string id = api.submit_id({{"site_id", site}});
    const Json lease = api.claim_one({{"lease_ms", 500}});
    const std::string next = api.submit_id({{"site_id", site}});
    expect_ok(api.cancel(id));

    EXPECT_TRUE(api.claim().empty());
    EXPECT_EQ(job_of(api.claim_one({{"wait_ms", 5000}})), next);
    EXPECT_EQ(api.steps(id).back(), "lease_closed");
    EXPECT_EQ(api.state(id), "canceled");
    expect_refused(api.heartbeat(lease), 409, "lease_lost");
}

TEST_P(Cancel, AReportOfCancelMayBeRepeated) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    expect_ok(api.cancel(id));
    const Response first = api.report(lease, {{"outcome", "canceled"}});

    const Response again = api.report(lease, {{"outcome", "canceled"}});

    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(api.events(id).size(), 4u);
}

TEST_P(Cancel, RacingAReportHasExactlyOneWinner) {
    int canceled = 0;
    for (int round = 0; round < 40; ++round) {
        const std::string id = api.submit_id();
        const Json lease = api.claim_one();
        Response report;
        Response cancel;
        in_parallel(2, [&](int i) {
            Api mine(engine.port(), api.queue());
            if (i == 0) report = mine.succeed(lease);
            if (i == 1) cancel = mine.cancel(id);
        });

        const std::string state = api.state(id);
        canceled += state == "canceled" ? 1 : 0;
        EXPECT_EQ(report.status, state == "succeeded" ? 200 : 409) << report.body;
        EXPECT_EQ(cancel.status, state == "canceled" ? 200 : 409) << cancel.body;
        std::vector<std::string> wanted{"submitted", "claimed", "succeeded"};
        if (state == "canceled") wanted = {"submitted", "claimed", "canceled", "lease_closed"};
        EXPECT_EQ(api.steps(id), wanted);
    }
    RecordProperty("canceled", canceled);
}

TEST_P(Cancel, RacingAClaimLeavesAConsistentHistory) {
    for (int round = 0; round < 20; ++round) {
        const std::string id = api.submit_id();
        List leases;
        in_parallel(2, [&](int i) {
            Api mine(engine.port(), api.queue());
            if (i == 0) leases = mine.claim();
            if (i == 1) expect_ok(mine.cancel(id));
        });

        std::vector<std::string> wanted{"submitted", "canceled"};
        if (!leases.empty()) wanted = {"submitted", "claimed", "canceled"};
        EXPECT_EQ(api.steps(id), wanted);
        EXPECT_EQ(api.state(id), "canceled");
    }
}

ON_EACH_STORE(Replay);

TEST_P(Replay, MakesANewJobLikeTheOld) {
    const Json old = api.submit({{"payload", List{1}},
                                 {"priority", 3},
                                 {"max_attempts", 1},
                                 {"entity_id", "e"},
                                 {"labels", List{"l"}},
                                 {"timeout_ms", 77'000}});
    const std::string id = text(old, "id");
    expect_ok(api.fail(api.claim_one({{"labels", List{"l"}}})));
    const Json before = api.job(id);
    const List events = api.events(id);

    const Response response = api.replay(id, {{"reason", "again"}});

    const Json replayed = expect_ok(response, 202);
    EXPECT_EQ(response.header("Location"), "/api/v1/jobs/" + text(replayed, "id"));
    EXPECT_EQ(text(replayed, "replay_of"), id);
    EXPECT_EQ(text(replayed, "state"), "queued");
    EXPECT_EQ(number(replayed, "attempt"), 0);
    for (const char* same : {"payload", "payload_digest", "priority", "max_attempts", "entity_id",
                             "labels", "timeout_ms", "queue", "type", "tenant"}) {
        EXPECT_EQ(at(replayed, same), at(old, same)) << same;
    }
    EXPECT_EQ(api.job(id), before);
    EXPECT_EQ(api.events(id), events);
    EXPECT_EQ(text(at(api.events(text(replayed, "id"))[0], "detail"), "reason"), "again");
}

TEST_P(Replay, OfAJobThatHasNotEndedIsRefused) {
    const std::string id = api.submit_id();
    expect_refused(api.replay(id), 409, "conflict");
    api.claim_one();
    expect_refused(api.replay(id), 409, "conflict");
    expect_refused(api.replay("65f000000000000000000000"), 404, "not_found");
    expect_refused(api.replay("x"), 404, "not_found");
}

TEST_P(Replay, RunsWithoutItsDependenciesAndAtOnce) {
    const std::string first = api.submit_id({{"delay_ms", 3'600'000}});
    const std::string second =
        api.submit_id({{"depends_on", List{Json(first)}}, {"delay_ms", 3'600'000}});
    expect_ok(api.cancel(second));

    const Json replayed = expect_ok(api.replay(second), 202);

    EXPECT_TRUE(list(replayed, "depends_on").empty());
    EXPECT_EQ(job_of(api.claim_one()), text(replayed, "id"));
}

TEST_P(Replay, OfAReplayNamesTheReplay) {
    const std::string id = api.submit_id();
    expect_ok(api.cancel(id));
    const std::string second = text(expect_ok(api.replay(id), 202), "id");
    expect_ok(api.cancel(second));

    const Json third = expect_ok(api.replay(second), 202);

    EXPECT_EQ(text(third, "replay_of"), second);
    const List found = list(api.get("/api/v1/jobs?replay_of=" + id), "jobs");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(text(found[0], "id"), second);
}

}  // namespace cancel_test
}  // namespace sluice::e2e
