// Batches: up to 1000 jobs, all or none.
#include <set>

#include "e2e/api.hpp"

namespace sluice::e2e {
namespace batch_test {

ON_EACH_STORE(Batch);

std::vector<Fields> tasks(int count) {
    return std::vector<Fields>(static_cast<std::size_t>(count));
}

bool queue_is_empty(Api& api) {
    return list(api.get("/api/v1/jobs?queue=" + api.queue()), "jobs").empty();
}

TEST_P(Batch, AcceptsAThousandJobsAtOnceInTheirOrder) {
    const List jobs = api.submit_batch(tasks(1000));

    ASSERT_EQ(jobs.size(), 1000u);
    std::set<std::string> ids;
    for (const Json& job : jobs) ids.insert(text(job, "id"));
    EXPECT_EQ(ids.size(), 1000u);
    EXPECT_EQ(text(jobs.front(), "id"), *ids.begin());
    EXPECT_EQ(api.claim({{"limit", 1000}}).size(), 1000u);
    EXPECT_TRUE(api.claim().empty());
}

TEST_P(Batch, RefusesAThousandAndOne) {
    expect_refused(api.try_batch(tasks(1001)), 413, "too_large");

    EXPECT_TRUE(queue_is_empty(api));
}

TEST_P(Batch, RefusesToBeEmpty) {
    expect_refused(api.http.post("/api/v1/jobs/batch", R"({"jobs":[]})"), 422, "invalid", "/jobs");
    expect_refused(api.http.post("/api/v1/jobs/batch", "{}"), 422, "invalid", "/jobs");
    expect_refused(api.http.post("/api/v1/jobs/batch", R"({"jobs":[{"type":"a"}],"x":1})"), 422,
                   "invalid", "/x");
}

TEST_P(Batch, OneBadJobRefusesAllAndIsPointedAt) {
    const std::pair<Fields, const char*> bad_jobs[] = {
        {{{"priority", "high"}}, "/jobs/7/priority"},
        {{{"type", ""}}, "/jobs/7/type"},
        {{{"max_attempts", 0}}, "/jobs/7/max_attempts"},
        {{{"labels", List{"a", ""}}}, "/jobs/7/labels/1"},
        {{{"bogus", 1}}, "/jobs/7/bogus"},
        {{{"depends_on", List{"65f000000000000000000000"}}}, "/jobs/7/depends_on"},
        {{{"depends_on", List{"#7"}}}, "/jobs/7/depends_on"},
        {{{"depends_on", List{"#10"}}}, "/jobs/7/depends_on"},
        {{{"tenant", "other"}}, "/jobs/7/tenant"},
    };
    for (const auto& [bad, pointer] : bad_jobs) {
        std::vector<Fields> jobs = tasks(10);
        jobs[7] = bad;

        expect_refused(api.try_batch(jobs), 422, "invalid", pointer);
    }
    EXPECT_TRUE(queue_is_empty(api));
}

TEST_P(Batch, RefusesJobsThatWaitForEachOtherInACircle) {
    std::vector<Fields> two = tasks(2);
    two[0]["depends_on"] = List{"#1"};
    two[1]["depends_on"] = List{"#0"};
    expect_refused(api.try_batch(two), 422, "invalid", "/jobs/0/depends_on");

    std::vector<Fields> ring = tasks(50);
    for (std::size_t i = 1; i < ring.size(); ++i) {
        ring[i]["depends_on"] = List{Json("#" + std::to_string(i % 49 + 1))};
    }
    expect_refused(api.try_batch(ring), 422, "invalid");
    EXPECT_TRUE(queue_is_empty(api));
}

TEST_P(Batch, TurnsPlacesIntoIds) {
    std::vector<Fields> jobs = tasks(3);
    jobs[0]["depends_on"] = List{"#2", "#1", "#2"};

    const List accepted = api.submit_batch(jobs);

    EXPECT_EQ(at(accepted[0], "depends_on"), (List{at(accepted[1], "id"), at(accepted[2], "id")}));
    EXPECT_EQ(at(api.job(text(accepted[0], "id")), "depends_on"), at(accepted[0], "depends_on"));
}

TEST_P(Batch, PlacesMeanNothingOutsideABatch) {
    expect_refused(api.try_submit({{"depends_on", List{"#0"}}}), 422, "invalid", "/depends_on/0");
}

TEST_P(Batch, MayBeLargerThanASingleRequest) {
    const std::string text(200 * 1024, 'p');
    std::vector<Fields> jobs(20, Fields{{"payload", text}});

    EXPECT_EQ(api.submit_batch(jobs).size(), 20u);

    jobs.resize(45, jobs.front());
    api.http.reconnect();
    const Response refused = api.try_batch(jobs);
    expect_refused(refused, 413, "body_too_large");
}

TEST_P(Batch, ReportsAndHeartbeatsForManyLeasesAtOnce) {
    api.submit_batch(tasks(3));
    const List leases = api.claim({{"limit", 3}});
    ASSERT_EQ(leases.size(), 3u);
    expect_ok(api.succeed(leases[0]));
    List entries;
    for (const Json& lease : leases) entries.push_back(Fields{{"lease_id", at(lease, "lease_id")}});

    const Json beats = expect_ok(
        api.http.post("/api/v1/leases/heartbeat", serialize(Fields{{"heartbeats", entries}})));
    for (Json& entry : entries) entry.as_object()["outcome"] = "succeeded";
    const Json reports =
        expect_ok(api.http.post("/api/v1/leases/report", serialize(Fields{{"reports", entries}})));

    const List& beaten = list(beats, "results");
    EXPECT_EQ(text(at(beaten[0], "error"), "code"), "lease_lost");
    EXPECT_FALSE(flag(beaten[1], "cancel_requested"));
    const List& reported = list(reports, "results");
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(text(reported[i], "state"), "succeeded") << "the first is a repeat";
        EXPECT_EQ(text(reported[i], "job_id"), job_of(leases[i]));
        EXPECT_EQ(at(reported[i], "lease_id"), at(leases[i], "lease_id"));
    }
}

TEST_P(Batch, OfReportsMustNameItsLeases) {
    const auto post = [&](const char* body) {
        return api.http.post("/api/v1/leases/report", body);
    };
    expect_refused(post(R"({"reports":[{"outcome":"failed"}]})"), 422, "invalid",
                   "/reports/0/lease_id");
    expect_refused(post(R"({"reports":[]})"), 422, "invalid", "/reports");
    expect_refused(post(R"({"report":[]})"), 422, "invalid", "/report");
    expect_refused(post(R"({"reports":[{"lease_id":"x","outcome":"failed"}]})"), 422, "invalid",
                   "/reports/0/lease_id");
}

TEST_P(Batch, TheSameLeaseTwiceInOneBatchIsAnsweredTwice) {
    api.submit();
    const Json lease = api.claim_one();
    const Json entry = Fields{{"lease_id", at(lease, "lease_id")}, {"outcome", "succeeded"}};
    const Json other = Fields{{"lease_id", at(lease, "lease_id")}, {"outcome", "failed"}};

    const Json answer = expect_ok(api.http.post(
        "/api/v1/leases/report", serialize(Fields{{"reports", List{entry, entry, other}}})));

    EXPECT_EQ(list(answer, "results")[0], list(answer, "results")[1]);
    EXPECT_EQ(text(at(list(answer, "results")[2], "error"), "code"), "conflict");
    EXPECT_EQ(api.steps(job_of(lease)).size(), 3u);
}

}  // namespace batch_test
}  // namespace sluice::e2e
