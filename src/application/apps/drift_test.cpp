#include "support/app_fixture.hpp"

namespace sluice::apps {
namespace drift_test {

using Parts = std::vector<std::string>;

class Drift : public AppFixture {
  protected:
    Drift() {
        deploy();
        run("msuite_deploy");
        run("deploy_release");
    }

    void deploy() { granted(call(deploy_release, cora, app, prod, release)); }
    void change_profile(const std::string& part, const std::string& value) {
        granted(call(update_profile, cora, app, runtime, Attributes{{part, value}}));
    }
    Parts drifted() {
        const auto reader = engine.store().reader();
        return drifted_parts(reader->entities(), find("environment", prod));
    }
    void check_the_drift(Outcome outcome = Outcome::succeeded, std::string result = "") {
        granted(call(check_drift, cora, app, prod));
        run("runtime_profile_drift_check", outcome, std::move(result));
    }

    std::string release = published_release();
    std::string runtime = profile("persistent_env", {{"env_vars", R"({"A":"1"})"},
                                                     {"secrets", R"({"TOKEN":"hush"})"},
                                                     {"url", R"("https://a")"},
                                                     {"database", R"({"name":"shop"})"}});
    std::string prod = environment(runtime);
};

TEST_F(Drift, IsNotThereAfterADeployment) {
    EXPECT_EQ(drifted(), Parts{});
    deploy();
}

TEST_F(Drift, IsNotThereBeforeAnythingWasValidated) {
    const auto reader = engine.store().reader();
    EXPECT_EQ(drifted_parts(reader->entities(), find("environment", environment(runtime))),
              Parts{});
}

TEST_F(Drift, IsADifferenceInAnyPartOfTheProfile) {
    const std::pair<const char*, const char*> changes[] = {
        {"database", R"({"name":"store"})"},
        {"env_vars", R"({"A":"2"})"},
        {"secrets", R"({"TOKEN":"louder"})"},
        {"url", R"("https://b")"},
    };
    Parts parts;
    for (const auto& [part, value] : changes) {
        change_profile(part, value);
        parts.emplace_back(part);
        EXPECT_EQ(drifted(), parts);
    }
    change_profile("secrets", R"({"TOKEN":"hush"})");
    EXPECT_EQ(drifted(), (Parts{"database", "env_vars", "url"})) << "what is as it was is no drift";
}

TEST_F(Drift, IsAnotherProfile) {
    const std::string other = profile("persistent_env", {{"url", R"("https://a")"}});
    granted(call(update_environment, cora, app, prod,
                 Attributes{{"runtime_profile_id", json_string(other)}}));

    EXPECT_EQ(drifted(), (Parts{"database", "env_vars", "secrets"}));
}

TEST_F(Drift, BlocksADeploymentUntilARevalidationSucceeds) {
    change_profile("url", R"("https://b")");

    const auto refused = call(deploy_release, cora, app, prod, release);
    ASSERT_EQ(refusal(refused), ErrorCode::conflict);
    EXPECT_NE(refused.error().message.find("drifted in url"), std::string::npos);
    EXPECT_NE(refused.error().message.find("drift check"), std::string::npos);

    check_the_drift(Outcome::failed);
    EXPECT_EQ(refusal(call(deploy_release, cora, app, prod, release)), ErrorCode::conflict);
    check_the_drift(Outcome::succeeded, R"({"drift":["url"]})");
    EXPECT_EQ(refusal(call(deploy_release, cora, app, prod, release)), ErrorCode::conflict)
        << "a check that found drift is no revalidation";

    check_the_drift(Outcome::succeeded, R"({"drift":[]})");
    deploy();
}

TEST_F(Drift, IsMeasuredAgainstWhatTheCheckWasToldAbout) {
    change_profile("url", R"("https://b")");
    granted(call(check_drift, cora, app, prod));
    change_profile("env_vars", R"({"A":"9"})");

    run("runtime_profile_drift_check");

    EXPECT_EQ(drifted(), Parts{"env_vars"});
}

TEST_F(Drift, ChecksAreAboutTheEnvironmentAndLeaveItsStateAlone) {
    const auto answer = call(check_drift, cora, app, prod);

    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->jobs.size(), 1u);
    const Job& job = answer->jobs.front();
    EXPECT_EQ(job.spec->type, "runtime_profile_drift_check");
    EXPECT_EQ(job.spec->entity_type, "environment");
    EXPECT_EQ(job.spec->entity_id, prod);
    EXPECT_EQ(text_of(payload_of(job), "runtime_profile_id"), runtime);
    run("runtime_profile_drift_check", Outcome::failed);
    EXPECT_EQ(state("environment", prod), "active");
    EXPECT_EQ(refusal(call(check_drift, rex, app, prod)), ErrorCode::forbidden);
}

// ── migrations ──

TEST_F(Drift, IsNoMigrationThatTheDeploymentItselfHasRun) {
    deploy();
    run("msuite_deploy");

    run("deploy_release", Outcome::succeeded,
        R"({"migrations":[{"id":"0001","status":"applied"},{"id":"0002","status":"failed"}]})");

    EXPECT_EQ(drifted(), Parts{});
    const Entity migration = find("migration", prod + ":1:0001");
    EXPECT_EQ(migration.parent, app);
    EXPECT_EQ(text_of(migration.attributes, "environment_id"), prod);
    EXPECT_EQ(text_of(migration.attributes, "profile_id"), runtime);
    EXPECT_EQ(integer_of(migration.attributes, "profile_revision"), 1);
    EXPECT_EQ(text_of(migration.attributes, "migration_id"), "0001");
    EXPECT_EQ(text_of(migration.attributes, "status"), "applied");
    EXPECT_EQ(text_of(migration.attributes, "job_id"),
              to_text(jobs_of("deploy_release").back().spec->id));
    EXPECT_EQ(time_of(migration.attributes, "at"), engine.now());
    EXPECT_EQ(text_of(find("migration", prod + ":1:0002").attributes, "status"), "failed");
}

TEST_F(Drift, IsAMigrationThatAnotherJobHasApplied) {
    JobSpec migrate = spec("migrate");
    migrate.project = app;
    migrate.entity_type = "environment";
    migrate.entity_id = prod;
    engine.submit(migrate);

    run("migrate", Outcome::succeeded, R"({"migrations":[{"id":"0001","status":"applied"}]})");
    EXPECT_EQ(drifted(), Parts{"migrations"});

    engine.submit(migrate);
    run("migrate", Outcome::failed, R"({"migrations":[{"id":"0001","status":"rolled_back"}]})");
    EXPECT_EQ(drifted(), Parts{}) << "a later report updates the status";
}

TEST_F(Drift, CountsMigrationsOfEveryRevisionOfTheProfile) {
    deploy();
    run("msuite_deploy");
    run("deploy_release", Outcome::succeeded,
        R"({"migrations":[{"id":"0001","status":"applied"}]})");
    change_profile("url", R"("https://b")");

    EXPECT_EQ(drifted(), Parts{"url"});
    check_the_drift();
    deploy();
    run("msuite_deploy");
    run("deploy_release", Outcome::succeeded,
        R"({"migrations":[{"id":"0001","status":"applied"},{"id":"0002","status":"applied"}]})");
    EXPECT_EQ(drifted(), Parts{});
    EXPECT_EQ(integer_of(find("migration", prod + ":2:0002").attributes, "profile_revision"), 2);
}

TEST_F(Drift, TakesNoNoticeOfReportsThatMakeNoSense) {
    for (const char* result : {R"({"migrations":"all"})",
                               R"({"migrations":[7,{"id":"","status":"applied"},{"id":"a"}]})",
                               R"({"migrations":null})", "[]"}) {
        deploy();
        run("msuite_deploy");
        run("deploy_release", Outcome::succeeded, result);
        EXPECT_EQ(drifted(), Parts{}) << result;
    }
    const auto reader = engine.store().reader();
    EXPECT_EQ(reader->entities().count({.kind = "migration"}), 0);
}

}  // namespace drift_test
}  // namespace sluice::apps
