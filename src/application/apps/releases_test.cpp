#include <set>

#include "support/app_fixture.hpp"

namespace sluice::apps {
namespace releases_test {

using Ids = std::vector<std::string>;

class ARelease : public AppFixture {
  protected:
    Ids changesets_of(const std::string& id) {
        return texts_of(find("release", id).attributes, "changeset_ids");
    }
};

TEST_F(ARelease, TakesTheQueuedChangesetsThatItsCreatorNames) {
    const std::string first = queued("h1");
    queued("h2");

    const std::string id = draft_release({first});
    EXPECT_EQ(state("release", id), "draft_release");
    const auto answer = call(assemble_release, cora, app, id);

    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->entity->state, "assembling");
    ASSERT_EQ(answer->jobs.size(), 1u);
    EXPECT_EQ(answer->jobs.front().spec->type, "release_assemble");
    EXPECT_EQ(text_of(payload_of(answer->jobs.front()), "release_id"), id);
    EXPECT_EQ(texts_of(payload_of(answer->jobs.front()), "changeset_ids"), Ids{first});
}

TEST_F(ARelease, TakesAllThatAreQueuedInTheirOrderWhenNoneIsNamed) {
    const std::string first = approved("h1");
    const std::string second = queued("h2");
    granted(call(queue_changeset, cora, app, first));
    const std::string id = draft_release();

    granted(call(assemble_release, cora, app, id));

    EXPECT_EQ(changesets_of(id), (Ids{second, first}));
}

TEST_F(ARelease, IsMadeByConfigManagers) {
    EXPECT_EQ(refusal(call(create_release, rex, app, Attributes{}, Ids{})), ErrorCode::forbidden);
    const std::string id = draft_release();
    EXPECT_EQ(refusal(call(assemble_release, rex, app, id)), ErrorCode::forbidden);
    EXPECT_EQ(refusal(call(publish_release, rex, app, id)), ErrorCode::forbidden);
    EXPECT_EQ(refusal(call(roll_back_release, rex, app, id)), ErrorCode::forbidden);
}

TEST_F(ARelease, TakesNothingThatIsNotQueuedOrIsInAnotherRelease) {
    const std::string not_queued = approved("h1");
    const std::string taken = queued("h2");
    draft_release({taken});
    const auto create = [&](const Ids& ids) {
        return call(create_release, cora, app, Attributes{}, ids);
    };

    EXPECT_EQ(refusal(create({not_queued})), ErrorCode::conflict);
    EXPECT_EQ(refusal(create({taken})), ErrorCode::conflict);
    EXPECT_EQ(refusal(create({taken, taken})), ErrorCode::invalid);
    const auto unknown = create({"000000000000000000000000"});
    ASSERT_EQ(refusal(unknown), ErrorCode::invalid);
    EXPECT_EQ(unknown.error().pointer, "/changeset_ids/0");
    EXPECT_EQ(refusal(call(assemble_release, cora, app, draft_release())), ErrorCode::conflict)
        << "the only one that is queued is in another release";
}

TEST_F(ARelease, HasSomethingInIt) {
    EXPECT_EQ(refusal(call(assemble_release, cora, app, draft_release())), ErrorCode::conflict);
}

TEST_F(ARelease, IsValidatedByItsAssemblyAndCheckedAtItsHead) {
    queued();
    const std::string id = validated_release();

    const Entity release = find("release", id);
    EXPECT_EQ(release.state, "validated");
    EXPECT_EQ(text_of(release.attributes, "head_sha"), "r1");
    const std::vector<Job> checks = jobs_of("msuite_merge");
    ASSERT_EQ(checks.size(), 2u) << "one is of the changeset, from when it was queued";
    EXPECT_EQ(text_of(payload_of(checks.back()), "release_id"), id);
    EXPECT_EQ(text_of(payload_of(checks.back()), "head_sha"), "r1");
}

TEST_F(ARelease, IsADraftAgainWhenItsAssemblyFailed) {
    queued();
    const std::string id = draft_release();
    granted(call(assemble_release, cora, app, id));

    run("release_assemble", Outcome::failed);

    EXPECT_EQ(state("release", id), "draft_release");
    granted(call(assemble_release, cora, app, id));
}

TEST_F(ARelease, IsCheckedAgainstEachEnvironmentProfile) {
    const std::string one = profile("persistent_env");
    const std::string two = profile("persistent_env");
    profile("temp_workspace");
    queued();
    const std::string id = validated_release();

    std::set<std::string> checked;
    for (const Job& job : jobs_of("msuite_merge")) {
        if (job.spec->entity_type != "release") continue;
        checked.insert(text_of(payload_of(job), "runtime_profile_id").value());
    }
    EXPECT_EQ(checked, (std::set{one, two}));
    run("msuite_merge");
    EXPECT_EQ(refusal(call(publish_release, cora, app, id)), ErrorCode::gate_closed);
    run("msuite_merge");
    granted(call(publish_release, cora, app, id));
}

TEST_F(ARelease, IsPublishedOnceItsMergeCheckHasSucceeded) {
    const std::string changeset = queued();  // its own merge check has succeeded
    const std::string id = validated_release();

    const auto early = call(publish_release, cora, app, id);
    ASSERT_EQ(refusal(early), ErrorCode::gate_closed);
    EXPECT_EQ(state("changeset", changeset), "queued");

    run("msuite_merge");
    granted(call(publish_release, cora, app, id));

    EXPECT_EQ(state("release", id), "published");
    EXPECT_EQ(state("changeset", changeset), "released");
    EXPECT_EQ(refusal(call(publish_release, cora, app, id)), ErrorCode::invalid_transition);
}

TEST_F(ARelease, HasWhatIsStillQueuedRevalidatedInQueueOrder) {
    const std::string released = queued("h0");
    const std::string later = approved("h1");
    const std::string sooner = queued("h2");
    granted(call(queue_changeset, cora, app, later));
    run("msuite_merge");
    const std::string id = validated_release({released});
    run("msuite_merge");

    const auto answer = call(publish_release, cora, app, id);

    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->jobs.size(), 2u);
    EXPECT_EQ(answer->jobs[0].spec->type, "revalidate_queued_changeset");
    EXPECT_EQ(answer->jobs[0].spec->entity_id, sooner);
    EXPECT_EQ(answer->jobs[1].spec->entity_id, later);
    const Attributes payload = payload_of(answer->jobs[0]);
    EXPECT_EQ(text_of(payload, "changeset_id"), sooner);
    EXPECT_EQ(text_of(payload, "head_sha"), "h2");
    EXPECT_EQ(text_of(payload, "release_id"), id);
}

