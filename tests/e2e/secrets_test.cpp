// Secrets are planted in every field that may hold one, and then searched in everything that the
// engine printed and in everything that can be fetched from it.
#include <csignal>
#include <fstream>

#include "e2e/cli.hpp"

namespace sluice::e2e {
namespace secrets_test {

// Each secret contains this, followed by its purpose.
constexpr const char* mark = "p1anted";

constexpr const char* configuration = R"(
[secrets]
redact = ["password", "token", "API_KEY"]

[deploy]
shared_secret = "p1anted-shared-secret"
runner_tokens = ["p1anted-runner-token"]
node_token = "p1anted-node-token"
admin_token = "p1anted-admin-token"

[job_types.vault]
redact = ["db.url", "accounts.*.pin"]
backoff = "none"
max_attempts = 3

[job_types.shell.executor]
kind = "command"
argv = ["/bin/sh", "-c", "cat; echo; echo $HIDDEN >/dev/null"]
environment = {HIDDEN = "p1anted-environment"}

[job_types.call.executor]
kind = "http"
url = "https://user:p1anted-url-password@127.0.0.1:1/x?key=p1anted-query"
headers = {X-Key = "p1anted-header"}
)";

// Its secrets: by path, by the path's star, and by name at any depth.
constexpr const char* payload =
    R"({"db":{"url":"postgres://app:p1anted-db-pass@db/x","name":"shop"},)"
    R"("accounts":[{"pin":"p1anted-pin-1","id":1},{"pin":"p1anted-pin-2","id":2}],)"
    R"( "deep" : {"apiKey":"p1anted-\"api\"-key"} , "open": 1.50})";
constexpr const char* shown_payload = R"({"db":{"url":"***","name":"shop"},)"
                                      R"("accounts":[{"pin":"***","id":1},{"pin":"***","id":2}],)"
                                      R"( "deep" : {"apiKey":"***"} , "open": 1.50})";

// "p1anted-pin-1" in base64.
constexpr const char* pin_in_base64 = "cDFhbnRlZC1waW4tMQ==";

class Secrets : public testing::Test {
  protected:
    Secrets() {
        std::ofstream(file) << configuration;
        engine = std::make_unique<Engine>(store, Words{"--config", file});
        api = std::make_unique<Api>(engine->port(), "secrets");
    }

    std::string fetch(const std::string& path) { return api->http.get(path).body; }

    std::string submit() {
        const std::string body =
            std::string(R"({"type":"vault","queue":"secrets","payload":)") + payload + "}";
        const Response answer = api->http.post("/api/v1/jobs", body);
        EXPECT_EQ(raw_member(answer.body, "payload"), shown_payload);
        return text(expect_ok(answer, 202), "id");
    }

    // The whole life of a job whose worker prints secrets at every opportunity.
    std::string blab() {
        const std::string id = submit();
        Json lease = api->claim_one();
        EXPECT_EQ(serialize(at(at(lease, "job"), "payload")), serialize(parse(payload)));
        expect_ok(api->heartbeat(lease, {{"message", "using p1anted-pin-1"}, {"progress", 5}}));
        expect_ok(api->log(lease, {Fields{{"message", "url postgres://app:p1anted-db-pass@db/x"},
                                          {"data", Fields{{"p1anted-pin-1", "p1anted-db-pass"}}}},
                                   Fields{{"message", std::string("as ") + pin_in_base64}},
                                   Fields{{"message", R"(key p1anted-"api"-key)"}}}));
        expect_ok(api->release(lease, {{"reason", "cannot use p1anted-pin-2"}}));
        const Fields failure{{"outcome", "failed"},
                             {"error_code", "p1anted-pin-1"},
                             {"error_message", "wrong: p1anted-pin-2"}};
        lease = api->claim_one();
        const Json retried = expect_ok(api->report(lease, failure));
        EXPECT_EQ(expect_ok(api->report(lease, failure)), retried) << "a repeat is known";
        lease = api->claim_one();
        const Fields success{{"outcome", "succeeded"},
                             {"result", Fields{{"echo", R"(p1anted-"api"-key)"}, {"n", 1}}}};
        const Json done = expect_ok(api->report(lease, success));
        EXPECT_EQ(expect_ok(api->report(lease, success)), done) << "a repeat is known";
        EXPECT_EQ(at(done, "result"), (Fields{{"echo", "***"}, {"n", 1}}));
        return id;
    }

    void expect_clean(const std::string& text, const std::string& what) {
        for (const char* secret : {mark, "P1ANTED", pin_in_base64, "cDFhbnRlZC"}) {
            EXPECT_EQ(text.find(secret), std::string::npos) << what << ": " << text;
        }
    }

