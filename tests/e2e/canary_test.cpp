// One tenant never sees another: marks are planted in every field that tenant B can write, and
// searched in everything that tenant A can fetch.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "e2e/guarded_engine.hpp"
#include "interfaces/http/dispatch/routes.hpp"

namespace sluice::e2e {
namespace canary_test {

constexpr std::string_view no_such_id = "6af9e0750252000000000000";

class TwoTenants : public testing::Test {
  protected:
    TwoTenants() : engine("[limits]\nbad_tokens_per_address = \"0\"\n") {
        plant_job();
        plant_failure();
        plant_entities();
        plant_app();
    }

    // A unique text.
    std::string mark() { return fmt::format("zebra-{}", ++marks_); }

    Json done(const Response& response) {
        EXPECT_LT(response.status, 300) << response.body;
        return parse(response.body);
    }

    Fields marked_job() {
        key_ = mark();
        return {{"type", mark()},
                {"queue", mark()},
                {"project", mark()},
                {"payload", Fields{{mark(), mark()}}},
                {"source", mark()},
                {"correlation_id", mark()},
                {"labels", List{mark().c_str()}},
                {"exclusive_keys", List{key_.c_str()}},
                {"entity_type", "thing"},
                {"entity_id", mark()},
                {"max_attempts", 1}};
    }

    // A job that runs, with lines in its log.
    void plant_job() {
        idempotency_key_ = mark();
        const Fields wanted = marked_job();
        const Json job =
            done(engine.post(b, "/api/v1/jobs", wanted, {{"Idempotency-Key", idempotency_key_}}));
        running_ = text(job, "id");
        const Json lease = claim(job);
        running_lease_ = text(lease, "lease_id");
        const std::string path = "/api/v1/leases/" + running_lease_;
        done(engine.post(b_worker, path + "/heartbeat", {{"progress", 5}, {"message", mark()}}));
        done(engine.post(
            b_worker, path + "/logs",
            {{"entries", List{Fields{{"message", mark()}, {"data", Fields{{"x", mark()}}}}}}}));
    }

    Json claim(const Json& job) {
        const Json claimed = done(engine.post(b_worker, "/api/v1/leases",
                                              {{"worker_id", mark()},
                                               {"queues", List{text(job, "queue").c_str()}},
                                               {"labels", at(job, "labels")}}));
        return list(claimed, "leases").at(0);
    }

    void plant_failure() {
        const Json job = done(engine.post(b, "/api/v1/jobs", marked_job()));
        ended_ = text(job, "id");
        const Json lease = claim(job);
        ended_lease_ = text(lease, "lease_id");
        done(engine.post(b_worker, "/api/v1/leases/" + ended_lease_ + "/report",
                         {{"outcome", "failed"},
                          {"error_code", mark()},
                          {"error_message", mark()},
                          {"result", Fields{{"y", mark()}}}}));
        waiting_ = text(done(engine.post(b, "/api/jobs",
                                         {{"action", mark()}, {"input", Fields{{"z", mark()}}}})),
                        "id");
    }

    void plant_entities() {
        for (const char* kind : {"site", "environment"}) {
            entity_ids_.push_back(mark());
            done(engine.post(b, "/api/v1/entities",
                             {{"kind", kind},
                              {"id", entity_ids_.back()},
                              {"attributes", Fields{{mark(), mark()}}}}));
        }
    }

    void plant_app() {
        const Json app = at(done(engine.post(b, "/api/apps", {{"name", mark()}})), "data");
        app_ = text(app, "id");
        const std::string path = "/api/apps/" + app_;
        done(engine.post(b, path + "/members", {{"user", mark()}, {"role", "reviewer"}}));
        done(engine.post(b, path + "/runtime-profiles",
                         {{"name", mark()}, {"kind", "temp_workspace"}}));
        const Json changeset =
            at(done(engine.post(b, path + "/changesets", {{"title", mark()}})), "data");
        changeset_ = text(changeset, "id");
    }

    std::vector<std::string> ids() const {
        std::vector<std::string> all{running_,     ended_, waiting_,  running_lease_,
                                     ended_lease_, app_,   changeset_};
        all.insert(all.end(), entity_ids_.begin(), entity_ids_.end());
        return all;
    }

