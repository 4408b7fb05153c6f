// The facts about releases, and about changesets that stay queued.
#include <algorithm>

#include "conformance/apps.hpp"

namespace sluice::e2e {
namespace apps_releases_test {

class AppsReleases : public AppsTest {
  protected:
    std::string state_of(const Json& release) {
        return text(author.read(release_path(release)), "state");
    }
    std::string changeset_state(const Json& changeset) {
        return text(author.read(changeset_path(changeset)), "state");
    }

    // Publishes a release of one changeset while another one stays queued.
    Json still_queued() {
        const Json release = validated();
        const Json waiting = queued("def456");
        succeed("msuite_merge");
        manager.act(release_path(release, "publish"));
        return waiting;
    }
};

TEST_F(AppsReleases, GoFromDraftToPublished) {
    const Json changeset = queued();
    const Json release = manager.create(
        path("/releases"),
        {{"name", "1.0"}, {"description", "first"}, {"changeset_ids", List{at(changeset, "id")}}});
    EXPECT_EQ(text(release, "state"), "draft_release");
    EXPECT_EQ(text(release, "name"), "1.0");

    const Json assembling = manager.act(release_path(release, "assemble"));
    EXPECT_EQ(text(assembling, "state"), "assembling");
    const Json assembly = job(text(assembling, "job_id"));
    EXPECT_EQ(text(assembly, "job_type"), "release_assemble");
    EXPECT_EQ(at(assembly, "payload"), Json(Fields{{"release_id", at(release, "id")},
                                                   {"changeset_ids", List{at(changeset, "id")}}}));
    succeed("release_assemble", {{"head_sha", "feed01"}});
    EXPECT_EQ(state_of(release), "validated");
    EXPECT_EQ(text(author.read(release_path(release)), "head_sha"), "feed01");
    succeed("msuite_merge");
    EXPECT_EQ(text(manager.act(release_path(release, "publish")), "state"), "published");
    EXPECT_EQ(changeset_state(changeset), "released");
}

TEST_F(AppsReleases, TakeEverythingThatIsQueuedWhenNothingIsNamed) {
    const Json first = queued("a1");
    const Json second = queued("a2");
    const Json release = manager.create(path("/releases"), {{"name", "all"}});

    const Json assembling = manager.act(release_path(release, "assemble"));

    EXPECT_EQ(list(assembling, "changeset_ids"), (List{at(first, "id"), at(second, "id")}));
}

TEST_F(AppsReleases, TakeOnlyQueuedChangesetsOfTheirApp) {
    expect_error(manager.post(path("/releases"), {{"changeset_ids", List{at(approved(), "id")}}}),
                 409, "conflict");
    expect_error(
        manager.post(path("/releases"), {{"changeset_ids", List{"665a0002aabbccddee000002"}}}), 400,
        "validation_error");
    expect_error(manager.post(path("/releases"), {{"changeset_ids", List{"x"}}}), 400,
                 "validation_error");
    const Json empty = manager.create(path("/releases"));
    expect_error(manager.post(release_path(empty, "assemble")), 409, "conflict");
    EXPECT_EQ(author.total(path("/releases")), 1);
}

TEST_F(AppsReleases, BelongToConfigManagers) {
    const Json release = manager.create(path("/releases"));

    for (AppsApi* member : {&author, &reviewer}) {
        expect_error(member->post(path("/releases")), 403, "forbidden");
        for (const char* action : {"assemble", "publish", "rollback"}) {
            expect_error(member->post(release_path(release, action)), 403, "forbidden");
        }
    }
    EXPECT_EQ(ids_of(author.list_of(path("/releases?state=draft_release"))),
              std::vector{text(release, "id")});
}

TEST_F(AppsReleases, WhoseAssemblyFailsAreDraftsAgain) {
    const Json release = assembling();

    fail("release_assemble");

    EXPECT_EQ(state_of(release), "draft_release");
    EXPECT_EQ(text(manager.act(release_path(release, "assemble")), "state"), "assembling");
}

TEST_F(AppsReleases, StepsOutOfOrderAreInvalidTransitions) {
    const Json release = assembling();

    expect_error(manager.post(release_path(release, "assemble")), 409, "invalid_transition");
    expect_error(manager.post(release_path(release, "publish")), 409, "invalid_transition");
    expect_error(manager.post(release_path(release, "rollback")), 409, "invalid_transition");
}

TEST_F(AppsReleases, PublishRevalidatesWhatIsStillQueuedInQueueOrder) {
    const Json release = validated();
    std::vector<std::string> waiting;
    for (const std::string sha : {"b1", "b2", "b3"}) waiting.push_back(text(queued(sha), "id"));
    succeed("msuite_merge");

    const Json done = manager.act(release_path(release, "publish"));

    std::vector<std::string> revalidated;
    for (const Json& id : list(done, "job_ids")) {
        const Json check = job(std::string(id.as_string()));
        EXPECT_EQ(text(check, "job_type"), "revalidate_queued_changeset");
        EXPECT_EQ(text(check, "entity_type"), "changeset");
        revalidated.push_back(text(check, "entity_id"));
    }
    EXPECT_EQ(revalidated, waiting);
    for (const std::string& id : waiting) {
        EXPECT_EQ(
            text(at(at(claim("revalidate_queued_changeset"), "job"), "payload"), "changeset_id"),
            id);
    }
}

TEST_F(AppsReleases, RevalidationLeavesTheChangesetQueued) {
    const Json changeset = still_queued();

    succeed("revalidate_queued_changeset", {{"outcome", "clean"}});

    EXPECT_EQ(changeset_state(changeset), "queued");
}

TEST_F(AppsReleases, RevalidationMovesTheChangesetToConflicted) {
    const Json changeset = still_queued();

    succeed("revalidate_queued_changeset", {{"outcome", "conflicted"}});

    EXPECT_EQ(changeset_state(changeset), "conflicted");
}

TEST_F(AppsReleases, RevalidationMovesTheChangesetToNeedsRevalidation) {
    const Json changeset = still_queued();

    succeed("revalidate_queued_changeset", {{"outcome", "needs_revalidation"}});

    EXPECT_EQ(changeset_state(changeset), "needs_revalidation");
    const Json again = author.act(changeset_path(changeset, "resubmit"), {{"head_sha", "c1"}});
    EXPECT_EQ(text(again, "state"), "submitted");
}

TEST_F(AppsReleases, RevalidationThatFailsForGoodLeavesTheChangesetUnchecked) {
    const Json changeset = still_queued();

    fail("revalidate_queued_changeset");

    EXPECT_EQ(changeset_state(changeset), "needs_revalidation");
}

TEST_F(AppsReleases, AreDeployedPartlyThenFullyThenRolledBack) {
    const Json release = published();
    const Json staging = environment({{"name", "staging"}});
    const Json production = environment();
    const auto deployed_to = [&](const Json& where) {
        deploy(where, release);
        succeed("msuite_deploy");
        succeed("deploy_release");
        return state_of(release);
    };

    EXPECT_EQ(deployed_to(staging), "deployed_partial");
    EXPECT_EQ(deployed_to(production), "deployed_full");
    EXPECT_EQ(text(manager.act(release_path(release, "rollback")), "state"), "rolled_back");
}

}  // namespace apps_releases_test
}  // namespace sluice::e2e
