// Seed 000, "Gate hooks" of section 6 and cases 4 to 6 of section 9.
#include "conformance/apps.hpp"

namespace sluice::e2e {
namespace apps_gates_test {

class AppsGates : public AppsTest {
  protected:
    Response review(const Json& changeset) {
        return reviewer.post(changeset_path(changeset, "review"), {{"decision", "approve"}});
    }
    std::string enqueue_check(const Json& changeset) {
        return enqueue("msuite_submit",
                       {{"entity_type", "changeset"}, {"entity_id", at(changeset, "id")}});
    }
    std::string state_of(const std::string& rest) { return text(author.read(path(rest)), "state"); }
};

// Case 4.
TEST_F(AppsGates, GatePassesWhenSuccessfulJobExists) {
    const Json changeset = submitted();
    fail("msuite_submit");
    enqueue_check(changeset);
    succeed("msuite_submit");

    EXPECT_EQ(review(changeset).status, 200);
}

// Case 5.
TEST_F(AppsGates, GateFailsWhenNoSuccessfulJobExists) {
    const Json changeset = submitted();
    expect_ok(worker.cancel(text(changeset, "job_id")));

    const std::string message = expect_error(review(changeset), 409, "conflict");

    EXPECT_EQ(message.find("required msuite_submit job has not succeeded for changeset " +
                           text(changeset, "id")),
              0u)
        << message;
}

// Case 6.
TEST_F(AppsGates, GateFailsWithOnlyNonSucceededJobs) {
    const Json changeset = submitted();
    fail("msuite_submit");
    enqueue_check(changeset);
    claim("msuite_submit");
    enqueue_check(changeset);

    expect_error(review(changeset), 409, "conflict");
    EXPECT_EQ(text(author.read(changeset_path(changeset)), "state"), "submitted");
}

TEST_F(AppsGates, SuccessOfAnotherEntityAnotherTypeOrAnotherAppDoesNotCount) {
    const Json changeset = submitted();
    fail("msuite_submit");
    const Json other = submitted("def456");
    succeed("msuite_submit");
    enqueue("msuite_merge", {{"entity_type", "changeset"}, {"entity_id", at(changeset, "id")}});
    succeed("msuite_merge");
    worker.submit({{"type", "msuite_submit"},
                   {"project", "665a0001aabbccddee000001"},
                   {"entity_type", "changeset"},
                   {"entity_id", at(changeset, "id")}});
    succeed("msuite_submit");

    expect_error(review(changeset), 409, "conflict");
    EXPECT_EQ(review(other).status, 200);
}

// The note in section 6: the submit itself creates the job, and the next transition asks for it.
TEST_F(AppsGates, SubmitCreatesTheJobAndTheNextTransitionAsksForIt) {
    const Json changeset = submitted();

    EXPECT_EQ(text(changeset, "state"), "submitted");
    const Json check = job(text(changeset, "job_id"));
    EXPECT_EQ(text(check, "job_type"), "msuite_submit");
    EXPECT_EQ(text(check, "state"), "queued");
    EXPECT_EQ(text(check, "entity_type"), "changeset");
    EXPECT_EQ(text(check, "entity_id"), text(changeset, "id"));
    EXPECT_EQ(at(check, "payload"), Json(Fields{{"changeset_id", at(changeset, "id")},
                                                {"head_sha", "abc123"},
                                                {"base_sha", "789012"}}));
    expect_error(review(changeset), 409, "conflict");
    succeed("msuite_submit");
    EXPECT_EQ(text(at(parse(review(changeset).body), "data"), "state"), "approved");
}

TEST_F(AppsGates, SuccessOfAnEarlierHeadDoesNotCount) {
    const Json changeset = checked();
    author.act(changeset_path(changeset, "resubmit"), {{"head_sha", "def456"}});

    expect_error(review(changeset), 409, "conflict");
    succeed("msuite_submit");
    EXPECT_EQ(review(changeset).status, 200);
}

TEST_F(AppsGates, ChangesetQueueAsksForMsuiteSubmit) {
    const Json temp = profile("temp_changeset", {{"env_vars", {{"MODE", "test"}}}});
    const Json changeset = approved();
    manager.patch(path("/runtime-profiles/" + text(temp, "id")), {{"env_vars", {{"MODE", "x"}}}});

    const std::string message =
        expect_error(manager.post(changeset_path(changeset, "queue")), 409, "conflict");

    EXPECT_NE(message.find("required msuite_submit job has not succeeded"), std::string::npos);
    EXPECT_EQ(text(author.read(changeset_path(changeset)), "state"), "approved");
    author.act(changeset_path(changeset, "resubmit"), {{"head_sha", "def456"}});
    succeed("msuite_submit");
    EXPECT_EQ(review(changeset).status, 200);
    EXPECT_EQ(text(manager.act(changeset_path(changeset, "queue")), "state"), "queued");
}

TEST_F(AppsGates, ReleasePublishAsksForMsuiteMerge) {
    const Json release = validated();
    EXPECT_EQ(text(release, "state"), "validated");

    const std::string message =
        expect_error(manager.post(release_path(release, "publish")), 409, "conflict");
    EXPECT_NE(message.find("required msuite_merge job has not succeeded for release " +
                           text(release, "id")),
              std::string::npos)
        << message;
    EXPECT_EQ(text(author.read(release_path(release)), "state"), "validated");
    succeed("msuite_merge");
    EXPECT_EQ(text(manager.act(release_path(release, "publish")), "state"), "published");
}

TEST_F(AppsGates, DeployReleaseAsksForMsuiteDeploy) {
    const Json release = published();
    const Json production = environment();
    const Json deployment = deploy(production, release);
    const std::string deployments = "/deployments/" + text(deployment, "id");

    EXPECT_FALSE(is_claimable("deploy_release"));
    EXPECT_EQ(state_of(deployments), "pending");
    const std::string message =
        expect_error(manager.post(path("/environments/" + text(production, "id") + "/deploy"),
                                  {{"release_id", at(release, "id")}}),
                     409, "conflict");
    EXPECT_NE(message.find("required msuite_deploy job has not succeeded for deployment " +
                           text(deployment, "id")),
              std::string::npos)
        << message;

    succeed("msuite_deploy");
    claim("deploy_release");
    EXPECT_EQ(state_of(deployments), "running");
}

TEST_F(AppsGates, DeploymentWhoseCheckFailsNeverRuns) {
    const Json deployment = deploy(environment(), published());

    fail("msuite_deploy");

    EXPECT_FALSE(is_claimable("deploy_release"));
    EXPECT_EQ(state_of("/deployments/" + text(deployment, "id")), "failed");
    EXPECT_EQ(job_state(text(deployment, "job_id")), "canceled");
}

TEST_F(AppsGates, GateOfAReleaseThatIsNotPublishedIsClosed) {
    const Json release = validated();

    expect_error(manager.post(path("/environments/" + text(environment(), "id") + "/deploy"),
                              {{"release_id", at(release, "id")}}),
                 409, "conflict");
    EXPECT_EQ(author.total(path("/deployments")), 0);
}

TEST_F(AppsGates, TheStreamTellsWhenAGateOpensAndWhenItClosesAgain) {
    const Json temp = profile("temp_changeset");
    const Json changeset = submitted();
    EventStream stream(engine->port(),
                       "/api/v1/entities/changeset/" + text(changeset, "id") + "/stream");
    const auto review_is_open = [&] {
        for (auto event = stream.next(); event; event = stream.next()) {
            if (event->type != "gate") continue;
            const Json gate = parse(event->data);
            if (text(gate, "action") == "start_review") return flag(gate, "open");
        }
        throw std::runtime_error("the stream does not tell of the gate");
    };
    EXPECT_FALSE(review_is_open());

    succeed("msuite_submit");
    EXPECT_TRUE(review_is_open());

    expect_ok(manager.patch(path("/runtime-profiles/" + text(temp, "id")),
                            {{"env_vars", Fields{{"MODE", "strict"}}}}));
    EXPECT_FALSE(review_is_open());
}

}  // namespace apps_gates_test
}  // namespace sluice::e2e
