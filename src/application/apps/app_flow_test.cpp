#include "support/app_fixture.hpp"

namespace sluice::apps {
namespace app_flow_test {

class AnAppsFlow : public AppFixture {};

TEST_F(AnAppsFlow, GoesFromASubmitToADeployment) {
    const std::string changes = profile("temp_changeset");
    const std::string runtime = profile("persistent_env");
    const std::string prod = environment(runtime);

    const std::string waits = queued("h0");
    const std::string changeset = draft("h1");
    granted(call(submit_changeset, ada, app, changeset, ""));
    run("msuite_submit");
    granted(call(review_changeset, rex, app, changeset, Decision::approve, ""));
    granted(call(queue_changeset, cora, app, changeset));
    run("msuite_merge");
    const std::string release = draft_release({changeset});
    granted(call(assemble_release, cora, app, release));
    run("release_assemble", Outcome::succeeded, R"({"head_sha":"r1"})");
    run("msuite_merge");
    granted(call(publish_release, cora, app, release));
    run("revalidate_queued_changeset", Outcome::succeeded, R"({"outcome":"clean"})");
    const std::string deployment = granted(call(deploy_release, cora, app, prod, release)).key.id;
    run("msuite_deploy");
    run("deploy_release");

    EXPECT_EQ(state("changeset", changeset), "released");
    EXPECT_EQ(state("changeset", waits), "queued");
    EXPECT_EQ(state("release", release), "deployed_full");
    EXPECT_EQ(state("deployment", deployment), "succeeded");
    EXPECT_EQ(text_of(payload_of(jobs_of("msuite_submit").back()), "runtime_profile_id"), changes);
    EXPECT_EQ(text_of(payload_of(jobs_of("msuite_merge").back()), "runtime_profile_id"), runtime);
    EXPECT_EQ(text_of(payload_of(jobs_of("msuite_deploy").back()), "runtime_profile_id"), runtime);
    EXPECT_EQ(actions("release", release),
              (std::vector<std::string>{"created", "assemble", "assembled", "publish",
                                        "deployed_everywhere"}));
    EXPECT_EQ(actions("deployment", deployment),
              (std::vector<std::string>{"created", "start", "succeed"}));
}

TEST_F(AnAppsFlow, GoesOnlyAsFarAsItsRefusalsAllow) {
    const std::string id = submitted();
    const auto before = find("changeset", id);
    const std::size_t jobs = engine.count_jobs();

    EXPECT_EQ(refusal(call(review_changeset, rex, app, id, Decision::approve, "")),
              ErrorCode::gate_closed);
    EXPECT_EQ(refusal(call(queue_changeset, cora, app, id)), ErrorCode::invalid_transition);

    EXPECT_EQ(find("changeset", id), before) << "a refusal changes nothing";
    EXPECT_EQ(engine.count_jobs(), jobs);
}

}  // namespace app_flow_test
}  // namespace sluice::apps
