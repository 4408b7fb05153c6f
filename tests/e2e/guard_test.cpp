// Protection of clients from one another, and of users from web pages that act in their name.
#include "e2e/api.hpp"

namespace sluice::e2e {
namespace guard_test {

ON_EACH_STORE(Guard);

TEST_P(Guard, APageOfAnotherOriginMayNotWrite) {
    const std::string id = api.submit_id();
    const char* here = "http://127.0.0.1";  // what the client names as its Host

    for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1.evil.example"}) {
        expect_refused(api.http.post("/api/v1/jobs", R"({"type":"x"})", {{"Origin", origin}}), 403,
                       "foreign_origin");
        expect_refused(api.http.post("/api/v1/jobs/" + id + "/cancel", "", {{"Origin", origin}}),
                       403, "foreign_origin");
    }
    EXPECT_EQ(api.http.post("/api/v1/jobs", R"({"type":"x"})", {{"Origin", here}}).status, 202);
    EXPECT_EQ(api.state(id), "queued");
}

TEST_P(Guard, SiblingsCountAsDependencies) {
    std::vector<Fields> jobs(102);
    List all;
    for (int i = 0; i < 101; ++i) all.emplace_back("#" + std::to_string(i));
    jobs.back() = {{"depends_on", all}};

    expect_refused(api.try_batch(jobs), 413, "too_large", "/jobs/101/depends_on");
}

TEST_P(Guard, NamesInAClaimAreChecked) {
    const auto refused = [&](const char* body, const char* pointer) {
        expect_refused(api.http.post("/api/v1/leases", body), 422, "invalid", pointer);
    };
    refused(R"({"worker_id":"a\nb"})", "/worker_id");
    refused(R"({"worker_id":"w","tenant":""})", "/tenant");
    refused(R"({"worker_id":"w","queues":[""]})", "/queues");
    refused(R"({"worker_id":"w","labels":["a\u001bb"]})", "/labels");
}

TEST_P(Guard, ALeaseInTheBodyMustBeTheOneInThePath) {
    api.submit_batch(std::vector<Fields>(2));
    const List leases = api.claim({{"limit", 2}});
    const std::string other = text(leases[1], "lease_id");

    expect_refused(api.report(leases[0], {{"outcome", "succeeded"}, {"lease_id", other}}), 422,
                   "invalid", "/lease_id");
    expect_ok(api.report(leases[1], {{"outcome", "succeeded"}, {"lease_id", other}}));
}

TEST_P(Guard, ManyUnknownFieldsAreNotAllRepeated) {
    std::string body = R"({"type":"x")";
    for (int i = 0; i < 5000; ++i) body += ",\"field" + std::to_string(i) + "\":1";
    const Response refusal = api.http.post("/api/v1/jobs", body + "}");

    expect_refused(refusal, 422, "invalid");
    EXPECT_LT(refusal.body.size(), 2000u);
    EXPECT_NE(refusal.body.find("4990 more"), std::string::npos) << refusal.body;
}

TEST_P(Guard, APageOfLargePayloadsEndsEarlyAndGoesOn) {
    const std::string payload = '"' + std::string(250 * 1024, 'x') + '"';
    const std::string body =
        R"({"type":"large","queue":")" + api.queue() + R"(","payload":)" + payload + "}";
    for (int i = 0; i < 40; ++i) ASSERT_EQ(api.http.post("/api/v1/jobs", body).status, 202);

    std::string path = "/api/v1/jobs?limit=200&queue=" + api.queue();
    std::size_t seen = 0;
    std::size_t pages = 0;
    for (std::string cursor;; ++pages) {
        const Json page = api.get(cursor.empty() ? path : path + "&cursor=" + cursor);
        seen += list(page, "jobs").size();
        if (is_null(page, "next_cursor")) break;
        cursor = text(page, "next_cursor");
    }

    EXPECT_EQ(seen, 40u);
    EXPECT_GE(pages, 1u);
}

TEST_P(Guard, MediaTypesAreComparedWithoutCase) {
    EXPECT_EQ(api.http
                  .post("/api/v1/jobs", R"({"type":"x"})",
                        {{"Content-Type", "Application/JSON; charset=utf-8"}})
                  .status,
              202);
}

}  // namespace guard_test
}  // namespace sluice::e2e
