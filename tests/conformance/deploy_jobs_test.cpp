// Seed 004, the control plane's side: create, query, list, cancel, transition.
#include <atomic>
#include <set>

#include "conformance/deploy.hpp"

namespace sluice::e2e {
namespace deploy_jobs_test {

using DeployJobs = DeployTest;

std::vector<std::string> ids_in(const DeployAnswer& answer) {
    std::vector<std::string> ids;
    for (const Json& job : answer.data.as_array()) ids.push_back(text(job, "id"));
    return ids;
}

TEST_F(DeployJobs, CreateAnswersAPendingJobInTheEnvelope) {
    const Fields payload{{"appId", fresh_name("app")},
                         {"repoUrl", "https://git.example.com/a.git"},
                         {"commit", "c0ffee"},
                         {"env", "prod"}};

    const DeployAnswer created = api.create(payload);

    expect_code(created, 200);
    EXPECT_EQ(created.message, "操作成功");
    EXPECT_EQ(created.text("type"), "BUILD_AND_DEPLOY");
    EXPECT_EQ(created.text("status"), "PENDING");
    EXPECT_EQ(at(created.data, "payload"), Json(payload));
    for (const char* unset :
         {"errorMessage", "runnerId", "leaseExpireAt", "runtimeNode", "deployUrl"}) {
        EXPECT_TRUE(is_null(created.data, unset)) << unset;
    }
    EXPECT_TRUE(created.text("createdAt").ends_with("Z")) << created.body;
    EXPECT_EQ(created.text("createdAt"), created.text("updatedAt"));
    EXPECT_EQ(api.job(created.id()).data, created.data);
}

TEST_F(DeployJobs, ThePayloadStaysByteForByteAsItCame) {
    const std::string payload = "{ \"commit\":\"a\\u00e9\",\n  \"n\":1.50 , \"deep\":{\"x\":[ ]} }";
    const DeployAnswer created = deploy_answer(
        api.http.post("/deploy/jobs", R"({"type":"BUILD_AND_DEPLOY","labels":[")" + api.label() +
                                          R"("],"payload":)" + payload + "}"));
    ASSERT_EQ(created.code, 200) << created.body;

    const std::string read = api.job(created.id()).body;

    EXPECT_EQ(raw_member(raw_member(read, "data"), "payload"), payload);
}

TEST_F(DeployJobs, AnUnknownJobIsCode404) {
    const std::string id = "66f0000000000000000000ff";
    for (const std::string& unknown : {id, std::string("no-id"), std::string("12")}) {
        expect_code(api.job(unknown), 404);
        expect_code(api.heartbeat(unknown, "r"), 404);
        expect_code(api.report(unknown, "r", "SUCCEEDED"), 404);
        expect_code(api.cancel(unknown), 404);
        expect_code(api.transition(unknown, "CANCELLED"), 404);
    }
}

TEST_F(DeployJobs, AJobOfAnotherQueueIsNotSeenHere) {
    Api native(api.port(), fresh_name("queue"));
    const std::string id = native.submit_id();

    expect_code(api.job(id), 404);
    expect_code(api.cancel(id), 404);
    EXPECT_TRUE(api.claim("r").data.is_null());
    EXPECT_EQ(native.state(id), "queued");
}

TEST_F(DeployJobs, BadArgumentsAreCode500WithTheReason) {
    const std::vector<std::pair<std::string, std::string>> mistakes{
        {"", "type"},
        {"{", "JSON"},
        {"[]", "object"},
        {R"({"payload":{}})", "type"},
        {R"({"type":""})", "type"},
        {R"({"type":[]})", "type"},
        {R"({"type":"NO_SUCH_TYPE"})", "NO_SUCH_TYPE"},
        {R"({"type":"BUILD_AND_DEPLOY","payload":[1]})", "payload"},
        {R"({"type":"BUILD_AND_DEPLOY","payload":"x"})", "payload"},
        {R"({"type":"BUILD_AND_DEPLOY","payload":{"appId":""}})", "payload/appId"},
        {R"({"type":"BUILD_AND_DEPLOY","payload":{"appId":{}}})", "payload/appId"},
        {R"({"type":"BUILD_AND_DEPLOY","payload":{"appId":1.5}})", "payload/appId"},
        {R"({"type":"BUILD_AND_DEPLOY","payload":{"a":1,"a":2}})", "payload/a"},
        {R"({"type":"BUILD_AND_DEPLOY","priority":"high"})", "priority"},
        {R"({"type":"BUILD_AND_DEPLOY","labels":[""]})", "labels"},
    };
    for (const auto& [body, reason] : mistakes) {
        const DeployAnswer refused = deploy_answer(api.http.post("/deploy/jobs", body));
        expect_code(refused, 500);
        EXPECT_NE(refused.message.find(reason), std::string::npos) << body << refused.body;
    }
    expect_code(api.get("/deploy/jobs?limit=many"), 500);
    expect_code(api.get("/deploy/jobs?status=DONE"), 500);
    expect_code(api.get("/deploy/jobs/by-app"), 500);
}