    void expect_no_mark(const Response& response, const std::string& what,
                        const std::string& asked) {
        std::string answer = response.body;
        for (const auto& [name, value] : response.headers) answer += name + value + '\n';
        // The text of the request itself may be repeated.
        for (std::size_t at = answer.find(asked); !asked.empty() && at != answer.npos;
             at = answer.find(asked)) {
            answer.erase(at, asked.size());
        }
        EXPECT_EQ(answer.find("zebra"), answer.npos) << what << ": " << response.body;
    }

    // The answer to a request about something of B must be the same as about an unknown id.
    void expect_as_if_absent(const std::string& method, const std::string& path,
                             const std::string& body, const std::string& id,
                             const std::string& stand_in) {
        const auto with = [&](std::string text, const std::string& value) {
            const std::size_t at = text.find("ID");
            return at == text.npos ? text : text.replace(at, 2, value);
        };
        const Response theirs = engine.request(a, method, with(path, id), with(body, id));
        const Response nobodys =
            engine.request(a, method, with(path, stand_in), with(body, stand_in));
        const std::string what = method + " " + with(path, id) + " " + with(body, id);
        expect_no_mark(theirs, what, id);
        EXPECT_EQ(theirs.status, nobodys.status) << what << theirs.body;
        EXPECT_GE(theirs.status, 400) << what;
        EXPECT_EQ(stripped(theirs, id), stripped(nobodys, stand_in)) << what;
    }

    static std::string stripped(const Response& response, const std::string& id) {
        std::string body = response.body;
        for (const std::string& part : {id, response.header("X-Request-Id")}) {
            for (std::size_t at = body.find(part); !part.empty() && at != body.npos;
                 at = body.find(part)) {
                body.erase(at, part.size());
            }
        }
        return body;
    }

    GuardedEngine engine;
    const std::string a =
        engine.token({{"name", "ann"}, {"tenant", "a"}, {"scopes", List{"orch:admin"}}});
    const std::string a_worker =
        engine.token({{"name", "wa"}, {"tenant", "a"}, {"kind", "worker"}});
    const std::string b =
        engine.token({{"name", mark()}, {"tenant", "b"}, {"scopes", List{"orch:admin"}}});
    const std::string b_worker =
        engine.token({{"name", mark()}, {"tenant", "b"}, {"kind", "worker"}});
    std::string running_, ended_, waiting_, running_lease_, ended_lease_, app_, changeset_;
    std::string idempotency_key_, key_;
    std::vector<std::string> entity_ids_;

