// Rows that were changed behind the engine's back so that they cannot be read: each is shown as
// damaged and its job fails or is canceled, and all others are served.
#include <memory>

#include "e2e/change_store.hpp"
#include "e2e/cli.hpp"

namespace sluice::e2e {
namespace damage_test {

class Damage : public testing::Test {
  protected:
    Damage() { start(); }

    void start() {
        engine = std::make_unique<Engine>(store);
        api = std::make_unique<Api>(engine->port(), "q");
    }

    // An engine on SQLite has the newest jobs in memory; one that has just started does not.
    void restart() {
        EXPECT_EQ(engine->stop(), 0);
        start();
    }

    std::vector<std::string> submit(int count) {
        std::vector<std::string> ids;
        for (int i = 0; i < count; ++i) {
            ids.push_back(api->submit_id({{"payload", Fields{{"text", "whole"}, {"n", i}}}}));
        }
        return ids;
    }

    // Changes the row of the job that was submitted as this number.
    void change(const std::string& table, const std::string& what, int number) {
        change_store(store, "UPDATE " + table + " SET " + what +
                                " WHERE id=(SELECT id FROM job ORDER BY id LIMIT 1 OFFSET " +
                                std::to_string(number) + ")");
    }

    void cut_payload(int number) { change("job", "payload=substr(payload,1,9)", number); }

    List jobs() { return list(api->get("/api/v1/jobs?queue=q"), "jobs"); }

    static bool is_damaged(const Json& job) {
        return job.as_object().contains("damaged") && flag(job, "damaged");
    }

    Ended cli(Words words) const {
        words.insert(words.end(),
                     {"--server", "http://127.0.0.1:" + std::to_string(engine->port())});
        return run_sluice(words);
    }