TEST_F(ARelease, LeavesTheOutcomeOfARevalidationToItsJob) {
    const std::string released = queued("h0");
    const Ids waiting{queued("h1"), queued("h2"), queued("h3"), queued("h4")};
    validated_release({released});
    run("msuite_merge");
    const std::string id = text_of(find("changeset", released).attributes, "release_id").value();
    granted(call(publish_release, cora, app, id));

    const char* type = "revalidate_queued_changeset";
    run(type, Outcome::succeeded, R"({"outcome":"clean"})");
    run(type, Outcome::succeeded, R"({"outcome":"conflicted"})");
    run(type, Outcome::succeeded, R"({"outcome":"needs_revalidation"})");
    run(type, Outcome::failed);

    EXPECT_EQ(state("changeset", waiting[0]), "queued");
    EXPECT_EQ(state("changeset", waiting[1]), "conflicted");
    EXPECT_EQ(state("changeset", waiting[2]), "needs_revalidation");
    EXPECT_EQ(state("changeset", waiting[3]), "needs_revalidation");
}

TEST_F(ARelease, IsAssembledAgainWithoutWhatHasLeftTheQueue) {
    const std::string stays = queued("h1");
    const std::string leaves = queued("h2");
    const std::string id = validated_release({stays, leaves});
    run("msuite_merge");
    granted(call(move_changeset_to_draft, ada, app, leaves));

    const auto refused = call(publish_release, cora, app, id);
    ASSERT_EQ(refusal(refused), ErrorCode::conflict);
    EXPECT_NE(refused.error().message.find(leaves), std::string::npos);
    EXPECT_EQ(state("release", id), "validated");
    EXPECT_EQ(state("changeset", stays), "queued");

    granted(call(assemble_release, cora, app, id));
    run("release_assemble", Outcome::succeeded, R"({"head_sha":"r2"})");
    EXPECT_EQ(changesets_of(id), Ids{stays});
    EXPECT_EQ(refusal(call(publish_release, cora, app, id)), ErrorCode::gate_closed)
        << "the check of the assembly before does not count";
    run("msuite_merge");
    granted(call(publish_release, cora, app, id));
}

TEST_F(ARelease, CanBeRolledBackOnceItIsOut) {
    queued();
    EXPECT_EQ(refusal(call(roll_back_release, cora, app, validated_release())),
              ErrorCode::invalid_transition);
    run("msuite_merge");
    const std::string id =
        text_of(payload_of(jobs_of("msuite_merge").back()), "release_id").value();
    granted(call(publish_release, cora, app, id));

    granted(call(roll_back_release, cora, app, id));

    EXPECT_EQ(state("release", id), "rolled_back");
}

}  // namespace releases_test
}  // namespace sluice::apps