    const TempFolder folder;
    const std::string file = (folder.path() / "sluice.toml").string();
    const std::string store = "sqlite:" + (folder.path() / "db").string();
    std::unique_ptr<Engine> engine;
    std::unique_ptr<Api> api;
};

TEST_F(Secrets, OfAJobReachItsWorkerAndNobodyElse) {
    const std::string id = blab();
    const std::string again = text(expect_ok(api->replay(id), 202), "id");
    const Json lease = api->claim_one();
    EXPECT_EQ(job_of(lease), again);
    EXPECT_EQ(serialize(at(at(lease, "job"), "payload")), serialize(parse(payload)))
        << "a replay has the whole payload";
    api->cancel(again);

    for (const char* path : {"/api/v1/jobs", "/api/jobs", "/metrics", "/readyz", "/healthz",
                             "/api/v1/workers", "/api/v1/entities"}) {
        expect_clean(fetch(path), path);
    }
    for (const char* path : {"/api/v1/jobs/", "/api/jobs/"}) {
        for (const char* part : {"", "/events", "/logs", "/explain"}) {
            expect_clean(fetch(path + id + part), path + id + part);
        }
        EventStream stream(engine->port(), path + id + "/stream");
        for (const StreamEvent& event : stream.rest()) expect_clean(event.data, "stream");
    }
    EXPECT_EQ(raw_member(fetch("/api/v1/jobs/" + id), "payload"), shown_payload);
    EXPECT_EQ(raw_member(fetch("/api/jobs/" + id), "input"), shown_payload);
    const List logs = api->logs(id);
    EXPECT_EQ(text(logs[0], "message"), "url ***");
    EXPECT_EQ(at(logs[0], "data"), (Fields{{"***", "***"}}));
}

TEST_F(Secrets, AreNotInWhatTheEngineAndItsCommandsPrint) {
    const std::string id = blab();
    const std::string server = "http://127.0.0.1:" + std::to_string(engine->port());
    for (const Words& words :
         {Words{"job", "get", id, "--server", server}, Words{"job", "list", "--server", server},
          Words{"job", "get", id, "--json", "--server", server},
          Words{"job", "logs", id, "--server", server},
          Words{"config", "show", "--all", "--config", file},
          Words{"config", "check", "--config", file}}) {
        const Ended ended = run_sluice(words);
        expect_clean(ended.output + ended.errors, words[0] + " " + words[1]);
    }
    api->http.post("/deploy/jobs", "{}", {{"X-DEPLOY-SECRET", "p1anted-guess"}});
    api->http.post("/deploy/jobs/claim", "{}", {{"Authorization", "Bearer p1anted-guess"}});
    api->http.get("/api/v1/jobs/nothing?token=p1anted", {{"Authorization", "Bearer p1anted-x"}});
    EXPECT_EQ(engine->stop(), 0);
    expect_clean(engine->process().output() + engine->process().errors(), "the engine's output");

    const Ended exported =
        run_sluice({"audit", "export", "--logs", "--store", store, "--config", file});
    EXPECT_EQ(exported.code, 0) << exported.errors;
    EXPECT_TRUE(has(exported.output, id));
    expect_clean(exported.output + exported.errors, "audit export");
    const Ended doctor = run_sluice({"doctor", "--store", store, "--config", file});
    expect_clean(doctor.output + doctor.errors, "doctor");
}

TEST_F(Secrets, AreNotInTheAnswersOfOtherContracts) {
    const Headers control{{"X-DEPLOY-SECRET", "p1anted-shared-secret"}};
    const Headers runner{{"Authorization", "Bearer p1anted-runner-token"}};
    const Response created = api->http.post(
        "/deploy/jobs",
        R"({"type":"BUILD_AND_DEPLOY","payload":{"appId":"a","token":"p1anted-deploy"}})", control);
    expect_clean(created.body, "create");
    const Response claimed = api->http.post("/deploy/jobs/claim", R"({"runnerId":"r"})", runner);
    EXPECT_TRUE(has(claimed.body, "p1anted-deploy")) << claimed.body;
    const std::string id = text(at(parse(claimed.body), "data"), "id");
    const Response beat = api->http.post(
        "/deploy/jobs/" + id + "/heartbeat",
        R"({"runnerId":"r","phase":"BUILD","phaseMessage":"with p1anted-deploy"})", runner);
    EXPECT_TRUE(has(beat.body, "with ***")) << beat.body;
    expect_clean(beat.body, "heartbeat");
    const Response reported = api->http.post(
        "/deploy/jobs/" + id + "/report",
        R"({"runnerId":"r","status":"FAILED","errorMessage":"no p1anted-deploy here"})", runner);
    EXPECT_TRUE(has(reported.body, "no *** here")) << reported.body;
    expect_clean(reported.body, "report");
    expect_clean(api->http.get("/deploy/jobs/" + id, control).body, "query");
    expect_clean(api->http.get("/deploy/jobs", control).body, "list");
}

