// Reports: how attempts end, which are tried again, and the answer to a repeated report.
#include "e2e/api.hpp"

namespace sluice::e2e {
namespace report_test {

ON_EACH_STORE(Report);

TEST_P(Report, ASuccessEndsTheJobWithItsResult) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();

    const Json answer =
        expect_ok(api.report(lease, {{"outcome", "succeeded"}, {"result", Fields{{"n", 1}}}}));

    EXPECT_EQ(text(answer, "state"), "succeeded");
    EXPECT_EQ(at(answer, "result"), (Fields{{"n", 1}}));
    EXPECT_FALSE(text(answer, "completed_at").empty());
    EXPECT_FALSE(text(answer, "started_at").empty());
    EXPECT_TRUE(is_null(answer, "locked_by"));
    EXPECT_EQ(api.job(id), answer);
    EXPECT_EQ(api.steps(id), (std::vector<std::string>{"submitted", "claimed", "succeeded"}));
}

TEST_P(Report, EachOutcomeLeadsToItsState) {
    for (const auto& [outcome, state] :
         std::map<std::string, std::string>{{"succeeded", "succeeded"},
                                            {"failed", "failed"},
                                            {"canceled", "canceled"},
                                            {"cancelled", "canceled"},
                                            {"timed_out", "timed_out"}}) {
        const std::string id = api.submit_id({{"max_attempts", 1}});
        const Json answer = expect_ok(
            api.report(api.claim_one(),
                       {{"outcome", outcome}, {"error_code", "E1"}, {"error_message", "why"}}));
        EXPECT_EQ(text(answer, "state"), state);
        EXPECT_EQ(text(api.job(id), "error_code"), "E1");
        EXPECT_EQ(text(api.job(id), "error_message"), "why");
    }
}

TEST_P(Report, ATimeoutThatNamesNoCodeIsJobTimeout) {
    api.submit({{"max_attempts", 5}});

    const Json answer = expect_ok(api.report(api.claim_one(), {{"outcome", "timed_out"}}));

    EXPECT_EQ(text(answer, "state"), "timed_out") << "a deadline is not tried again";
    EXPECT_EQ(text(answer, "error_code"), "JOB_TIMEOUT");
}

TEST_P(Report, AFailureIsTriedAgainUntilTheAttemptsAreUsedUp) {
    const std::string id = api.submit_id({{"max_attempts", 3}, {"backoff", "none"}});
    for (int attempt = 1; attempt <= 3; ++attempt) {
        const Json lease = api.claim_one();
        EXPECT_EQ(number(lease, "attempt"), attempt);
        const Json answer = expect_ok(
            api.report(lease, {{"outcome", "failed"}, {"error_code", "E"}, {"retryable", true}}));
        EXPECT_EQ(text(answer, "state"), attempt < 3 ? "queued" : "failed");
        EXPECT_EQ(text(answer, "error_code"), "E");
    }

    EXPECT_TRUE(api.claim().empty());
    EXPECT_EQ(api.steps(id), (std::vector<std::string>{"submitted", "claimed", "retried", "claimed",
                                                       "retried", "claimed", "failed"}));
}

TEST_P(Report, AFailureThatIsNotRetryableEndsTheJob) {
    const std::string id = api.submit_id({{"max_attempts", 3}, {"backoff", "none"}});

    expect_ok(api.report(api.claim_one(), {{"outcome", "failed"}, {"retryable", false}}));

    EXPECT_EQ(api.state(id), "failed");
    EXPECT_EQ(number(api.job(id), "attempt"), 1);
}

// Milliseconds between two times of the same day.
std::int64_t millis_of(const std::string& time) {
    const auto part = [&](std::size_t from, std::size_t size) {
        return std::stoll(time.substr(from, size));
    };
    return ((part(8, 2) * 24 + part(11, 2)) * 60 + part(14, 2)) * 60'000 + part(17, 2) * 1000 +
           part(20, 3);
}

std::int64_t delay_of(Api& api, const Json& reported) {
    const List events = api.events(text(reported, "id"));
    return millis_of(text(reported, "run_after")) -
           millis_of(text(events[events.size() - 1], "at"));
}

TEST_P(Report, AListOfDelaysIsFollowedAndItsLastOneStays) {
    api.submit({{"max_attempts", 9}, {"backoff", List{20, 60, 100}}});
    for (const std::int64_t wanted : {20, 60, 100, 100}) {
        const Json answer = expect_ok(api.fail(api.claim_one({{"wait_ms", 5000}})));
        EXPECT_NEAR(static_cast<double>(delay_of(api, answer)), static_cast<double>(wanted), 1);
    }
}

TEST_P(Report, AnExponentialDelayStaysBelowItsCeiling) {
    api.submit({{"max_attempts", 9},
                {"backoff", {{"kind", "exponential"}, {"base_ms", 10}, {"cap_ms", 40}}}});
    for (const std::int64_t ceiling : {10, 20, 40, 40, 40}) {
        const Json answer = expect_ok(api.fail(api.claim_one({{"wait_ms", 5000}})));
        EXPECT_GE(delay_of(api, answer), -1);
        EXPECT_LE(delay_of(api, answer), ceiling + 1);
    }
}

TEST_P(Report, ObjectFormsOfABackoffAreUnderstood) {
    for (const Fields& backoff :
         {Fields{{"kind", "none"}}, Fields{{"kind", "list"}, {"delays_ms", List{0}}}}) {
        api.submit({{"backoff", backoff}});
        expect_ok(api.fail(api.claim_one()));
        expect_ok(api.succeed(api.claim_one()));
    }
    expect_refused(api.try_submit({{"backoff", {{"kind", "linear"}}}}), 422, "invalid",
                   "/backoff/kind");
    expect_refused(api.try_submit({{"backoff", {{"kind", "exponential"}}}}), 422, "invalid",
                   "/backoff/base_ms");
    expect_refused(api.try_submit({{"backoff", "fast"}}), 422, "invalid", "/backoff");
    expect_refused(api.try_submit({{"backoff", List{-1}}}), 422, "invalid", "/backoff/0");
}

TEST_P(Report, ARepeatIsAnsweredAsTheFirst) {
    const Fields outcomes[] = {
        {{"outcome", "succeeded"}, {"result", List{1, 2}}},
        {{"outcome", "failed"}, {"retryable", false}, {"error_code", "E"}, {"error_message", "m"}},
        {{"outcome", "failed"}, {"error_code", "E"}, {"error_message", "m \"quoted\" é"}},
        {{"outcome", "failed"}},
        {{"outcome", "canceled"}},
        {{"outcome", "timed_out"}},
    };
    for (const Fields& outcome : outcomes) {
        const std::string id = api.submit_id({{"backoff", List{3'600'000}}});
        const Json lease = api.claim_one();
        const Response first = api.report(lease, outcome);
        const std::size_t events = api.events(id).size();

        const Response again = api.report(lease, outcome);

        EXPECT_EQ(first.status, 200) << first.body;
        EXPECT_EQ(again.status, 200) << again.body;
        EXPECT_EQ(first.body, again.body);
        EXPECT_EQ(api.events(id).size(), events);
    }
}

TEST_P(Report, ARepeatIsAnsweredAsTheFirstAfterHeartbeatsAndLogs) {
    for (const Fields& outcome :
         {Fields{{"outcome", "failed"}}, Fields{{"outcome", "succeeded"}}}) {
        api.submit({{"backoff", List{3'600'000}}});
        const Json lease = api.claim_one();
        expect_ok(api.heartbeat(lease, {{"progress", 50}, {"message", "half way"}}));
        expect_ok(api.log(lease, {Fields{{"message", "line"}}}));

        const Response first = api.report(lease, outcome);
        const Response again = api.report(lease, outcome);

        EXPECT_EQ(first.body, again.body);
    }
}

TEST_P(Report, ARepeatOfARetryIsAnsweredAsTheFirstEvenWhenTheNextAttemptRuns) {
    const std::string id = api.submit_id({{"backoff", "none"}});
    const Json lease = api.claim_one();
    const Response first = api.report(lease, {{"outcome", "failed"}, {"error_code", "E"}});
    const Json second = api.claim_one();

    const Response again = api.report(lease, {{"outcome", "failed"}, {"error_code", "E"}});

    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.body, first.body);
    expect_ok(api.succeed(second));
    EXPECT_EQ(api.report(lease, {{"outcome", "failed"}, {"error_code", "E"}}).body, first.body);
    EXPECT_EQ(api.state(id), "succeeded");
}

