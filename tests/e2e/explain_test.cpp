// Why a job does not run.
#include "e2e/api.hpp"

namespace sluice::e2e {
namespace explain_test {

ON_EACH_STORE(Explain);

using Codes = std::vector<std::string>;

TEST_P(Explain, SaysWhenAJobIsDue) {
    const Json job = api.submit({{"delay_ms", 3'600'000}});

    const Json reason = list(api.explain(text(job, "id")), "reasons")[0];

    EXPECT_EQ(text(reason, "code"), "not_due");
    EXPECT_EQ(text(reason, "until"), text(job, "run_after"));
    EXPECT_TRUE(is_null(reason, "blocker"));
}

TEST_P(Explain, SaysThatARetryWaits) {
    const std::string id = api.submit_id({{"backoff", List{3'600'000}}});
    const Json reported =
        expect_ok(api.report(api.claim_one(), {{"outcome", "failed"}, {"error_code", "E42"}}));

    const Json reason = list(api.explain(id), "reasons")[0];

    EXPECT_EQ(text(reason, "code"), "retry_backoff");
    EXPECT_EQ(text(reason, "until"), text(reported, "run_after"));
    EXPECT_NE(text(reason, "detail").find("E42"), std::string::npos);
}

TEST_P(Explain, NamesTheDependenciesThatHaveNotEnded) {
    const std::string first = api.submit_id();
    const std::string second = api.submit_id();
    const std::string id = api.submit_id({{"depends_on", List{Json(first), Json(second)}}});
    EXPECT_EQ(api.reasons(id), (Codes{"dependency", "dependency", "no_worker"}));
    const Json lease = api.claim_one();
    expect_ok(api.succeed(lease));

    const Json reason = list(api.explain(id), "reasons")[0];

    EXPECT_EQ(text(reason, "code"), "dependency");
    EXPECT_EQ(text(at(reason, "blocker"), "kind"), "job");
    EXPECT_EQ(text(at(reason, "blocker"), "id"), job_of(lease) == first ? second : first);
}

TEST_P(Explain, NamesTheHolderOfAKey) {
    const std::string site = fresh_name("site");
    const std::string holder = api.submit_id({{"site_id", site}});
    const Json lease = api.claim_one({{"worker_id", "holding"}});
    const std::string id = api.submit_id({{"site_id", site}});

    const Json reason = list(api.explain(id), "reasons")[0];

    EXPECT_EQ(text(reason, "code"), "exclusive_key");
    EXPECT_EQ(text(at(reason, "blocker"), "id"), holder);
    EXPECT_EQ(text(reason, "until"), text(lease, "lease_until"));
    EXPECT_NE(text(reason, "detail").find(site), std::string::npos);
    EXPECT_NE(text(reason, "detail").find("holding"), std::string::npos);

    expect_ok(api.cancel(holder));
    EXPECT_EQ(api.reasons(id).front(), "exclusive_key") << "the worker has not stopped";
    expect_ok(api.report(lease, {{"outcome", "canceled"}}));
    EXPECT_NE(api.reasons(id).front(), "exclusive_key");
}

TEST_P(Explain, SaysThatNoWorkerAsksForIt) {
    const std::string id = api.submit_id({{"labels", List{"gpu"}}});
    EXPECT_EQ(api.reasons(id), (Codes{"no_worker"}));

    api.claim();
    EXPECT_EQ(api.reasons(id), (Codes{"no_worker"})) << "that one has not the label";

    const std::string detail = text(list(api.explain(id), "reasons")[0], "detail");
    EXPECT_NE(detail.find(api.queue()), std::string::npos);
    EXPECT_NE(detail.find("gpu"), std::string::npos);
}

TEST_P(Explain, SaysThatItsWorkersAreBusy) {
    api.submit();
    api.claim_one({{"worker_id", "busy"}});
    const std::string id = api.submit_id();

    const Json reason = list(api.explain(id), "reasons")[0];

    EXPECT_EQ(text(reason, "code"), "workers_busy");
    EXPECT_EQ(text(at(reason, "blocker"), "id"), "busy");
}

TEST_P(Explain, GivesEveryReasonAtOnce) {
    const std::string site = fresh_name("site");
    const std::string first = api.submit_id({{"site_id", site}});
    api.claim_one();
    const std::string id = api.submit_id(
        {{"site_id", site}, {"depends_on", List{Json(first)}}, {"delay_ms", 3'600'000}});

    EXPECT_EQ(api.reasons(id), (Codes{"not_due", "dependency", "exclusive_key", "workers_busy"}));
}

TEST_P(Explain, SaysWhoRunsIt) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one({{"worker_id", "w7"}});

    const Json explanation = api.explain(id);

    EXPECT_EQ(text(explanation, "state"), "running");
    const Json reason = list(explanation, "reasons")[0];
    EXPECT_EQ(text(reason, "code"), "running");
    EXPECT_EQ(text(at(reason, "blocker"), "kind"), "worker");
    EXPECT_EQ(text(at(reason, "blocker"), "id"), "w7");
    EXPECT_EQ(text(reason, "until"), text(lease, "lease_until"));
}

TEST_P(Explain, SaysHowItEnded) {
    for (const char* outcome : {"succeeded", "failed", "canceled", "timed_out"}) {
        const std::string id = api.submit_id({{"max_attempts", 1}});
        expect_ok(api.report(api.claim_one(), {{"outcome", outcome}, {"error_message", "sad"}}));

        const Json explanation = api.explain(id);

        EXPECT_EQ(text(explanation, "state"), outcome);
        EXPECT_EQ(text(list(explanation, "reasons")[0], "code"), outcome);
        EXPECT_NE(text(list(explanation, "reasons")[0], "detail").find("sad"), std::string::npos);
    }
}

TEST_P(Explain, SaysThatTheWorkerOfACanceledJobHasNotStopped) {
    const std::string id = api.submit_id();
    api.claim_one();
    expect_ok(api.cancel(id));

    EXPECT_EQ(api.reasons(id), (Codes{"canceled", "worker_stopping"}));
}

TEST_P(Explain, OfNoJobIsNotFound) {
    expect_refused(api.http.get("/api/v1/jobs/65f000000000000000000000/explain"), 404, "not_found");
    expect_refused(api.http.get("/api/v1/jobs/1/explain"), 404, "not_found");
    const std::string id = api.submit_id({{"tenant", "acme"}});
    expect_refused(api.http.get("/api/v1/jobs/" + id + "/explain?tenant=other"), 404, "not_found");
    EXPECT_EQ(api.http.get("/api/v1/jobs/" + id + "/explain?tenant=acme").status, 200);
}

}  // namespace explain_test
}  // namespace sluice::e2e