TEST_F(Secrets, InAttributesOfEntitiesAreNotShown) {
    const Response created = api->http.post(
        "/api/v1/entities", R"({"kind":"site","id":"s-1",)"
                            R"("attributes":{"Password":"p1anted-attribute","a":{"token":1}}})");
    ASSERT_LT(created.status, 300) << created.body;
    EXPECT_TRUE(has(created.body, R"("Password":"***")")) << created.body;
    for (const char* path : {"/api/v1/entities/site/s-1", "/api/v1/entities?kind=site",
                             "/api/v1/entities/site/s-1/events", "/api/v1/sites"}) {
        expect_clean(fetch(path), path);
    }
}

TEST_F(Secrets, InACommandsOutputAreHidden) {
    const std::string id =
        text(expect_ok(
                 api->http.post("/api/v1/jobs",
                                R"({"type":"shell","payload":{"token":"p1anted-token-on-stdin"}})"),
                 202),
             "id");
    ASSERT_TRUE(eventually([&] { return api->state(id) == "succeeded"; })) << fetch("/api/v1/jobs");
    expect_clean(fetch("/api/v1/jobs/" + id + "/logs") + fetch("/api/v1/jobs/" + id), "the job");
    EXPECT_TRUE(has(fetch("/api/v1/jobs/" + id + "/logs"), "***"));
}

TEST_F(Secrets, InErrorsAboutBadInputAreNotRepeated) {
    for (const char* body :
         {R"({"type":"vault","payload":{"token":"p1anted)", R"({"type":"vault","token":"p1anted"})",
          R"({"type":"vault","payload":{"token":"p1anted\q"}})",
          R"({"type":"vault","priority":"p1anted"})", R"({"type":{"token":"p1anted"}})"}) {
        const Response answer = api->http.post("/api/v1/jobs", body);
        EXPECT_GE(answer.status, 400);
        expect_clean(answer.body, body);
    }
}

TEST(SecretsInConfiguration, AreNotRepeatedWhenTheyAreWrong) {
    const TempFolder folder;
    const std::string file = (folder.path() / "sluice.toml").string();
    for (const char* text :
         {"[deploy]\nshared_secret = [\"p1anted\"]", "[deploy]\nnode_token = p1anted",
          "[deploy]\nrunner_tokens = \"p1anted\"", "store_direct = \"mysql://user:p1anted@host/x\"",
          "[job_types.x]\nredact = [\"a..b\"]", "[secrets]\nredact = [\"\"]"}) {
        std::ofstream(file) << text;
        const Ended ended = run_sluice({"config", "check", "--config", file});
        EXPECT_NE(ended.code, 0) << text;
        EXPECT_FALSE(has(ended.output + ended.errors, "p1anted")) << ended.errors;
    }
}

// A text from outside always stays one record and one string.
TEST_F(Secrets, NoTextBreaksOutOfItsPlace) {
    const std::string nasty =
        "\r\n\r\ndata: x\nevent: status\nid: 9\n\n\x1b[31m\u202e\u2028<img src=x "
        "onerror=alert(1)>\"}\\";
    const std::string name = "a\u202e<b>{}\"\\ =,";
    expect_ok(api->try_submit({{"type", name}, {"queue", name}}), 202);
    const std::string id = api->submit_id({{"payload", Fields{{nasty, nasty}}}});
    const Json lease = api->claim_one({{"queues", List{"secrets"}}});
    expect_ok(api->log(lease, {Fields{{"message", nasty}, {"data", nasty}}}));
    expect_ok(api->report(lease,
                          {{"outcome", "failed"}, {"retryable", false}, {"error_message", nasty}}));

    EventStream stream(engine->port(), "/api/v1/jobs/" + id + "/stream");
    const auto events = stream.rest();
    ASSERT_EQ(events.size(), 4u);
    EXPECT_EQ(text(parse(events[2].data), "message"), nasty);
    EXPECT_EQ(text(parse(events[3].data), "error_message"), nasty);
    EXPECT_EQ(text(api->job(id), "error_message"), nasty);
    for (const std::string& line : lines_of(fetch("/metrics"))) {
        const bool is_sample = line.starts_with("sluice_") || line.starts_with("#") || line.empty();
        EXPECT_TRUE(is_sample) << line;
    }
    EXPECT_EQ(engine->stop(), 0);
    for (const std::string& line : lines_of(engine->process().output())) {
        EXPECT_NO_THROW(parse(line)) << line;
    }
    const Ended exported = run_sluice({"audit", "export", "--logs", "--store", store});
    for (const std::string& line : lines_of(exported.output)) EXPECT_NO_THROW(parse(line)) << line;
}

}  // namespace secrets_test
}  // namespace sluice::e2e