TEST_F(DeployJobs, ListsTheNewestFirstAndByStatusAndType) {
    std::vector<std::string> ids;
    for (int i = 0; i < 3; ++i) ids.push_back(api.create().id());
    const std::string other = api.create({}, {{"type", "msuite_submit"}}).id();
    const std::string taken = api.claim("r", {{"types", List{"BUILD_AND_DEPLOY"}}}).id();
    api.report(taken, "r", "FAILED");

    EXPECT_EQ(taken, ids[0]);
    EXPECT_EQ(ids_in(api.get("/deploy/jobs?limit=4")),
              (std::vector<std::string>{other, ids[2], ids[1], ids[0]}));
    EXPECT_EQ(ids_in(api.get("/deploy/jobs?limit=2&status=PENDING&type=BUILD_AND_DEPLOY")),
              (std::vector<std::string>{ids[2], ids[1]}));
    EXPECT_EQ(ids_in(api.get("/deploy/jobs?limit=1&status=FAILED")),
              (std::vector<std::string>{ids[0]}));
    EXPECT_EQ(ids_in(api.get("/deploy/jobs?limit=1&type=msuite_submit")),
              (std::vector<std::string>{other}));
    EXPECT_EQ(api.get("/deploy/jobs?limit=1").message, api.job(other).message);
}

TEST_F(DeployJobs, TheLimitIs50AndIsClampedTo1To200) {
    in_parallel(5, [&](int) {
        DeployApi other(api.port());
        for (int i = 0; i < 41; ++i) expect_code(other.create(), 200);
    });

    EXPECT_EQ(ids_in(api.get("/deploy/jobs")).size(), 50u);
    EXPECT_EQ(ids_in(api.get("/deploy/jobs?limit=0")).size(), 1u);
    EXPECT_EQ(ids_in(api.get("/deploy/jobs?limit=-3")).size(), 1u);
    EXPECT_EQ(ids_in(api.get("/deploy/jobs?limit=120")).size(), 120u);
    EXPECT_EQ(ids_in(api.get("/deploy/jobs?limit=100000")).size(), 200u);
}

TEST_F(DeployJobs, ByAppListsTheJobsOfThatApp) {
    const std::string app = fresh_name("app");
    const std::string first = api.running("r", {{"appId", app}}).id();
    api.report(first, "r", "SUCCEEDED");
    api.create({{"appId", fresh_name("app")}});
    const std::string second = api.create({{"appId", app}}).id();

    EXPECT_EQ(ids_in(api.get("/deploy/jobs/by-app?appId=" + app)),
              (std::vector<std::string>{second, first}));
    EXPECT_EQ(ids_in(api.get("/deploy/jobs/by-app?limit=0&appId=" + app)),
              (std::vector<std::string>{second}));
    EXPECT_TRUE(ids_in(api.get("/deploy/jobs/by-app?appId=nobody")).empty());
}

TEST_F(DeployJobs, ASecondActiveBuildAndDeployOfAnAppIsCode409) {
    const Fields app{{"appId", fresh_name("app")}};
    const std::string first = api.create(app).id();

    expect_code(api.create(app), 409);
    ASSERT_EQ(api.claim("r").id(), first);
    expect_code(api.create(app), 409);
    expect_code(api.create(app, {{"type", "msuite_submit"}}), 200);
    expect_code(api.create({{"appId", fresh_name("app")}}), 200);
    expect_code(api.report(first, "r", "FAILED"), 200);

    expect_code(api.create(app), 200);
}

TEST_F(DeployJobs, AnAppIdIsTheSameAsTextAndAsNumber) {
    static std::atomic<int> last = 20'000;
    const int number = ++last;
    expect_code(api.create({{"appId", number}}), 200);

    expect_code(api.create({{"appId", std::to_string(number)}}), 409);
    EXPECT_EQ(ids_in(api.get("/deploy/jobs/by-app?appId=" + std::to_string(number))).size(), 1u);
}

