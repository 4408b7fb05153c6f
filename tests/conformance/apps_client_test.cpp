// Seed 000 as its client calls it: with its own texts, and with members that are unknown here.
#include "conformance/apps.hpp"

namespace sluice::e2e {
namespace apps_client_test {

class AppsClient : public AppsTest {
  protected:
    // Sends a request of a user, byte for byte. The path is relative to /api/apps.
    Response send(const std::string& user, const std::string& path, const std::string& body,
                  const std::string& verb = "POST") {
        Headers headers{{"X-Sluice-User", user}, {"Accept", "application/json"}};
        return Client(engine->port()).request(verb, "/api/apps" + path, body, headers);
    }

    Json sent(const std::string& user, const std::string& path, const std::string& body,
              int status) {
        const Response response = send(user, path, body);
        EXPECT_EQ(response.status, status) << path << ' ' << response.body;
        return at(parse(response.body), "data");
    }

    std::string job_type(const std::string& id) { return text(job(id), "job_type"); }
};

TEST_F(AppsClient, MakesAppsWithARepositoryAndABranch) {
    const Json made = sent("ada", "",
                           R"({"name":"till","repo_path":"group/till.git",)"
                           R"("integration_branch":"main","visibility":"private"})",
                           201);

    EXPECT_EQ(text(made, "repo_path"), "group/till.git");
    EXPECT_EQ(text(made, "integration_branch"), "main");
    EXPECT_FALSE(made.as_object().contains("visibility"));
    const std::string path = "/" + text(made, "id");
    const Response changed = send("ada", path, R"({"integration_branch":"trunk"})", "PATCH");
    EXPECT_EQ(changed.status, 200) << changed.body;
    EXPECT_EQ(text(author.read(path), "integration_branch"), "trunk");
    EXPECT_EQ(text(author.read(path), "repo_path"), "group/till.git");
}

TEST_F(AppsClient, NamesMembersByUserIdAndReviewsByAction) {
    const Json member =
        sent("zoe", path("/members"), R"({"user_id":"uma","role":"reviewer","notify":true})", 201);
    EXPECT_EQ(member, Json(Fields{{"user", "uma"}, {"role", "reviewer"}}));
    const Json changeset = checked();

    const Json reviewed = sent("uma", changeset_path(changeset, "review"),
                               R"({"action":"approve","comment":"good"})", 200);

    EXPECT_EQ(text(reviewed, "state"), "approved");
    EXPECT_EQ(text(list(reviewed, "reviews").at(0), "decision"), "approve");
    const std::string unclear = R"({"action":"approve","decision":"reject"})";
    expect_error(send("rex", changeset_path(changeset, "review"), unclear), 400,
                 "validation_error");
    expect_error(send("rex", changeset_path(changeset, "review"), R"({"action":"wave"})"), 400,
                 "validation_error");
}

TEST_F(AppsClient, MakesTempEnvironmentsFromAKindAndASource) {
    const std::string changeset = text(draft(), "id");
    const std::string temp_envs = path("/temp-envs");

    const Json made = sent("ada", temp_envs,
                           R"({"kind":"changeset","source_id":")" + changeset +
                               R"(","ttl_seconds":"3600","region":"eu"})",
                           201);
    EXPECT_EQ(text(made, "changeset_id"), changeset);
    EXPECT_EQ(number(made, "ttl_seconds"), 3600);
    EXPECT_EQ(text(at(job(text(made, "job_id")), "payload"), "changeset_id"), changeset);

    const Json workspace =
        sent("ada", temp_envs, R"({"kind":"workspace","source_id":"ws-7"})", 201);
    EXPECT_EQ(text(workspace, "source_id"), "ws-7");
    EXPECT_EQ(text(at(job(text(workspace, "job_id")), "payload"), "source_id"), "ws-7");

    for (const char* wrong :
         {R"({"kind":"changeset","source_id":"ws-7"})", R"({"kind":"moon","source_id":"x"})",
          R"({"kind":"changeset","source_id":"665a0002aabbccddee000002"})"}) {
        expect_error(send("ada", temp_envs, wrong), 400, "validation_error");
    }
}

TEST_F(AppsClient, GivesEnvVarsATypeAndAValue) {
    const Json profile =
        sent("mia", path("/runtime-profiles"),
             R"({"name":"prod","kind":"persistent_env","env_vars":{)"
             R"("PORT":{"value":8080,"type":"number","hint":"x"},"MODE":"fast","WORKERS":4}})",
             201);

    EXPECT_EQ(at(profile, "env_vars"),
              Json(Fields{{"MODE", "fast"},
                          {"PORT", Fields{{"type", "number"}, {"value", 8080}}},
                          {"WORKERS", "4"}}));
    const std::string one = path("/runtime-profiles/" + text(profile, "id"));
    const Response changed =
        send("mia", one, R"({"env_vars":{"PORT":{"type":"number","value":8081}}})", "PATCH");
    EXPECT_EQ(changed.status, 200) << changed.body;
    EXPECT_EQ(number(at(parse(changed.body), "data"), "profile_revision"), 2);
    const std::string message =
        expect_error(send("mia", one, R"({"env_vars":{"PORT":{"type":"number"}}})", "PATCH"), 400,
                     "validation_error");
    EXPECT_NE(message.find("env_vars/PORT/value"), std::string::npos) << message;
}