    const TempFolder folder;
    const std::string store = "sqlite:" + (folder.path() / "db").string();
    std::unique_ptr<Engine> engine;
    std::unique_ptr<Api> api;
};

TEST_F(Damage, OfOnePayloadIsShownAndAllOtherJobsAreListed) {
    const auto ids = submit(3);

    cut_payload(1);

    for (const Json& job : jobs()) {
        const bool is_cut = text(job, "id") == ids[1];
        EXPECT_EQ(is_damaged(job), is_cut);
        EXPECT_EQ(is_null(job, "payload"), is_cut);
    }
    EXPECT_TRUE(is_damaged(api->job(ids[1])));
    EXPECT_EQ(jobs().size(), 3u);
}

TEST_F(Damage, OfOnePayloadFailsItsJobAndTheRestOfTheClaimIsHandedOut) {
    const auto ids = submit(3);
    cut_payload(1);
    restart();

    const List leases = api->claim({{"limit", 3}});

    ASSERT_EQ(leases.size(), 2u);
    for (const Json& lease : leases) expect_ok(api->succeed(lease));
    EXPECT_EQ(api->state(ids[0]), "succeeded");
    EXPECT_EQ(api->state(ids[2]), "succeeded");
    const Json damaged = api->job(ids[1]);
    EXPECT_EQ(text(damaged, "state"), "failed");
    EXPECT_EQ(text(damaged, "error_code"), "JOB_DAMAGED");
    EXPECT_NE(text(damaged, "error_message").find("payload"), std::string::npos);
    EXPECT_EQ(api->steps(ids[1]), (std::vector<std::string>{"submitted", "claimed", "failed"}));
}

TEST_F(Damage, DoesNotKeepAJobFromBeingCanceledNorLetsItBeReplayed) {
    const auto ids = submit(2);
    cut_payload(0);
    restart();

    expect_ok(api->cancel(ids[0]));

    EXPECT_EQ(api->state(ids[0]), "canceled");
    expect_refused(api->replay(ids[0]), 409, "conflict");
    EXPECT_EQ(job_of(api->claim_one()), ids[1]);
}

TEST_F(Damage, OfProjectOrTypeOfARunningJobKeepsNothingFromEnding) {
    std::vector<std::string> ids;
    for (int i = 0; i < 4; ++i) ids.push_back(api->submit_id({{"project", "shop"}}));
    const List leases = api->claim({{"limit", 4}});
    ASSERT_EQ(leases.size(), 4u);
    change("job", "project='other'", 0);
    change("job", "type='other'", 1);
    change("job", "project='other'", 2);
    restart();

    expect_ok(api->succeed(leases[0]));
    expect_ok(api->succeed(leases[1]));
    expect_ok(api->cancel(ids[2]));
    expect_ok(api->succeed(leases[3]));

    EXPECT_EQ(api->state(ids[2]), "canceled");
    for (const int i : {0, 1, 3}) EXPECT_EQ(api->state(ids[i]), "succeeded") << i;
    EXPECT_TRUE(list(api->get("/api/v1/jobs?project=shop&type=task&state=queued"), "jobs").empty());
    api->submit_id({{"project", "shop"}});
    expect_ok(api->succeed(api->claim_one()));
}

TEST_F(Damage, IsNamedByAuditVerifyAndDoctorAndShownByTheCommandLine) {
    const auto ids = submit(3);
    cut_payload(0);
    cut_payload(2);

    const Ended verified = run_sluice({"audit", "verify", "--store", store});
    EXPECT_EQ(verified.code, 6);
    EXPECT_TRUE(has(verified.errors, ids[0])) << verified.errors;
    EXPECT_TRUE(has(verified.errors, ids[2])) << verified.errors;
    EXPECT_FALSE(has(verified.errors, ids[1])) << verified.errors;
    EXPECT_TRUE(has(verified.errors, "\n2 broken; docs/operations.md")) << verified.errors;
    const Ended seen = run_sluice({"doctor", "--listen", "127.0.0.1:1", "--store", store});
    EXPECT_EQ(seen.code, 1);
    EXPECT_TRUE(has(seen.output, ids[0])) << seen.output;
    EXPECT_TRUE(has(seen.output, ids[2])) << seen.output;
    EXPECT_FALSE(has(seen.output, ids[1])) << seen.output;

    const Ended shown = cli({"job", "get", ids[0]});
    EXPECT_EQ(shown.code, 0) << shown.errors;
    const Ended listed = cli({"job", "list"});
    EXPECT_EQ(listed.code, 0) << listed.errors;
    EXPECT_TRUE(has(listed.output, ids[1])) << listed.output;
}

TEST_F(Damage, OfAJobThatHasEndedIsNothingToCancel) {
    const std::string id = submit(1).front();
    expect_ok(api->succeed(api->claim_one()));
    cut_payload(0);

    const Ended seen = run_sluice({"doctor", "--listen", "127.0.0.1:1", "--store", store});

    EXPECT_EQ(seen.code, 1);
    EXPECT_TRUE(has(seen.output, id)) << seen.output;
    EXPECT_TRUE(has(seen.output, "it has ended and stays as it is; find out")) << seen.output;
    EXPECT_FALSE(has(seen.output, "cancel")) << seen.output;
}

TEST_F(Damage, IsShownByTheOtherContractsInTheirWords) {
    const Json jobs_one = expect_ok(
        api->http.post("/api/jobs", R"({"action":"task","input":{"text":"whole"}})"), 202);
    const Json deploy_one = expect_ok(api->http.post(
        "/deploy/jobs", R"({"type":"BUILD_AND_DEPLOY","payload":{"appId":"a","n":12345}})"));
    const std::string of_jobs = text(jobs_one, "id");
    const std::string of_deploy = text(at(deploy_one, "data"), "id");
    cut_payload(0);
    cut_payload(1);
    restart();

    EXPECT_TRUE(is_null(api->get("/api/jobs/" + of_jobs), "input"));
    EXPECT_TRUE(is_null(at(api->get("/deploy/jobs/" + of_deploy), "data"), "payload"));
    expect_ok(api->http.post("/api/v1/leases", R"({"worker_id":"w","limit":5})"));

    const Json failed = api->get("/api/jobs/" + of_jobs);
    EXPECT_EQ(text(failed, "state"), "failed");
    EXPECT_EQ(text(at(failed, "error"), "code"), "JOB_DAMAGED");
    EXPECT_EQ(text(at(api->get("/deploy/jobs/" + of_deploy), "data"), "status"), "FAILED");
}

TEST_F(Damage, OfAnyColumnLeavesAllOtherJobsServed) {
    const char* const columns[] = {"labels='x'", "exclusive_keys='9:a'", "backoff='lx'",
                                   "payload_digest=substr(payload_digest,1,31)",
                                   "head_hash=substr(head_hash,1,3)"};
    const auto ids = submit(6);
    int number = 0;
    for (const char* column : columns) change("job", column, number++);
    for (const Json& job : jobs()) EXPECT_EQ(is_damaged(job), text(job, "id") != ids[5]);
    restart();

    const List leases = api->claim({{"limit", 6}});

    ASSERT_EQ(leases.size(), 1u);
    EXPECT_EQ(job_of(leases[0]), ids[5]);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(text(api->job(ids[static_cast<std::size_t>(i)]), "error_code"), "JOB_DAMAGED")
            << columns[i];
    }
}

TEST_F(Damage, OfTheKeysOfAJobThatRunsLeavesNoneHeld) {
    const Fields keyed{{"exclusive_keys", List{"k"}}};
    api->submit_id(keyed);
    const std::string second = api->submit_id(keyed);
    const Json lease = api->claim_one();
    change("job", "exclusive_keys='9:a'", 0);

    expect_ok(api->succeed(lease));

    EXPECT_EQ(job_of(api->claim_one()), second);
}

TEST_F(Damage, OfAnEndIsShownAndAllOtherJobsAreListed) {
    const auto ids = submit(3);
    for (const Json& lease : api->claim({{"limit", 3}})) {
        expect_ok(
            api->report(lease, {{"outcome", "succeeded"}, {"result", Fields{{"text", "whole"}}}}));
    }
    change("done", "result=substr(result,1,5)", 0);
    change("done", "state=99", 1);

    for (const Json& job : jobs()) EXPECT_EQ(is_damaged(job), text(job, "id") != ids[2]);
    EXPECT_TRUE(is_null(api->job(ids[0]), "result"));
    EXPECT_EQ(api->state(ids[1]), "failed");
}

TEST_F(Damage, OfEventsAndLogLinesIsShownAndTheOthersAreReadable) {
    const std::string id = api->submit_id({{"max_attempts", 1}});
    const Json lease = api->claim_one();
    expect_ok(api->log(lease, {Fields{{"message", "a"}, {"data", Fields{{"n", 1}}}}}));
    expect_ok(api->report(lease, {{"outcome", "failed"}, {"error_code", "E"}}));
    change_store(store, "UPDATE event SET detail=substr(detail,1,5) WHERE seq=3");
    change_store(store, "UPDATE log SET data='{', level=77");

    const List events = api->events(id);
    ASSERT_EQ(events.size(), 3u);
    EXPECT_TRUE(is_damaged(events[2]));
    EXPECT_TRUE(is_null(events[2], "detail"));
    EXPECT_FALSE(is_damaged(events[0]));
    const List lines = api->logs(id);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_TRUE(is_damaged(lines[0]));
    EXPECT_TRUE(is_null(lines[0], "data"));
}

TEST_F(Damage, OfAnEntityIsShownAndWhatIsLeftOfItIsNotOverwritten) {
    const char* const texts[] = {R"({"name":)", R"({"name":"a","name":"b"})", R"([1])", ""};
    for (const char* damaged : texts) {
        SCOPED_TRACE(damaged);
        const std::string id = "app-" + std::to_string(std::string(damaged).size());
        expect_ok(api->http.post(
                      "/api/v1/entities",
                      serialize(Fields{
                          {"kind", "app"}, {"id", id}, {"attributes", Fields{{"name", "Shop"}}}})),
                  201);
        change_store(store, std::string("UPDATE entity SET attributes='") + damaged +
                                "' WHERE id='" + id + "'");
        const std::string place = "/api/v1/entities/app/" + id;

        EXPECT_TRUE(is_damaged(api->get(place)));
        const Response refused = api->http.post(place, R"({"attributes":{"name":"Other"}})");
        expect_refused(refused, 409, "conflict");
        EXPECT_TRUE(has(refused.body, "audit verify")) << refused.body;
        EXPECT_TRUE(is_damaged(api->get(place)));
    }
    const Ended verified = run_sluice({"audit", "verify", "--store", store});
    EXPECT_EQ(verified.code, 6);
    EXPECT_TRUE(has(verified.errors, "app app-8 of tenant default")) << verified.errors;
}

TEST_F(Damage, OfASiteFailsTheJobsThatWouldMoveItAndLeavesTheSite) {
    const Fields moves{{"type", "env_update"}, {"site_id", "s1"}, {"node_id", "n1"}};
    const std::string first = api->submit_id(moves);
    const Json lease = api->claim_one();
    change_store(store, "UPDATE entity SET attributes=attributes||' ' WHERE id='s1'");

    expect_ok(api->succeed(lease));
    const std::string second = api->submit_id(moves);
    EXPECT_TRUE(api->claim().empty());

    EXPECT_EQ(api->state(first), "succeeded");
    EXPECT_EQ(api->state(second), "failed");
    EXPECT_EQ(text(api->job(second), "error_code"), "RESOURCE_FAILED");
    EXPECT_TRUE(has(text(api->job(second), "error_message"), "damaged"));
    const Json site = api->get("/api/v1/entities/site/s1");
    EXPECT_TRUE(is_damaged(site));
    EXPECT_EQ(text(site, "state"), "deploying");
}

TEST_F(Damage, OfAnEntitysEventIsShownAndNamedByAuditVerify) {
    api->submit_id({{"type", "env_update"}, {"site_id", "s1"}, {"node_id", "n1"}});
    expect_ok(api->succeed(api->claim_one()));
    change_store(store, "UPDATE entity_event SET detail='{' WHERE id='s1' AND seq=2");

    const List events = list(api->get("/api/v1/entities/site/s1/events"), "events");
    ASSERT_EQ(events.size(), 3u);
    EXPECT_TRUE(is_damaged(events[1]));
    EXPECT_FALSE(is_damaged(events[2]));
    const Ended verified = run_sluice({"audit", "verify", "--store", store});
    EXPECT_EQ(verified.code, 6);
    EXPECT_TRUE(has(verified.errors, "site s1 of tenant default")) << verified.errors;
}

TEST_F(Damage, OfALogLevelIsNamedByAuditVerify) {
    const std::string id = api->submit_id();
    const Json lease = api->claim_one();
    expect_ok(api->log(lease, {Fields{{"message", "a"}, {"level", "error"}}}));
    expect_ok(api->succeed(lease));
    change_store(store, "UPDATE log SET level=7");

    EXPECT_TRUE(is_damaged(api->logs(id)[0]));
    const Ended verified = run_sluice({"audit", "verify", "--store", store});
    EXPECT_EQ(verified.code, 6);
    EXPECT_TRUE(has(verified.errors, "log line 1 is damaged")) << verified.errors;
}

// The job is not found in its lane.
TEST_F(Damage, ThatMovesAQueuedJobHarmsNoOtherWhenItIsCanceled) {
    const auto ids = submit(5);
    restart();
    change("job", "queue='elsewhere'", 0);
    change("job", "priority=7", 1);
    change("job", "labels='x'", 2);

    for (int i = 0; i < 3; ++i) expect_ok(api->cancel(ids[static_cast<std::size_t>(i)]));

    EXPECT_EQ(job_of(api->claim_one()), ids[3]);
    EXPECT_EQ(job_of(api->claim_one()), ids[4]);
    EXPECT_TRUE(api->claim().empty());
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(api->state(ids[static_cast<std::size_t>(i)]), "canceled");
    }
    EXPECT_TRUE(engine->is_running());
}

// The job in memory is as it was submitted.
using SqliteDamage = Damage;
TEST_F(SqliteDamage, BehindTheBackOfAnEngineThatKnowsTheJobDoesNoHarm) {
    const auto ids = submit(2);
    cut_payload(0);
    change("job", "queue='elsewhere'", 1);

    const List leases = api->claim({{"limit", 2}});

    ASSERT_EQ(leases.size(), 2u);
    for (const Json& lease : leases) expect_ok(api->succeed(lease));
    EXPECT_EQ(api->state(ids[0]), "succeeded");
}

}  // namespace damage_test
}  // namespace sluice::e2e