// Its answer names the time for which the retry waits.
TEST_P(Report, ARepeatOfARetryIsAnsweredAsTheFirstWhenItsTimeHasCome) {
    const std::string id = api.submit_id({{"backoff", List{1}}});
    const Json lease = api.claim_one();
    const Response first = api.report(lease, {{"outcome", "failed"}});
    const Json job = expect_ok(first);
    EXPECT_EQ(text(job, "next_eligible_at"), text(job, "run_after"));
    ASSERT_TRUE(eventually([&] { return is_null(api.job(id), "next_eligible_at"); }));

    EXPECT_EQ(api.report(lease, {{"outcome", "failed"}}).body, first.body);
}

TEST_P(Report, AnotherOutcomeAfterTheFirstIsRefused) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    expect_ok(api.report(lease, {{"outcome", "succeeded"}, {"result", 1}}));
    const Json before = api.job(id);

    expect_refused(api.fail(lease), 409, "conflict");
    expect_refused(api.report(lease, {{"outcome", "succeeded"}, {"result", 2}}), 409, "conflict");
    expect_refused(api.report(lease, {{"outcome", "canceled"}}), 409, "conflict");

    EXPECT_EQ(api.job(id), before);
    EXPECT_EQ(api.events(id).size(), 3u);
}

TEST_P(Report, RefusesWhatIsNotAReport) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    expect_refused(api.report(lease, {}), 422, "invalid", "/outcome");
    expect_refused(api.report(lease, {{"outcome", "done"}}), 422, "invalid", "/outcome");
    expect_refused(api.report(lease, {{"outcome", 1}}), 422, "invalid", "/outcome");
    expect_refused(api.report(lease, {{"outcome", "succeeded"}, {"retryable", true}}), 422,
                   "invalid", "/retryable");
    expect_refused(api.report(lease, {{"outcome", "failed"}, {"retryable", "no"}}), 422, "invalid",
                   "/retryable");
    expect_refused(api.report(lease, {{"outcome", "failed"}, {"why", ""}}), 422, "invalid", "/why");
    expect_refused(
        api.report(lease, {{"outcome", "failed"}, {"error_code", std::string(201, 'e')}}), 413,
        "too_large", "/error_code");
    expect_refused(
        api.report(lease, {{"outcome", "failed"}, {"error_message", std::string(16385, 'e')}}), 413,
        "too_large", "/error_message");
    expect_refused(
        api.report(lease, {{"outcome", "succeeded"}, {"result", std::string(262'143, 'r')}}), 413,
        "too_large", "/result");
    EXPECT_EQ(api.state(id), "running");
    EXPECT_EQ(
        api.report(lease, {{"outcome", "succeeded"}, {"result", std::string(262'142, 'r')}}).status,
        200);
}

}  // namespace report_test
}  // namespace sluice::e2e
