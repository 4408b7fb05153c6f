// Attacks by callers that can reach the engine, which must all fail.
#include <gtest/gtest.h>

#include "application/entities/entity_requests.hpp"
#include "support/app_fixture.hpp"

namespace sluice::apps {
namespace hardening_test {

using namespace std::chrono_literals;

class Hardening : public AppFixture {
  protected:
    // A job that looks like one of the app's own.
    Job forged(const std::string& type, const std::string& entity_type,
               const std::string& entity_id, const Attributes& payload) {
        JobSpec made = spec(type);
        made.project = app;
        made.entity_type = entity_type;
        made.entity_id = entity_id;
        made.payload = to_json(payload);
        return engine.submit(made);
    }
};

TEST_F(Hardening, AReportWithAnEndlessMigrationIdHarmsNobody) {
    const std::string prod = environment();
    forged("migrate", "environment", prod, {});
    run("migrate", Outcome::succeeded,
        R"({"migrations":[{"id":")" + std::string(199, 'm') + R"(","status":"applied"},)" +
            R"({"id":"0002","status":"applied"}]})");

    EXPECT_EQ(text_of(find("migration", prod + ":0:0002").attributes, "status"), "applied");
    EXPECT_EQ(engine.store().reader()->entities().count({.kind = "migration"}), 1);
}

TEST_F(Hardening, AJobOfAnotherAppDoesNotTouchThisOnesMigrations) {
    const std::string prod = environment();
    const std::string report = R"({"migrations":[{"id":"0001","status":"applied"}]})";
    forged("migrate", "environment", prod, {});
    run("migrate", Outcome::succeeded, report);
    const std::string mine = app;
    app = granted(call(create_app, eve, "", Attributes{{"name", R"("other")"}})).key.id;
    forged("migrate", "x", "y", {{"environment_id", json_string(prod)}});

    run("migrate", Outcome::succeeded, R"({"migrations":[{"id":"0001","status":"rolled_back"}]})");

    const Entity migration = find("migration", prod + ":0:0001");
    EXPECT_EQ(migration.parent, mine);
    EXPECT_EQ(text_of(migration.attributes, "status"), "applied");
}

TEST_F(Hardening, ATempEnvironmentThatWasToldToLiveForEverLivesForAMonth) {
    const std::string id =
        granted(call(create_temp_environment, ada, app, Attributes{{"name", R"("t")"}})).key.id;
    const ChangeEntity change{
        {"default", "temp_environment", id}, "", {{"ttl_seconds", "4000000000000"}}};
    granted(call(change_entity, root, change));

    run("temp_env_provision");

    EXPECT_EQ(time_of(find("temp_environment", id).attributes, "expires_at"),
              engine.now() + std::chrono::hours(30 * 24));
}

TEST_F(Hardening, ADeploymentDoesNotStartWhileTheWorkerOfACanceledOneHasNotStopped) {
    const std::string release = published_release();
    const std::string prod = environment();
    granted(call(deploy_release, cora, app, prod, release));
    run("msuite_deploy");
    const Job first = engine.claim_one({.types = {"deploy_release"}});
    ASSERT_TRUE(engine.cancel(first.spec->id));
    granted(call(deploy_release, cora, app, prod, release));
    run("msuite_deploy");

    EXPECT_TRUE(engine.claim({.types = {"deploy_release"}}).empty());
    engine.report(first, Outcome::canceled);
    EXPECT_EQ(engine.claim({.types = {"deploy_release"}}).size(), 1U);
}

TEST_F(Hardening, AJobForADeploymentThatIsNotThereDoesNotStart) {
    const Job job = forged("deploy_release", "deployment", "nope", {});
    EXPECT_TRUE(engine.claim({.types = {"deploy_release"}}).empty());
    const Job ended = engine.find(job.spec->id);
    EXPECT_EQ(ended.now.state, JobState::failed);
    EXPECT_EQ(ended.now.error_code, "RESOURCE_FAILED");
    EXPECT_EQ(ended.now.error_message, "there is no deployment nope, so that the job cannot start");
}

TEST_F(Hardening, AForgedDeploymentChangesNothing) {
    const std::string release = published_release();
    const std::string prod = environment();
    forged("deploy_release", "x", "y",
           {{"environment_id", json_string(prod)},
            {"release_id", json_string(release)},
            {"fingerprint", "{}"}});
    const Entity before = find("environment", prod);

    run("deploy_release");

    EXPECT_EQ(find("environment", prod), before);
    EXPECT_EQ(state("release", release), "published");
}

TEST_F(Hardening, TheCheckOfAnEarlierAssemblyDoesNotOpenTheGateOfALaterOne) {
    queued("h1");
    const std::string id = draft_release();
    granted(call(assemble_release, cora, app, id));
    run("release_assemble");  // its result has no head_sha
    run("msuite_merge");
    queued("h2");
    granted(call(assemble_release, cora, app, id));
    run("release_assemble");

    EXPECT_EQ(refusal(call(publish_release, cora, app, id)), ErrorCode::gate_closed);
    run("msuite_merge");
    EXPECT_TRUE(call(publish_release, cora, app, id));
}

TEST_F(Hardening, AnAppCannotChooseADeployGateThatNothingOpens) {
    for (const char* choice : {"temp", "environments"}) {
        const Attributes settings{{"gates", std::string(R"({"deploy":")") + choice + R"("})"}};
        EXPECT_EQ(refusal(call(update_app, ruth, app, settings)), ErrorCode::invalid) << choice;
    }
}

TEST_F(Hardening, AReplayOnAFailedSiteIsRefused) {
    JobSpec made = spec("env_deploy");
    made.site_id = "s1";
    const Job job = engine.start(made);
    Report failure = report_of(job, Outcome::failed, "EXIT_1");
    failure.error_message = "exit status 1";
    EXPECT_TRUE(engine.ask(failure));
    EXPECT_EQ(refusal(engine.replay(job.spec->id)), ErrorCode::resource_failed);
}

TEST_F(Hardening, OnlyAdminsChangeWhatDeploymentsRunOn) {
    for (const char* kind : {"node", "runtime_node", "deploy_app"}) {
        NewEntity wanted{.key = {"default", kind, "n1"}, .attributes = {{"hostname", R"("h")"}}};
        EXPECT_EQ(refusal(call(create_entity, eve, wanted)), ErrorCode::forbidden) << kind;
        EXPECT_TRUE(call(create_entity, root, wanted)) << kind;
    }
}

TEST_F(Hardening, ANodeRecordHasNothingThatAnsibleWouldEvaluate) {
    for (const char* text : {"{{ lookup('pipe','id') }}", "{% raw %}", "{# c #}"}) {
        const NewEntity wanted{.key = {"default", "node", "n1"},
                               .attributes = {{"hostname", json_string(text)}}};
        EXPECT_EQ(refusal(call(create_entity, root, wanted)), ErrorCode::invalid) << text;
    }
}

}  // namespace hardening_test
}  // namespace sluice::apps
