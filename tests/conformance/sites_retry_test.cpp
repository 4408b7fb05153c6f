// Timeouts, retries and error handling of seed 001.
#include "conformance/sites.hpp"
#include "domain/values/time.hpp"

namespace sluice::e2e {
namespace sites_retry_test {

using namespace std::chrono_literals;

class SitesRetry : public SitesTest {};

Duration between(const Json& earlier, const char* from, const Json& later, const char* to) {
    return parse_rfc3339(text(later, to)).value() - parse_rfc3339(text(earlier, from)).value();
}

TEST_F(SitesRetry, RetryableErrorsQueueTheJobAgainAfterOneMinute) {
    serve();
    const Json lease = start("env_deploy", "shop");

    const Json job = expect_ok(api().report(lease, failure()));

    EXPECT_EQ(text(job, "state"), "queued");
    EXPECT_EQ(number(job, "attempt"), 1);
    const Duration wait = between(at(lease, "job"), "started_at", job, "run_after");
    EXPECT_GE(wait, 60s);
    EXPECT_LT(wait, 75s);
    EXPECT_TRUE(api().claim().empty()) << "it is not due";
    EXPECT_EQ(api().reasons(job_of(lease)).front(), "retry_backoff");
}

// The same list of delays as the types have, in thousandths.
TEST_F(SitesRetry, EachRetryWaitsForItsOwnDelay) {
    serve("[job_types.health_check]\nmax_attempts = 4\nbackoff = [\"60ms\", \"300ms\", \"900ms\"]");
    api().submit(on_site("health_check", "shop"));

    for (const auto delay : {60ms, 300ms, 900ms}) {
        const Json lease = api().claim_one({{"wait_ms", 5000}});
        const Json job = expect_ok(api().report(lease, failure()));
        const Duration wait = between(at(lease, "job"), "started_at", job, "run_after");
        EXPECT_GE(wait, delay);
    }
    const Json last = api().claim_one({{"wait_ms", 5000}});
    EXPECT_EQ(text(expect_ok(api().report(last, failure())), "state"), "failed");
}

TEST_F(SitesRetry, NonRetryableErrorsFailTheJob) {
    serve();

    const Json job = expect_ok(api().report(start("env_deploy", "shop"), failure(false)));

    EXPECT_EQ(text(job, "state"), "failed");
    EXPECT_EQ(number(job, "attempt"), 1);
}

TEST_F(SitesRetry, ErrorsSetCodeAndMessage) {
    serve();

    const Json queued = expect_ok(api().report(start("env_deploy", "a"), failure()));
    const Json failed = expect_ok(api().report(start("env_deploy", "b"), failure(false)));

    for (const Json& job : {queued, failed}) {
        EXPECT_EQ(text(job, "error_code"), "ANSIBLE_HOST_FAILED");
        EXPECT_EQ(text(job, "error_message"), "the disk is full");
    }
}

TEST_F(SitesRetry, AFailureWithoutCodeOrMessageIsRefusedForEveryType) {
    serve();
    std::vector<std::string> types{"node_provision"};
    for (const SiteType& type : site_types()) types.emplace_back(type.name);
    EXPECT_EQ(types.size(), 17u);

    for (const std::string& type : types) {
        Fields job = on_site(type, "site-of-" + type);
        if (type == "node_provision") job.erase("site_id");
        const std::string id = api().submit_id(job);
        const Json lease = api().claim_one({{"types", List{Json(type)}}});
        for (const char* missing : {"error_code", "error_message"}) {
            Fields report = failure();
            report.erase(missing);
            const Response refused = api().report(lease, report);
            expect_refused(refused, 422, "invalid", "/" + std::string(missing));
            EXPECT_NE(refused.body.find("errors must set error_code and error_message"),
                      std::string::npos);
            report[missing] = "";
            expect_refused(api().report(lease, report), 422, "invalid");
        }
        EXPECT_EQ(api().state(id), "running") << "its worker may say more";
        EXPECT_EQ(text(expect_ok(api().report(lease, failure())), "state"), "queued");
    }
}

TEST_F(SitesRetry, ABatchOfReportsRefusesThoseWithoutCodeOrMessage) {
    serve();
    const Json silent = start("env_deploy", "a");
    const Json told = start("env_deploy", "b");
    Fields report = failure(false);
    report["lease_id"] = at(told, "lease_id");

    const Json answer = expect_ok(post(
        "/api/v1/leases/report",
        {{"reports",
          List{Fields{{"lease_id", at(silent, "lease_id")}, {"outcome", "failed"}}, report}}}));

    const List results = list(answer, "results");
    EXPECT_EQ(text(at(results.at(0), "error"), "code"), "invalid");
    EXPECT_EQ(text(results.at(1), "state"), "failed");
    EXPECT_EQ(api().state(job_of(silent)), "running");
}

TEST_F(SitesRetry, AJobOutOfAttemptsFails) {
    serve();
    const std::string id = api().submit_id(on_site("env_deploy", "shop", {{"backoff", "none"}}));

    for (int attempt = 1; attempt <= 3; ++attempt) {
        EXPECT_EQ(api().state(id), "queued");
        expect_ok(api().report(api().claim_one(), failure()));
    }

    EXPECT_EQ(api().state(id), "failed");
    EXPECT_EQ(number(api().job(id), "attempt"), 3);
    EXPECT_TRUE(api().claim().empty());
}

TEST_F(SitesRetry, AJobThatExceedsItsTimeoutHasFailedWithJobTimeout) {
    serve();
    const std::string id =
        api().submit_id(on_site("env_deploy", "shop", {{"timeout_ms", 300}, {"backoff", "none"}}));
    api().claim_one({{"lease_ms", 30'000}});

    ASSERT_TRUE(api().reaches(id, "timed_out"));

    const Json job = api().job(id);
    EXPECT_EQ(text(job, "error_code"), "JOB_TIMEOUT");
    EXPECT_FALSE(text(job, "error_message").empty());
    EXPECT_EQ(number(job, "attempt"), 1) << "it is not tried again";
    EXPECT_EQ(site_state("shop"), "failed");
}

}  // namespace sites_retry_test
}  // namespace sluice::e2e
