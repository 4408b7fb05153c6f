// The facts about environments, deployments, runtime profiles, drift and temp environments.
#include "conformance/apps.hpp"

namespace sluice::e2e {
namespace apps_environments_test {

class AppsEnvironments : public AppsTest {
  protected:
    std::string in(const Json& environment, const std::string& action = {}) const {
        return path("/environments/" + text(environment, "id") + action);
    }
    std::string profile_path(const Json& profile) const {
        return path("/runtime-profiles/" + text(profile, "id"));
    }

    // An environment to which this release was deployed.
    Json deployed(const Json& release, const Fields& profile_fields = {},
                  const Fields& result = {}) {
        const Json persistent = profile("persistent_env", profile_fields);
        const Json production = environment({{"runtime_profile_id", at(persistent, "id")}});
        deploy(production, release);
        succeed("msuite_deploy");
        succeed("deploy_release", result);
        return author.read(in(production));
    }

    Response try_deploy(const Json& environment, const Json& release) {
        return manager.post(in(environment, "/deploy"), {{"release_id", at(release, "id")}});
    }
};

using AppsDeployments = AppsEnvironments;
using AppsDrift = AppsEnvironments;
using AppsProfiles = AppsEnvironments;
using AppsTempEnvironments = AppsEnvironments;

TEST_F(AppsDeployments, Answer201WithTheDeploymentAndItsJob) {
    const Json release = published();
    const Json production = environment();

    const Json deployment = deploy(production, release);

    EXPECT_EQ(text(deployment, "state"), "pending");
    EXPECT_EQ(text(deployment, "environment_id"), text(production, "id"));
    EXPECT_EQ(text(deployment, "release_id"), text(release, "id"));
    const Json run = job(text(deployment, "job_id"));
    EXPECT_EQ(text(run, "job_type"), "deploy_release");
    EXPECT_EQ(text(run, "entity_type"), "deployment");
    EXPECT_EQ(text(run, "entity_id"), text(deployment, "id"));
    EXPECT_EQ(ids_of(author.list_of(path("/deployments?state=pending"))),
              std::vector{text(deployment, "id")});
}

TEST_F(AppsDeployments, GoFromPendingOverRunningToSucceeded) {
    const Json production = environment();
    const std::string deployment =
        path("/deployments/" + text(deploy(production, published()), "id"));
    succeed("msuite_deploy");
    EXPECT_EQ(text(author.read(deployment), "state"), "pending");

    const Json lease = claim("deploy_release");
    EXPECT_EQ(text(author.read(deployment), "state"), "running");
    expect_ok(worker.succeed(lease));

    EXPECT_EQ(text(author.read(deployment), "state"), "succeeded");
}

TEST_F(AppsDeployments, FailWhenTheirJobHasFailedForGood) {
    const std::string deployment =
        path("/deployments/" + text(deploy(environment(), published()), "id"));
    succeed("msuite_deploy");

    fail("deploy_release", true);
    EXPECT_EQ(text(author.read(deployment), "state"), "running");
    fail("deploy_release", true);

    EXPECT_EQ(text(author.read(deployment), "state"), "failed");
}

TEST_F(AppsDeployments, SecondActiveOneOnTheSameEnvironmentIs409) {
    const Json release = published();
    const Json production = environment();
    deploy(production, release);

    expect_error(try_deploy(production, release), 409, "conflict");
    succeed("msuite_deploy");
    const Json lease = claim("deploy_release");
    expect_error(try_deploy(production, release), 409, "conflict");
    EXPECT_EQ(try_deploy(environment({{"name", "staging"}}), release).status, 201);
    expect_ok(worker.succeed(lease));
    EXPECT_EQ(try_deploy(production, release).status, 201);
}

TEST_F(AppsDeployments, OfManyAtOnceOnOneEnvironmentOneIsTaken) {
    const Json release = published();
    const Json production = environment();
    std::vector<int> statuses(6);

    in_parallel(6, [&](int i) {
        AppsApi client(engine->port(), "mia");
        statuses[static_cast<std::size_t>(i)] =
            client.post(in(production, "/deploy"), {{"release_id", at(release, "id")}}).status;
    });

    EXPECT_EQ(std::count(statuses.begin(), statuses.end(), 201), 1);
    EXPECT_EQ(std::count(statuses.begin(), statuses.end(), 409), 5);
    EXPECT_EQ(author.total(path("/deployments")), 1);
}

TEST_F(AppsDeployments, AreAskedForByConfigManagersWithARelease) {
    const Json release = published();
    const Json production = environment();

    expect_error(author.post(in(production, "/deploy"), {{"release_id", at(release, "id")}}), 403,
                 "forbidden");
    expect_error(manager.post(in(production, "/deploy")), 400, "validation_error");
    expect_error(
        manager.post(in(production, "/deploy"), {{"release_id", "665a0002aabbccddee000002"}}), 404,
        "not_found");
    expect_error(manager.post(path("/environments/665a0002aabbccddee000002/deploy"),
                              {{"release_id", at(release, "id")}}),
                 404, "not_found");
}

TEST_F(AppsProfiles, HaveOneOfThreeKinds) {
    for (const char* kind : {"persistent_env", "temp_workspace", "temp_changeset"}) {
        EXPECT_EQ(text(profile(kind), "kind"), kind);
    }
    expect_error(manager.post(path("/runtime-profiles"), {{"name", "x"}, {"kind", "other"}}), 400,
                 "validation_error");
    expect_error(manager.post(path("/runtime-profiles"), {{"name", "x"}}), 400, "validation_error");
    expect_error(author.post(path("/runtime-profiles"), {{"kind", "temp_workspace"}}), 403,
                 "forbidden");
    EXPECT_EQ(author.total(path("/runtime-profiles")), 3);
}

TEST_F(AppsProfiles, NeverShowSecretsNorHandThemToJobs) {
    const Json kept = profile("temp_changeset", {{"secrets", {{"API_KEY", "hush-hush"}}}});
    const Json changed =
        parse(manager.patch(profile_path(kept), {{"secrets", {{"API_KEY", "hush-again"}}}}).body);
    const Json changeset = submitted();

    const std::string seen =
        serialize(kept) + serialize(changed) + author.get(profile_path(kept)).body +
        author.get(path("/runtime-profiles")).body + serialize(job(text(changeset, "job_id")));
    EXPECT_EQ(seen.find("hush"), std::string::npos) << seen;
    EXPECT_NE(seen.find("API_KEY"), std::string::npos);
}

TEST_F(AppsProfiles, CountTheirRevisions) {
    const Json fresh = profile("persistent_env", {{"url", "https://a.example"}});
    EXPECT_EQ(number(fresh, "profile_revision"), 1);

    expect_ok(manager.patch(profile_path(fresh), {{"name", "renamed"}}));
    EXPECT_EQ(number(author.read(profile_path(fresh)), "profile_revision"), 1);
    expect_ok(manager.patch(profile_path(fresh), {{"url", "https://b.example"}}));
    EXPECT_EQ(number(author.read(profile_path(fresh)), "profile_revision"), 2);
}

TEST_F(AppsProfiles, KeepASecretThatIsSentBackAsItWasShown) {
    const Json made =
        profile("persistent_env", {{"env_vars", {{"AUTH_TOKEN", "hush"}, {"MODE", "a"}}}});
    Json shown = at(author.read(profile_path(made)), "env_vars");
    EXPECT_EQ(text(shown, "AUTH_TOKEN"), "***");

    expect_ok(manager.patch(profile_path(made), {{"env_vars", shown}}));
    EXPECT_EQ(number(author.read(profile_path(made)), "profile_revision"), 1) << "nothing changed";
    shown.as_object()["MODE"] = "b";
    expect_ok(manager.patch(profile_path(made), {{"env_vars", shown}}));

    EXPECT_EQ(number(author.read(profile_path(made)), "profile_revision"), 2);
    expect_error(manager.patch(profile_path(made), {{"env_vars", {{"NEW_TOKEN", "***"}}}}), 400,
                 "validation_error");
}

TEST_F(AppsDrift, IsADifferenceInAnyPartOfTheProfileAndBlocksADeploy) {
    const Json release = published();
    const Json production = deployed(release, {{"env_vars", {{"MODE", "a"}}}});
    const std::string of_profile =
        path("/runtime-profiles/" + text(production, "runtime_profile_id"));
    EXPECT_EQ(flag(author.read(in(production, "/drift")), "drifted"), false);
    const std::vector<std::pair<std::string, Json>> changes{
        {"env_vars", Fields{{"MODE", "b"}}},
        {"secrets", Fields{{"KEY", "s"}}},
        {"url", "https://b.example"},
        {"database", Fields{{"host", "db2"}, {"port", 5432}}}};

    for (const auto& [part, value] : changes) {
        expect_ok(manager.patch(of_profile, {{part, value}}));

        const Json drift = author.read(in(production, "/drift"));
        EXPECT_TRUE(flag(drift, "drifted")) << part;
        EXPECT_EQ(list(drift, "parts"), List{Json(part)});
        const std::string message = expect_error(try_deploy(production, release), 409, "conflict");
        EXPECT_NE(message.find(part), std::string::npos) << message;
        const Response check = manager.post(in(production, "/drift-check"));
        EXPECT_EQ(check.status, 202) << check.body;
        const std::string id = succeed("runtime_profile_drift_check", {{"drift", List{}}});
        EXPECT_EQ(text(at(parse(check.body), "data"), "job_id"), id);
        EXPECT_FALSE(flag(author.read(in(production, "/drift")), "drifted")) << part;
    }
    EXPECT_EQ(try_deploy(production, release).status, 201);
}

TEST_F(AppsDrift, StaysWhileTheRevalidationHasNotSucceeded) {
    const Json release = published();
    const Json production = deployed(release);
    expect_ok(manager.patch(path("/runtime-profiles/" + text(production, "runtime_profile_id")),
                            {{"url", "https://b.example"}}));
    manager.post(in(production, "/drift-check"));

    expect_error(try_deploy(production, release), 409, "conflict");
    fail("runtime_profile_drift_check");

    expect_error(try_deploy(production, release), 409, "conflict");
    EXPECT_TRUE(flag(author.read(in(production, "/drift")), "drifted"));
}

TEST_F(AppsDrift, IsADifferenceInTheSetOfAppliedMigrationsToo) {
    const Json release = published();
    const Json production = deployed(release);
    enqueue("temp_env_provision", {{"entity_type", "environment"},
                                   {"entity_id", at(production, "id")},
                                   {"payload", {{"environment_id", at(production, "id")}}}});
    succeed("temp_env_provision",
            {{"migrations", List{Fields{{"id", "0007_by_hand"}, {"status", "applied"}}}}});

    EXPECT_EQ(list(author.read(in(production, "/drift")), "parts"), List{"migrations"});
    expect_error(try_deploy(production, release), 409, "conflict");
}

TEST_F(AppsDrift, ChecksAreAskedForByConfigManagers) {
    const Json production = environment();

    expect_error(author.post(in(production, "/drift-check")), 403, "forbidden");
    EXPECT_EQ(manager.post(in(production, "/drift-check")).status, 202);
}

TEST_F(AppsEnvironments, KeepAppliedMigrationsByProfileRevision) {
    const Json release = published();
    const List migrations{Fields{{"id", "0001_users"}, {"status", "applied"}},
                          Fields{{"id", "0002_orders"}, {"status", "failed"}}};
    const Json production = deployed(release, {}, {{"migrations", migrations}});

    const Json answer = author.list_answer(in(production, "/migrations"));

    EXPECT_EQ(number(at(answer, "pagination"), "total"), 2);
    for (const Json& migration : list(answer, "data")) {
        EXPECT_EQ(text(migration, "app_id"), app);
        EXPECT_EQ(text(migration, "environment_id"), text(production, "id"));
        EXPECT_EQ(text(migration, "profile_id"), text(production, "runtime_profile_id"));
        EXPECT_EQ(number(migration, "profile_revision"), 1);
        EXPECT_EQ(text(job(text(migration, "job_id")), "job_type"), "deploy_release");
        const bool first = text(migration, "migration_id") == "0001_users";
        EXPECT_EQ(text(migration, "status"), first ? "applied" : "failed");
        EXPECT_TRUE(text(migration, "at").ends_with("Z"));
    }
    EXPECT_EQ(author.total(in(environment({{"name", "staging"}}), "/migrations")), 0);
}

TEST_F(AppsEnvironments, AreMadeAndChangedByConfigManagers) {
    const Json persistent = profile("persistent_env");
    const Json production = environment();
    expect_error(author.post(path("/environments"), {{"name", "mine"}}), 403, "forbidden");
    expect_error(manager.post(path("/environments"),
                              {{"runtime_profile_id", at(profile("temp_workspace"), "id")}}),
                 400, "validation_error");

    expect_ok(manager.patch(in(production), {{"runtime_profile_id", at(persistent, "id")}}));

    EXPECT_EQ(text(author.read(in(production)), "runtime_profile_id"), text(persistent, "id"));
    expect_ok(manager.patch(in(production), {{"runtime_profile_id", nullptr}}));
    EXPECT_FALSE(author.read(in(production)).as_object().contains("runtime_profile_id"));
    EXPECT_EQ(author.total(path("/environments")), 1);
}

TEST_F(AppsTempEnvironments, EnqueueTempEnvProvision) {
    const Json temp = author.create(path("/temp-envs"), {{"name", "try"}, {"ttl_seconds", 3600}});
    const std::string at_path = path("/temp-envs/" + text(temp, "id"));
    EXPECT_EQ(text(temp, "state"), "provisioning");
    EXPECT_EQ(text(job(text(temp, "job_id")), "job_type"), "temp_env_provision");

    succeed("temp_env_provision", {{"url", "https://try.example"}});

    const Json active = author.read(at_path);
    EXPECT_EQ(text(active, "state"), "active");
    EXPECT_EQ(text(active, "url"), "https://try.example");
    EXPECT_FALSE(is_null(active, "expires_at"));
    EXPECT_EQ(ids_of(author.list_of(path("/temp-envs?state=active"))),
              std::vector{text(temp, "id")});
}

TEST_F(AppsTempEnvironments, ExpiryEnqueuesTempEnvExpire) {
    const Json temp = author.create(path("/temp-envs"), {{"ttl_seconds", 3600}});
    const std::string at_path = path("/temp-envs/" + text(temp, "id"));
    expect_error(author.post(at_path + "/expire"), 409, "invalid_transition");
    succeed("temp_env_provision");
    EXPECT_EQ(author.total(path("/jobs?type=temp_env_expire&state=queued")), 1);
    EXPECT_FALSE(is_claimable("temp_env_expire"));

    author.act(at_path + "/expire");
    const Json lease = claim("temp_env_expire");
    EXPECT_EQ(text(author.read(at_path), "state"), "expiring");
    expect_ok(worker.succeed(lease));

    EXPECT_EQ(text(author.read(at_path), "state"), "expired");
}

TEST_F(AppsTempEnvironments, WhoseProvisioningFailsAreFailed) {
    const Json temp = author.create(path("/temp-envs"));

    fail("temp_env_provision");

    EXPECT_EQ(text(author.read(path("/temp-envs/" + text(temp, "id"))), "state"), "failed");
    for (const Fields& wrong : {Fields{{"ttl_seconds", 1}}, Fields{{"ttl_seconds", "1h"}},
                                Fields{{"changeset_id", "665a0002aabbccddee000002"}}}) {
        expect_error(author.post(path("/temp-envs"), wrong), 400, "validation_error");
    }
}

}  // namespace apps_environments_test
}  // namespace sluice::e2e
