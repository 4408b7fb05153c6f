#include "support/app_fixture.hpp"

namespace sluice::apps {
namespace deployments_test {

using namespace std::chrono_literals;

class ADeployment : public AppFixture {
  protected:
    Told<EntityAnswer> deploy(const std::string& environment_id) {
        return call(deploy_release, cora, app, environment_id, release);
    }

    std::string release = published_release();
    std::string prod = environment();
};

TEST_F(ADeployment, IsACheckAndBehindItTheDeploymentItself) {
    const auto answer = deploy(prod);

    ASSERT_TRUE(answer);
    const Entity& deployment = *answer->entity;
    EXPECT_EQ(deployment.state, "pending");
    EXPECT_EQ(text_of(deployment.attributes, "environment_id"), prod);
    EXPECT_EQ(text_of(deployment.attributes, "release_id"), release);
    EXPECT_EQ(text_of(deployment.attributes, "head_sha"), "r1");
    ASSERT_EQ(answer->jobs.size(), 2u);
    const Job& check = answer->jobs[0];
    const Job& job = answer->jobs[1];
    EXPECT_EQ(check.spec->type, "msuite_deploy");
    EXPECT_EQ(job.spec->type, "deploy_release");
    EXPECT_EQ(job.spec->depends_on, std::vector{check.spec->id});
    EXPECT_EQ(text_of(deployment.attributes, "check_job_id"), to_text(check.spec->id));
    EXPECT_EQ(text_of(deployment.attributes, "job_id"), to_text(job.spec->id));
    for (const Job& made : answer->jobs) {
        EXPECT_EQ(made.spec->entity_type, "deployment");
        EXPECT_EQ(made.spec->entity_id, deployment.key.id);
        EXPECT_EQ(text_of(payload_of(made), "deployment_id"), deployment.key.id);
        EXPECT_EQ(text_of(payload_of(made), "release_id"), release);
        EXPECT_EQ(text_of(payload_of(made), "environment_id"), prod);
        EXPECT_EQ(text_of(payload_of(made), "head_sha"), "r1");
    }
    Entity kept = find("deployment", deployment.key.id);
    ASSERT_TRUE(kept.head && kept.seal);
    kept.head.reset();  // computed when it was written
    kept.seal.reset();
    EXPECT_EQ(kept, deployment) << "what is told is what is kept";
}

TEST_F(ADeployment, RunsAndSucceedsWithItsJob) {
    const std::string id = granted(deploy(prod)).key.id;
    EXPECT_TRUE(engine.claim({.types = {"deploy_release"}}).empty()) << "the check comes first";

    run("msuite_deploy");
    EXPECT_EQ(state("deployment", id), "pending");
    const Job job = engine.claim_one({.types = {"deploy_release"}});
    EXPECT_EQ(state("deployment", id), "running");
    engine.report(job, Outcome::succeeded);

    EXPECT_EQ(state("deployment", id), "succeeded");
    EXPECT_EQ(text_of(find("environment", prod).attributes, "current_release_id"), release);
    EXPECT_EQ(state("environment", prod), "active");
}

TEST_F(ADeployment, FailsWithItsCheck) {
    const std::string id = granted(deploy(prod)).key.id;

    run("msuite_deploy", Outcome::failed);

    EXPECT_EQ(state("deployment", id), "failed");
    EXPECT_EQ(jobs_of("deploy_release").front().now.state, JobState::canceled);
    granted(deploy(prod));
}

TEST_F(ADeployment, FailsWithItsJobAndLeavesTheEnvironmentAsItWas) {
    const std::string id = granted(deploy(prod)).key.id;
    run("msuite_deploy");

    run("deploy_release", Outcome::failed);

    EXPECT_EQ(state("deployment", id), "failed");
    EXPECT_FALSE(find("environment", prod).attributes.contains("current_release_id"));
    EXPECT_EQ(state("release", release), "published");
    granted(deploy(prod));
}

TEST_F(ADeployment, IsAloneOnItsEnvironment) {
    const std::string first = granted(deploy(prod)).key.id;

    const auto waiting = deploy(prod);
    ASSERT_EQ(refusal(waiting), ErrorCode::conflict);
    EXPECT_NE(waiting.error().message.find(first), std::string::npos);
    EXPECT_NE(waiting.error().message.find("required msuite_deploy job has not succeeded"),
              std::string::npos)
        << waiting.error().message;

    run("msuite_deploy");
    const auto checked = deploy(prod);
    ASSERT_EQ(refusal(checked), ErrorCode::conflict);
    EXPECT_EQ(checked.error().message.find("msuite_deploy"), std::string::npos);

    granted(deploy(environment()));
    run("deploy_release");
    granted(deploy(prod));
}

TEST_F(ADeployment, IsOfAPublishedReleaseToAnEnvironmentOfTheApp) {
    const std::string draft_one = draft_release();
    const std::string other = granted(call(create_app, cora, "", Attributes{})).key.id;

    EXPECT_EQ(refusal(call(deploy_release, cora, app, prod, draft_one)), ErrorCode::conflict);
    EXPECT_EQ(refusal(call(deploy_release, cora, app, prod, "none")), ErrorCode::not_found);
    EXPECT_EQ(refusal(call(deploy_release, cora, app, "none", release)), ErrorCode::not_found);
    EXPECT_EQ(refusal(call(deploy_release, cora, other, prod, release)), ErrorCode::not_found);
    EXPECT_EQ(refusal(call(deploy_release, rex, app, prod, release)), ErrorCode::forbidden);
    EXPECT_TRUE(jobs_of("msuite_deploy").empty());
}

TEST_F(ADeployment, MakesItsReleaseDeployedInPartAndThenInFull) {
    const std::string stage = environment();

    granted(deploy(prod));
    run("msuite_deploy");
    run("deploy_release");
    EXPECT_EQ(state("release", release), "deployed_partial");

    granted(deploy(stage));
    run("msuite_deploy");
    run("deploy_release");
    EXPECT_EQ(state("release", release), "deployed_full");

    granted(deploy(prod));
    run("msuite_deploy");
    run("deploy_release");
    EXPECT_EQ(state("release", release), "deployed_full") << "once more changes nothing";
}

TEST_F(ADeployment, CannotStartWhenItsProfileChangedAfterItsCheck) {
    const std::string runtime = profile();
    granted(call(update_environment, cora, app, prod,
                 Attributes{{"runtime_profile_id", json_string(runtime)}}));
    const std::string id = granted(deploy(prod)).key.id;
    run("msuite_deploy");
    granted(call(update_profile, cora, app, runtime, Attributes{{"url", R"("https://b")"}}));

    EXPECT_TRUE(engine.claim({.types = {"deploy_release"}}).empty());

    EXPECT_EQ(state("deployment", id), "failed");
    EXPECT_EQ(jobs_of("deploy_release").front().now.error_code, "GATE_CLOSED");
}

}  // namespace deployments_test
}  // namespace sluice::apps
