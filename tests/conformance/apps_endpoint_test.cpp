// Seed 000, section 5 and the API cases of section 9: requests of clients about jobs.
#include "conformance/apps.hpp"

namespace sluice::e2e {
namespace apps_endpoint_test {

class AppsEndpoint : public AppsTest {
  protected:
    std::vector<std::string> listed(const std::string& query) {
        return ids_of(author.list_of(path("/jobs" + query)));
    }
};

TEST_F(AppsEndpoint, JobShowsEveryFieldOfJobResponse) {
    const Fields payload{{"changeset_id", "665a0002aabbccddee000002"}, {"head_sha", "abc123"}};
    const std::string id = enqueue("msuite_submit", {{"entity_type", "changeset"},
                                                     {"entity_id", "665a0002aabbccddee000002"},
                                                     {"payload", payload}});
    const Fields result{{"passed", true}, {"test_count", 42}, {"failures", List{}}};
    succeed("msuite_submit", result);

    const Json shown = author.read(path("/jobs/" + id));

    EXPECT_EQ(shown.as_object().size(), 15u) << serialize(shown);
    EXPECT_EQ(text(shown, "id"), id);
    EXPECT_EQ(text(shown, "app_id"), app);
    EXPECT_EQ(text(shown, "job_type"), "msuite_submit");
    EXPECT_EQ(text(shown, "state"), "succeeded");
    EXPECT_EQ(text(shown, "entity_type"), "changeset");
    EXPECT_EQ(text(shown, "entity_id"), "665a0002aabbccddee000002");
    EXPECT_EQ(at(shown, "payload"), Json(payload));
    EXPECT_EQ(at(shown, "result"), Json(result));
    EXPECT_TRUE(is_null(shown, "error_message"));
    EXPECT_EQ(number(shown, "retry_count"), 0);
    EXPECT_EQ(number(shown, "max_retries"), 3);
    EXPECT_EQ(number(shown, "timeout_ms"), 300'000);
    EXPECT_TRUE(text(shown, "created_at").ends_with("Z"));
    EXPECT_LE(text(shown, "created_at"), text(shown, "started_at"));
    EXPECT_LE(text(shown, "started_at"), text(shown, "completed_at"));
}

TEST_F(AppsEndpoint, AnyMemberMayReadAJobAndTheList) {
    const std::string id = enqueue("msuite_submit");

    for (AppsApi* member : {&author, &reviewer, &manager, &admin}) {
        EXPECT_EQ(text(member->read(path("/jobs/" + id)), "id"), id);
        EXPECT_EQ(ids_of(member->list_of(path("/jobs"))), std::vector{id});
    }
}

TEST_F(AppsEndpoint, JobThatDoesNotExistIs404) {
    for (const std::string id : {"665a1b2c3d4e5f6a7b8c9d0e", "no-id", "665A1B2C3D4E5F6A7B8C9D0E"}) {
        expect_error(author.get(path("/jobs/" + id)), 404, "not_found");
        expect_error(author.get(path("/jobs/" + id + "/logs")), 404, "not_found");
    }
}

TEST_F(AppsEndpoint, JobOfADifferentAppIs404) {
    const std::string other = text(operator_.create("", {{"name", "other"}}), "id");
    const std::string id = enqueue("msuite_submit");
    const std::string of_none = worker.submit_id({{"type", "msuite_submit"}});

    expect_error(operator_.get("/" + other + "/jobs/" + id), 404, "not_found");
    expect_error(operator_.get("/" + other + "/jobs/" + id + "/logs"), 404, "not_found");
    expect_error(operator_.get(path("/jobs/" + of_none)), 404, "not_found");
    EXPECT_EQ(operator_.total("/" + other + "/jobs"), 0);
}

TEST_F(AppsEndpoint, UserWhoIsNotAMemberIs403) {
    const std::string id = enqueue("msuite_submit");

    for (const std::string rest : {"", "/jobs", "/members", "/changesets", "/releases"}) {
        expect_error(stranger.get(path(rest)), 403, "forbidden");
    }
    expect_error(stranger.get(path("/jobs/" + id)), 403, "forbidden");
    expect_error(stranger.get(path("/jobs/" + id + "/logs")), 403, "forbidden");
    expect_error(stranger.post(path("/changesets"), {{"title", "mine"}}), 403, "forbidden");
}

TEST_F(AppsEndpoint, AppThatDoesNotExistIs404) {
    for (const std::string id : {"665a0001aabbccddee000001", "shop"}) {
        expect_error(author.get("/" + id), 404, "not_found");
        expect_error(author.get("/" + id + "/jobs"), 404, "not_found");
        expect_error(author.post("/" + id + "/changesets", {}), 404, "not_found");
    }
}

TEST_F(AppsEndpoint, ListIsTwentyFromThePageOneUnlessAskedOtherwise) {
    for (int i = 0; i < 25; ++i) enqueue("msuite_submit");

    const Json answer = author.list_answer(path("/jobs"));

    EXPECT_EQ(list(answer, "data").size(), 20u);
    EXPECT_EQ(at(answer, "pagination"), Json(Fields{{"page", 1}, {"limit", 20}, {"total", 25}}));
}

// Case 18.
TEST_F(AppsEndpoint, ListJobsPagination) {
    std::vector<std::string> newest_first;
    for (int i = 0; i < 25; ++i) newest_first.insert(newest_first.begin(), enqueue("msuite_merge"));

    const Json answer = author.list_answer(path("/jobs?page=2&limit=10"));

    EXPECT_EQ(ids_of(list(answer, "data")),
              std::vector(newest_first.begin() + 10, newest_first.begin() + 20));
    EXPECT_EQ(at(answer, "pagination"), Json(Fields{{"page", 2}, {"limit", 10}, {"total", 25}}));
    EXPECT_EQ(listed("?page=3&limit=10").size(), 5u);
    EXPECT_TRUE(listed("?page=4&limit=10").empty());
}

TEST_F(AppsEndpoint, LimitIsAtMostAHundred) {
    std::vector<Fields> jobs(101, Fields{{"type", "msuite_submit"}, {"project", app}});
    worker.submit_batch(jobs);

    const Json answer = author.list_answer(path("/jobs?limit=101"));

    EXPECT_EQ(list(answer, "data").size(), 100u);
    EXPECT_EQ(at(answer, "pagination"), Json(Fields{{"page", 1}, {"limit", 100}, {"total", 101}}));
}

// Case 16.
TEST_F(AppsEndpoint, ListJobsWithTypeFilter) {
    const std::string first = enqueue("msuite_submit");
    enqueue("deploy_release");
    const std::string second = enqueue("msuite_submit");

    EXPECT_EQ(listed("?type=msuite_submit"), (std::vector{second, first}));
    EXPECT_EQ(author.total(path("/jobs?type=msuite_submit")), 2);
}

// Case 17.
TEST_F(AppsEndpoint, ListJobsWithStateFilter) {
    const std::string done = enqueue("msuite_submit");
    succeed("msuite_submit");
    const std::string running = enqueue("msuite_submit");
    claim("msuite_submit");
    const std::string waiting = enqueue("msuite_submit");

    EXPECT_EQ(listed("?state=queued"), std::vector{waiting});
    EXPECT_EQ(listed("?state=running"), std::vector{running});
    EXPECT_EQ(listed("?state=succeeded"), std::vector{done});
    EXPECT_EQ(listed("?state=queued&type=msuite_merge"), std::vector<std::string>());
    EXPECT_EQ(author.total(path("/jobs?state=queued")), 1);
}

TEST_F(AppsEndpoint, CanceledFindsWhatRanOutOfTimeToo) {
    const std::string canceled = enqueue("msuite_submit");
    expect_ok(worker.cancel(canceled));
    const std::string late = enqueue("msuite_submit", {{"timeout_ms", 1}});
    claim("msuite_submit");
    ASSERT_TRUE(eventually([&] { return job_state(late) == "canceled"; }));

    EXPECT_EQ(listed("?state=canceled"), (std::vector{late, canceled}));
    EXPECT_EQ(author.total(path("/jobs?state=canceled")), 2);
}

TEST_F(AppsEndpoint, ParametersThatMeanNothingAreAValidationError) {
    for (const std::string query :
         {"page=0", "page=x", "page=-1", "limit=0", "limit=x", "limit=", "type=unknown",
          "type=", "state=done", "state=timed_out", "state=QUEUED", "page=1&page=2"}) {
        expect_error(author.get(path("/jobs?" + query)), 400, "validation_error");
    }
}

TEST_F(AppsEndpoint, LogsShowEveryFieldOfJobLogResponse) {
    const std::string id = enqueue("msuite_submit");
    const Json lease = claim("msuite_submit");
    const Fields data{{"suite", "config_validation"}, {"test_count", 42}};
    expect_ok(
        worker.log(lease, List{Fields{{"level", "info"}, {"message", "started"}, {"data", data}},
                               Fields{{"level", "warn"}, {"message", "slow"}}}));

    const Json answer = author.list_answer(path("/jobs/" + id + "/logs"));

    EXPECT_EQ(at(answer, "pagination"), Json(Fields{{"page", 1}, {"limit", 20}, {"total", 2}}));
    const List lines = list(answer, "data");
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].as_object().size(), 6u) << serialize(lines[0]);
    EXPECT_EQ(text(lines[0], "id").size(), 24u);
    EXPECT_EQ(text(lines[0], "id").find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_LT(text(lines[0], "id"), text(lines[1], "id"));
    EXPECT_EQ(text(lines[0], "job_id"), id);
    EXPECT_EQ(text(lines[0], "level"), "info");
    EXPECT_EQ(text(lines[0], "message"), "started");
    EXPECT_EQ(at(lines[0], "data"), Json(data));
    EXPECT_TRUE(text(lines[0], "timestamp").ends_with("Z"));
    EXPECT_TRUE(is_null(lines[1], "data"));
}

TEST_F(AppsEndpoint, LogsComeInPages) {
    const std::string id = enqueue("msuite_submit");
    const Json lease = claim("msuite_submit");
    List entries;
    for (int i = 1; i <= 25; ++i) entries.emplace_back(Fields{{"message", std::to_string(i)}});
    expect_ok(worker.log(lease, entries));

    const List page = author.list_of(path("/jobs/" + id + "/logs?page=3&limit=10"));

    ASSERT_EQ(page.size(), 5u);
    EXPECT_EQ(text(page.front(), "message"), "21");
    EXPECT_EQ(text(page.back(), "message"), "25");
}

TEST_F(AppsEndpoint, PathsAndMethodsThatAreNotThereAreRefusedInTheSameForm) {
    Client http(engine->port());

    expect_error(http.get("/api/apps/x/y/z/w"), 404, "not_found");
    const Response response = http.request("DELETE", "/api/apps/" + app, "");
    expect_error(response, 405, "method_not_allowed");
    EXPECT_NE(response.header("Allow").find("PATCH"), std::string::npos);
    expect_error(http.post("/api/apps", "name=shop", {{"Content-Type", "text/plain"}}), 415,
                 "unsupported_media_type");
    expect_error(http.post("/api/apps", "{}", {{"Origin", "https://elsewhere.example"}}), 403,
                 "forbidden");
}

TEST_F(AppsEndpoint, BodiesThatCannotBeReadAreAValidationErrorAndChangeNothing) {
    Client http(engine->port());
    const std::string changesets = "/api/apps" + path("/changesets");

    for (const std::string body :
         {"{", "[]", "1", R"({"title":[]})", R"({"title":""})", R"({"title":"a","title":"b"})",
          R"({"head_sha":{}})", R"({"runtime_profile_id":"x"})"}) {
        expect_error(http.post(changesets, body), 400, "validation_error");
    }
    const std::string long_text(10'001, 'x');
    expect_error(http.post(changesets, R"({"description":")" + long_text + "\"}"), 413,
                 "validation_error");
    EXPECT_EQ(author.total(path("/changesets")), 0);
}

TEST_F(AppsEndpoint, UserWhoseNameCannotBeOneIsRefused) {
    Client http(engine->port());
    for (const std::string& name : {std::string(), std::string("\xff"), std::string(201, 'a')}) {
        expect_error(http.get("/api/apps", {{"X-Sluice-User", name}}), 400, "validation_error");
    }
}

TEST_F(AppsEndpoint, AdminsSeeTheJobsOfAProjectThatIsNoApp) {
    const std::string project = "665a0001aabbccddee000001";
    EXPECT_EQ(operator_.get("/" + project + "/jobs").status, 404);
    const std::string id =
        text(worker.submit({{"type", "msuite_submit"}, {"project", project}}), "id");

    EXPECT_EQ(operator_.total("/" + project + "/jobs"), 1);
    EXPECT_EQ(text(operator_.read("/" + project + "/jobs/" + id), "app_id"), project);
    EXPECT_EQ(author.get("/" + project + "/jobs/" + id).status, 404);
}

}  // namespace apps_endpoint_test
}  // namespace sluice::e2e