TEST_F(AppsClient, QueueingStartsMsuiteMergeOnceAndPublishAsksForThatOfTheRelease) {
    const Json changeset = approved();

    const Json answer = sent("mia", changeset_path(changeset, "queue"), "", 200);

    ASSERT_EQ(list(answer, "job_ids").size(), 1u);
    const Json merge = job(text(answer, "job_id"));
    EXPECT_EQ(text(merge, "job_type"), "msuite_merge");
    EXPECT_EQ(text(merge, "entity_type"), "changeset");
    EXPECT_EQ(text(merge, "entity_id"), text(changeset, "id"));
    EXPECT_EQ(at(merge, "payload"), Json(Fields{{"changeset_id", at(changeset, "id")},
                                                {"head_sha", "abc123"},
                                                {"base_sha", "789012"}}));
    succeed("msuite_merge");
    const Json release = sent("mia", path("/releases"), "", 201);
    sent("mia", release_path(release, "assemble"), "", 200);
    succeed("release_assemble");
    expect_error(send("mia", release_path(release, "publish"), ""), 409, "conflict");
    EXPECT_EQ(author.total(path("/jobs?type=msuite_merge")), 2) << "the changeset's, the release's";
    succeed("msuite_merge");
    sent("mia", release_path(release, "publish"), "", 200);
}

// From an app to a release that is deployed everywhere, with only the requests of its client.
TEST_F(AppsClient, PlaysTheStagedFlowFromAnAppToDeployedFull) {
    app = text(sent("zoe", "",
                    R"({"name":"till","repo_path":"group/till.git","integration_branch":"main",)"
                    R"("created_via":"cli","tags":["a","b"]})",
                    201),
               "id");
    for (const char* member :
         {R"({"user_id":"ada","role":"user"})", R"({"user_id":"rex","role":"reviewer"})",
          R"({"user_id":"mia","role":"config_manager","invited_by":"zoe"})"}) {
        sent("zoe", path("/members"), member, 201);
    }
    const auto make_profile = [&](const std::string& kind) {
        return text(sent("mia", path("/runtime-profiles"),
                         R"({"name":")" + kind + R"(","kind":")" + kind +
                             R"(","env_vars":{"MODE":{"type":"string","value":"x"}},"color":1})",
                         201),
                    "id");
    };
    const std::string temp = make_profile("temp_changeset");
    const std::string persistent = make_profile("persistent_env");
    const Json production =
        sent("mia", path("/environments"),
             R"({"name":"production","runtime_profile_id":")" + persistent + R"(","position":"1"})",
             201);

    const Json changeset = sent("ada", path("/changesets"),
                                R"({"title":"prices","description":"new ones","head_sha":"abc123",)"
                                R"("base_sha":"789012","workspace_id":"ws-1"})",
                                201);
    const Json preview = sent("ada", path("/temp-envs"),
                              R"({"kind":"changeset","source_id":")" + text(changeset, "id") +
                                  R"(","runtime_profile_id":")" + temp + "\"}",
                              201);
    succeed("temp_env_provision", {{"url", "https://preview.example.com"}});
    EXPECT_EQ(text(author.read(path("/temp-envs/" + text(preview, "id"))), "state"), "active");

    const Json submitted =
        sent("ada", changeset_path(changeset, "submit"), R"({"message":"please"})", 200);
    EXPECT_EQ(job_type(text(submitted, "job_id")), "msuite_submit");
    expect_error(send("rex", changeset_path(changeset, "review"), R"({"action":"approve"})"), 409,
                 "conflict");
    succeed("msuite_submit", {{"passed", true}});
    sent("rex", changeset_path(changeset, "review"), R"({"action":"approve","labels":[]})", 200);
    const Json queued = sent("mia", changeset_path(changeset, "queue"), R"({"position":1})", 200);
    EXPECT_EQ(job_type(text(queued, "job_id")), "msuite_merge");
    succeed("msuite_merge", {{"passed", true}});

    const Json release = sent("mia", path("/releases"), "", 201);
    EXPECT_EQ(text(release, "state"), "draft_release");
    const Json assembling = sent("mia", release_path(release, "assemble"), "", 200);
    EXPECT_EQ(list(assembling, "changeset_ids"), List{at(changeset, "id")});
    succeed("release_assemble", {{"head_sha", "feed01"}});
    expect_error(send("mia", release_path(release, "publish"), ""), 409, "conflict");
    succeed("msuite_merge", {{"passed", true}});
    EXPECT_EQ(text(sent("mia", release_path(release, "publish"), "{}", 200), "state"), "published");
    EXPECT_EQ(text(author.read(changeset_path(changeset)), "state"), "released");

    const Json deployment =
        sent("mia", path("/environments/" + text(production, "id") + "/deploy"),
             R"({"release_id":")" + text(release, "id") + R"(","dry_run":"false"})", 201);
    EXPECT_FALSE(text(deployment, "job_id").empty());
    succeed("msuite_deploy", {{"passed", true}});
    succeed("deploy_release");
    EXPECT_EQ(text(author.read(path("/deployments/" + text(deployment, "id"))), "state"),
              "succeeded");
    EXPECT_EQ(text(author.read(release_path(release)), "state"), "deployed_full");
    EXPECT_EQ(author.total(path("/jobs?state=succeeded&type=msuite_merge&verbose=1")), 2);
    EXPECT_EQ(author.total(path("/jobs?state=failed&type=msuite_merge")), 0);
}

}  // namespace apps_client_test
}  // namespace sluice::e2e
