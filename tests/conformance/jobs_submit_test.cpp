// POST /api/jobs: fields that it accepts, keeps and refuses.
#include "conformance/jobs.hpp"
#include "domain/values/time.hpp"

namespace sluice::e2e {
namespace jobs_submit_test {

std::string in_an_hour() {
    const auto later = std::chrono::system_clock::now() + std::chrono::hours(1);
    return to_rfc3339(std::chrono::time_point_cast<Duration>(later));
}

class JobsSubmit : public JobsTest {
  protected:
    void expect_no_job() { EXPECT_TRUE(jobs.list_of("action=" + jobs.action).empty()); }
};

TEST_F(JobsSubmit, KeepsTheInputByteForByte) {
    const std::string input = "{ \"b\" : 1.50,\n  \"a\":[1 ,2], \"a\":\"\\u00e9\" }";
    const Response created =
        jobs.post(R"({"action":")" + jobs.action + R"(","input":)" + input + "}");
    const std::string id = text(expect_ok(created, 202), "id");

    EXPECT_EQ(raw_member(created.body, "input"), input);
    EXPECT_EQ(raw_member(jobs.get("/" + id).body, "input"), input);
    const Json lease = jobs.claim();
    EXPECT_EQ(at(at(lease, "job"), "payload"), parse(input));
}

TEST_F(JobsSubmit, ShowsOneResourceInTheWordsOfBothContracts) {
    const Json job = jobs.create();

    for (const char* member :
         {"id",        "action",    "jobType",     "state",         "status",
          "tenant",    "project",   "input",       "payloadDigest", "output",
          "error",     "attempt",   "maxAttempts", "worker",        "leaseUntil",
          "priority",  "progress",  "message",     "correlationId", "replayOf",
          "createdAt", "startedAt", "completedAt"}) {
        EXPECT_TRUE(job.as_object().contains(member)) << member;
    }
    EXPECT_EQ(text(job, "jobType"), text(job, "action"));
    EXPECT_EQ(text(job, "status"), "pending");
}

TEST_F(JobsSubmit, StatusKeepsApartWhatStateDoesNot) {
    EXPECT_EQ(text(jobs.job(jobs.succeeded()), "status"), "succeeded");
    EXPECT_EQ(text(jobs.job(jobs.failed()), "status"), "failed");
    EXPECT_EQ(text(jobs.job(jobs.cancelled()), "status"), "canceled");
    const Json timed_out = jobs.job(jobs.run_to_end({{"outcome", "timed_out"}}));
    EXPECT_EQ(text(timed_out, "status"), "timed_out");
    EXPECT_EQ(text(timed_out, "state"), "failed");
}

TEST_F(JobsSubmit, TakesTheFieldsOfAJobRequest) {
    const std::string tenant = fresh_name("tenant");
    const std::string later = in_an_hour();
    const Json job = jobs.create({{"jobType", jobs.action},
                                  {"payload", Fields{{"image", "a"}}},
                                  {"tenant", tenant},
                                  {"project", "scans"},
                                  {"priority", 7},
                                  {"correlationId", "c-1"},
                                  {"maxAttempts", 3},
                                  {"timeoutMs", 60'000},
                                  {"runAfter", later},
                                  {"labels", List{"gpu"}}});

    EXPECT_EQ(text(job, "action"), jobs.action);
    EXPECT_EQ(at(job, "input"), Json(Fields{{"image", "a"}}));
    EXPECT_EQ(text(job, "tenant"), tenant);
    EXPECT_EQ(text(job, "project"), "scans");
    EXPECT_EQ(number(job, "priority"), 7);
    EXPECT_EQ(text(job, "correlationId"), "c-1");
    EXPECT_EQ(number(job, "maxAttempts"), 3);
    EXPECT_EQ(number(job, "timeoutMs"), 60'000);
    EXPECT_EQ(text(job, "runAfter"), later);
    EXPECT_EQ(list(job, "labels"), List{"gpu"});
}

TEST_F(JobsSubmit, RefusesTwoNamesForOneThing) {
    expect_refused(jobs.try_create({{"action", jobs.action}, {"jobType", jobs.action}}), 422,
                   "invalid", "/jobType");
    expect_refused(jobs.try_create({{"input", 1}, {"payload", 1}}), 422, "invalid", "/payload");
    expect_no_job();
}

TEST_F(JobsSubmit, RefusesBadValuesAndPointsAtThem) {
    expect_refused(jobs.post("{}"), 422, "invalid", "/action");
    expect_refused(jobs.post(R"({"jobType":""})"), 422, "invalid", "/jobType");
    expect_refused(jobs.post("{"), 400, "malformed");
    expect_refused(jobs.try_create({{"priority", "high"}}), 422, "invalid", "/priority");
    expect_refused(jobs.try_create({{"maxAttempts", 0}}), 422, "invalid", "/maxAttempts");
    expect_refused(jobs.try_create({{"timeoutMs", -1}}), 422, "invalid", "/timeoutMs");
    expect_refused(jobs.try_create({{"runAfter", "soon"}}), 422, "invalid", "/runAfter");
    expect_refused(jobs.try_create({{"runAfter", "2999-01-01T00:00:00Z"}}), 422, "invalid",
                   "/runAfter");
    expect_refused(jobs.try_create({{"correlationId", std::string(300, 'c')}}), 413, "too_large",
                   "/correlationId");
    expect_refused(jobs.try_create({{"payload", std::string(262'144, 'p')}}), 413, "too_large",
                   "/payload");
    expect_no_job();
}

TEST_F(JobsSubmit, NamesTheMethodsThatAPathHas) {
    const Response response = jobs.worker.http.request("DELETE", "/api/jobs", "");

    expect_refused(response, 405, "method_not_allowed");
    EXPECT_EQ(response.header("Allow"), "POST, GET, HEAD");
}

}  // namespace jobs_submit_test
}  // namespace sluice::e2e