  private:
    int marks_ = 0;
};

std::string filled(std::string_view pattern, const std::string& first, const std::string& second) {
    std::string path(pattern);
    for (const std::string& value : {first, second}) {
        const std::size_t open = path.find('{');
        if (open == path.npos) break;
        path.replace(open, path.find('}', open) + 1 - open, value);
    }
    return path;
}

TEST_F(TwoTenants, NothingThatCanBeReadShowsTheOther) {
    int answers = 0;
    const auto look = [&](const std::string& path, const std::string& asked) {
        for (const std::string& token : {a, a_worker}) {
            expect_no_mark(engine.get(token, path), path, asked);
            ++answers;
        }
    };
    for (const http::Contract* contract : http::contracts()) {
        for (const http::Route& route : contract->routes) {
            if (route.verb != http::Verb::get) continue;
            const bool has_healthy_node = route.pattern.find('{') != route.pattern.npos;
            if (!has_healthy_node) {
                look(std::string(route.pattern), "");
                look(std::string(route.pattern) + "?tenant=b", "");
                look(std::string(route.pattern) + "?tenant=", "");
                look(std::string(route.pattern) + "?limit=1", "");
                continue;
            }
            for (const std::string& id : ids()) {
                look(filled(route.pattern, id, id), id);
                look(filled(route.pattern, app_, id), id);
                look(filled(route.pattern, "site", id), id);
                look(filled(route.pattern, id, id) + "?tenant=b", id);
            }
        }
    }
    EXPECT_GT(answers, 1000);
}

TEST_F(TwoTenants, ListsCannotBeBentToTheOther) {
    const Json page = parse(engine.get(b, "/api/v1/jobs?limit=1").body);
    const std::string cursor = text(page, "next_cursor");
    ASSERT_FALSE(cursor.empty());
    for (const std::string& path :
         {"/api/v1/jobs?limit=1&cursor=" + cursor, "/api/v1/jobs?id_prefix=" + running_,
          "/api/v1/jobs?replay_of=" + running_, "/api/jobs?limit=1&cursor=" + cursor,
          std::string("/api/v1/jobs?tenant=b"), std::string("/api/v1/jobs?tenant=b%20"),
          std::string("/api/v1/jobs?tenant=B"), std::string("/api/v1/jobs?tenant=%40sluice"),
          std::string("/api/v1/entities?tenant=%40sluice&kind=access_token"),
          std::string("/api/v1/workers?tenant=b"), std::string("/api/v1/tokens?tenant=b")}) {
        const Response response = engine.get(a, path);
        expect_no_mark(response, path, "");
        if (response.status == 200) {
            EXPECT_EQ(response.body.find(running_), response.body.npos) << path;
        }
    }
}

TEST_F(TwoTenants, IdsOfTheOtherAreLikeIdsOfNothing) {
    const std::string lease_of_nothing =
        std::string(no_such_id) + "-0000000000000001-" + std::string(32, '0');
    for (const std::string& id : {running_, ended_, waiting_}) {
        const auto absent = [&](const char* method, const char* path, const char* body) {
            expect_as_if_absent(method, path, body, id, std::string(no_such_id));
        };
        absent("GET", "/api/v1/jobs/ID", "");
        absent("GET", "/api/v1/jobs/ID/logs", "");
        absent("GET", "/api/v1/jobs/ID/events", "");
        absent("GET", "/api/v1/jobs/ID/explain", "");
        absent("GET", "/api/v1/jobs/ID/stream", "");
        absent("GET", "/api/jobs/ID", "");
        absent("GET", "/api/jobs/ID/logs", "");
        absent("GET", "/api/jobs/ID/stream", "");
        absent("POST", "/api/v1/jobs/ID/cancel", "{}");
        absent("POST", "/api/v1/jobs/ID/replay", "{}");
        absent("POST", "/api/jobs/ID/cancel", "{}");
        absent("POST", "/api/jobs/ID/replay", "{}");
        absent("POST", "/api/v1/jobs", R"({"type":"t","depends_on":["ID"]})");
        absent("POST", "/api/v1/jobs/batch",
               R"({"jobs":[{"type":"t"},{"type":"t","depends_on":["ID"]}]})");
    }
    for (const std::string& id : {running_lease_, ended_lease_}) {
        const auto absent = [&](const char* path, const char* body) {
            expect_as_if_absent("POST", path, body, id, lease_of_nothing);
        };
        absent("/api/v1/leases/ID/heartbeat", "{}");
        absent("/api/v1/leases/ID/logs", R"({"entries":[{"message":"x"}]})");
        absent("/api/v1/leases/ID/report", R"({"outcome":"failed"})");
        absent("/api/v1/leases/ID/release", "{}");
    }
    expect_as_if_absent("GET", "/api/v1/entities/site/ID", "", entity_ids_[0], "nothing");
    expect_as_if_absent("GET", "/api/v1/entities/site/ID/events", "", entity_ids_[0], "nothing");
    expect_as_if_absent("GET", "/api/v1/entities/site/ID/stream", "", entity_ids_[0], "nothing");
    expect_as_if_absent("POST", "/api/v1/entities/site/ID", R"({"attributes":{"x":1}})",
                        entity_ids_[0], "nothing");
    expect_as_if_absent("POST", "/api/v1/sites/ID/reset", "{}", entity_ids_[0], "nothing");
    expect_as_if_absent("POST", "/api/v1/gates/check",
                        R"({"entity_type":"changeset","entity_id":"ID","action":"queue"})",
                        changeset_, std::string(no_such_id));
    expect_as_if_absent("GET", "/api/apps/ID", "", app_, std::string(no_such_id));
    expect_as_if_absent("GET", "/api/apps/ID/changesets", "", app_, std::string(no_such_id));
    expect_as_if_absent("POST", "/api/apps/ID/changesets", R"({"title":"x"})", app_,
                        std::string(no_such_id));
}

TEST_F(TwoTenants, WhatBelongsToTheOtherIsLeftAsItWas) {
    const auto events = [&] { return engine.get(b, "/api/v1/jobs/" + running_ + "/events").body; };
    const std::string before = events();
    for (const char* verb : {"cancel", "replay"}) {
        engine.post(a, "/api/v1/jobs/" + running_ + "/" + verb, {});
    }
    for (const std::string& token : {a, a_worker}) {
        engine.post(token, "/api/v1/leases/" + running_lease_ + "/report",
                    {{"outcome", "succeeded"}});
        const Response many = engine.post(
            token, "/api/v1/leases/report",
            {{"reports", List{Fields{{"lease_id", running_lease_}, {"outcome", "succeeded"}}}}});
        EXPECT_EQ(many.body.find("succeeded"), many.body.npos) << many.body;
    }
    EXPECT_EQ(events(), before);
}

TEST_F(TwoTenants, KeysAreEachTheirOwn) {
    // The same idempotency key is another request here.
    const Response first =
        engine.post(a, "/api/v1/jobs", {{"type", "mine"}, {"exclusive_keys", List{key_.c_str()}}},
                    {{"Idempotency-Key", idempotency_key_}});
    ASSERT_EQ(first.status, 202) << first.body;
    EXPECT_EQ(first.header("Idempotent-Replayed"), "");
    const std::string id = text(parse(first.body), "id");

    // The other's job holds a key of the same name, and blocks no job here.
    const Response explained = engine.get(a, "/api/v1/jobs/" + id + "/explain");
    expect_no_mark(explained, "explain", key_);
    const Json claimed = parse(engine.post(a_worker, "/api/v1/leases", {{"worker_id", "w"}}).body);
    EXPECT_EQ(text(at(list(claimed, "leases").at(0), "job"), "id"), id);

    // And a worker that claims any job gets none of the other's.
    const Json more = parse(engine.post(a_worker, "/api/v1/leases", {{"worker_id", "w"}}).body);
    EXPECT_TRUE(list(more, "leases").empty());
}

TEST_F(TwoTenants, AClaimForTheOtherIsRefused) {
    const Response response =
        engine.post(a_worker, "/api/v1/leases", {{"worker_id", "w"}, {"tenant", "b"}});
    EXPECT_EQ(response.status, 403) << response.body;
    const Response submit = engine.post(a, "/api/v1/jobs", {{"type", "t"}, {"tenant", "b"}});
    EXPECT_EQ(submit.status, 403) << submit.body;
    const Response batch = engine.post(
        a, "/api/v1/jobs/batch",
        {{"jobs", List{Fields{{"type", "t"}}, Fields{{"type", "t"}, {"tenant", "b"}}}}});
    EXPECT_EQ(batch.status, 403) << batch.body;
    for (const char* tenant : {"@sluice", "@"}) {
        const Response own =
            engine.post(engine.admin(), "/api/v1/jobs", {{"type", "t"}, {"tenant", tenant}});
        EXPECT_EQ(own.status, 422) << own.body;
    }
}

TEST_F(TwoTenants, AWorkerIsBoundToItsTypes) {
    const std::string bound =
        engine.token({{"kind", "worker"}, {"tenant", "a"}, {"job_types", List{"build", "test"}}});
    for (const char* type : {"build", "deploy"}) {
        done(engine.post(a, "/api/v1/jobs", {{"type", type}}));
    }
    const Json free = done(
        engine.post(a_worker, "/api/v1/leases", {{"worker_id", "w"}, {"types", List{"deploy"}}}));
    const std::string deploy_lease = text(list(free, "leases").at(0), "lease_id");

    EXPECT_EQ(
        engine
            .post(bound, "/api/v1/leases", {{"worker_id", "w"}, {"types", List{"build", "deploy"}}})
            .status,
        403);
    const Json claimed =
        done(engine.post(bound, "/api/v1/leases", {{"worker_id", "w"}, {"limit", 10}}));
    ASSERT_EQ(list(claimed, "leases").size(), 1u);
    EXPECT_EQ(text(at(list(claimed, "leases").at(0), "job"), "type"), "build");
    for (const char* verb : {"heartbeat", "report", "release"}) {
        EXPECT_EQ(engine
                      .request(bound, "POST", "/api/v1/leases/" + deploy_lease + "/" + verb,
                               verb == std::string("report") ? R"({"outcome":"failed"})" : "{}")
                      .status,
                  404)
            << verb;
    }
    // The history names the token.
    const std::string id = text(at(list(claimed, "leases").at(0), "job"), "id");
    const Json events = parse(engine.get(a, "/api/v1/jobs/" + id + "/events").body);
    EXPECT_EQ(text(at(list(events, "events").at(1), "detail"), "token"), "test");
    EXPECT_EQ(text(list(events, "events").at(0), "actor"), "user:ann");
}

}  // namespace canary_test
}  // namespace sluice::e2e