TEST_F(DeployJobs, OfAHundredCreatesAtOnceForOneAppExactlyOneWins) {
    const Fields app{{"appId", fresh_name("app")}};
    std::atomic<int> won = 0, refused = 0;

    in_parallel(100, [&](int) {
        DeployApi other(api.port());
        const int code = other.create(app).code;
        won += code == 200 ? 1 : 0;
        refused += code == 409 ? 1 : 0;
    });

    EXPECT_EQ(won, 1);
    EXPECT_EQ(refused, 99);
}

TEST_F(DeployJobs, CancelEndsAPendingAndARunningJob) {
    const std::string pending = api.create().id();
    EXPECT_EQ(api.cancel(pending).text("status"), "CANCELLED");
    EXPECT_EQ(api.cancel(pending).text("status"), "CANCELLED") << "it may be repeated";
    EXPECT_TRUE(api.claim("r").data.is_null()) << "it is not handed out";

    const std::string running = api.running("r").id();
    const DeployAnswer canceled = api.cancel(running);
    EXPECT_EQ(canceled.text("status"), "CANCELLED");
    EXPECT_TRUE(is_null(canceled.data, "runnerId"));

    const std::string done = api.running("r").id();
    api.report(done, "r", "SUCCEEDED");
    expect_code(api.cancel(done), 409);
}

TEST_F(DeployJobs, OnlyAClaimLeadsToRunning) {
    const std::string id = api.create().id();

    expect_code(api.transition(id, "RUNNING"), 409);
    EXPECT_EQ(api.status(id), "PENDING");
}

TEST_F(DeployJobs, APendingJobGoesToRunningOrCancelledOnly) {
    const std::string id = api.create().id();

    for (const char* status : {"SUCCEEDED", "FAILED", "PENDING"}) {
        expect_code(api.transition(id, status), 409);
    }
    EXPECT_EQ(api.status(id), "PENDING");
    EXPECT_EQ(api.transition(id, "CANCELLED").text("status"), "CANCELLED");
}

TEST_F(DeployJobs, ARunningJobGoesToEachOfTheEnds) {
    for (const char* status : {"SUCCEEDED", "FAILED", "CANCELLED"}) {
        const std::string id = api.running("r").id();
        expect_code(api.transition(id, "PENDING"), 409);

        EXPECT_EQ(api.transition(id, status).text("status"), status);

        EXPECT_EQ(api.status(id), status);
        expect_stop(api.heartbeat(id, "r"), status);
    }
}

TEST_F(DeployJobs, ATransitionMaySayWhy) {
    for (const char* status : {"FAILED", "CANCELLED"}) {
        const std::string id = api.running("r").id();
        const Fields why{{"toStatus", status}, {"errorMessage", "the node burns"}};

        const DeployAnswer ended = api.post("/deploy/jobs/" + id + "/transition", why);

        EXPECT_EQ(ended.text("status"), status);
        EXPECT_EQ(ended.text("errorMessage"), "the node burns");
    }
}

TEST_F(DeployJobs, AnEndedJobNeverChanges) {
    for (const char* end : {"SUCCEEDED", "FAILED", "CANCELLED"}) {
        const std::string id = api.running("r").id();
        ASSERT_EQ(api.report(id, "r", end).code, 200);
        for (const char* status : {"PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED"}) {
            expect_code(api.transition(id, status), 409);
        }
        EXPECT_EQ(api.status(id), end);
    }
    const std::string id = api.create().id();
    expect_code(api.transition(id, "DONE"), 500);
    expect_code(api.post("/deploy/jobs/" + id + "/transition"), 500);
}

TEST_F(DeployJobs, EveryStepIsKeptWithWhoTookIt) {
    const std::string app = fresh_name("app");
    const std::string id = api.running("runner-7", {{"appId", app}}).id();
    api.heartbeat(id, "runner-7");
    api.report(id, "runner-7", "SUCCEEDED");
    const std::string other = api.running("runner-7").id();
    api.transition(other, "FAILED");

    Api native(api.port(), "deploy");
    const List events = native.events(id);
    EXPECT_EQ(native.steps(id), (std::vector<std::string>{"submitted", "claimed", "succeeded"}));
    EXPECT_EQ(text(events.at(0), "actor"), "anonymous");
    EXPECT_EQ(text(events.at(1), "actor"), "worker:runner-7");
    EXPECT_EQ(text(events.at(2), "actor"), "worker:runner-7");
    EXPECT_EQ(text(native.events(other).at(2), "actor"), "anonymous");
}

}  // namespace deploy_jobs_test
}  // namespace sluice::e2e
