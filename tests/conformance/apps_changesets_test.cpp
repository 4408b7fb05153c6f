// The facts about apps, their members and changesets.
#include "conformance/apps.hpp"

namespace sluice::e2e {
namespace apps_changesets_test {

class AppsChangesets : public AppsTest {
  protected:
    std::string state_of(const Json& changeset) {
        return text(author.read(changeset_path(changeset)), "state");
    }
    Json review(const Json& changeset, const std::string& decision) {
        return reviewer.act(changeset_path(changeset, "review"), {{"decision", decision}});
    }
};

using AppsMembers = AppsChangesets;

TEST_F(AppsMembers, AreListedAndAddedWithTheirRoles) {
    const Json answer = author.list_answer(path("/members"));

    EXPECT_EQ(list(answer, "data"), (List{Fields{{"user", "ada"}, {"role", "user"}},
                                          Fields{{"user", "mia"}, {"role", "config_manager"}},
                                          Fields{{"user", "rex"}, {"role", "reviewer"}},
                                          Fields{{"user", "zoe"}, {"role", "app_admin"}}}));
    EXPECT_EQ(at(answer, "pagination"), Json(Fields{{"page", 1}, {"limit", 20}, {"total", 4}}));
    EXPECT_EQ(admin.create(path("/members"), {{"user", "eve"}, {"role", "reviewer"}}),
              Json(Fields{{"user", "eve"}, {"role", "reviewer"}}));
    EXPECT_EQ(stranger.get(path("/members")).status, 200);
    admin.create(path("/members"), {{"user", "eve"}, {"role", "user"}});
    EXPECT_EQ(author.total(path("/members")), 5);
}

TEST_F(AppsMembers, AreAddedByAppAdminsOnly) {
    for (AppsApi* member : {&author, &reviewer, &manager, &stranger}) {
        expect_error(member->post(path("/members"), {{"user", "eve"}, {"role", "app_admin"}}), 403,
                     "forbidden");
        expect_error(member->patch(path(), {{"name", "mine"}}), 403, "forbidden");
    }
    expect_error(admin.post(path("/members"), {{"user", "eve"}}), 400, "validation_error");
    expect_error(admin.post(path("/members"), {{"role", "user"}}), 400, "validation_error");
    expect_error(admin.post(path("/members"), {{"user", "eve"}, {"role", "king"}}), 400,
                 "validation_error");
}

TEST_F(AppsMembers, WhoCreatesAnAppBecomesItsAppAdmin) {
    const Json mine = stranger.create("", {{"name", "mine"}});

    EXPECT_EQ(stranger.list_of("/" + text(mine, "id") + "/members"),
              (List{Fields{{"user", "eve"}, {"role", "app_admin"}}}));
    EXPECT_EQ(ids_of(stranger.list_of("")), std::vector{text(mine, "id")});
    EXPECT_EQ(ids_of(author.list_of("")), std::vector{app});
    EXPECT_EQ(operator_.total(""), 2);
}

TEST_F(AppsMembers, AppsHaveTheIdThatTheirCreatorGivesThemOnce) {
    const std::string id = "665a0001aabbccddee000001";

    EXPECT_EQ(text(operator_.create("", {{"id", id}, {"name", "given"}}), "id"), id);
    expect_error(operator_.post("", {{"id", id}}), 409, "conflict");
    expect_error(operator_.post("", {{"id", "short"}}), 400, "validation_error");
}

TEST_F(AppsMembers, SettingsOfAnAppAreChecked) {
    const Response changed = admin.patch(path(), {{"name", "store"}, {"approvals_required", 2}});

    EXPECT_EQ(changed.status, 200) << changed.body;
    EXPECT_EQ(text(author.read(path()), "name"), "store");
    EXPECT_EQ(number(author.read(path()), "approvals_required"), 2);
    for (const Fields& wrong :
         {Fields{{"approvals_required", 0}}, Fields{{"name", nullptr}},
          Fields{{"gates", {{"submit", "some"}}}}, Fields{{"gates", {{"review", "temp"}}}}}) {
        expect_error(admin.patch(path(), wrong), 400, "validation_error");
    }
}

TEST_F(AppsChangesets, BelongToTheirAuthorAndStartAsDrafts) {
    const Json changeset = draft({{"description", "of the prices"}, {"head_sha", "abc123"}});

    EXPECT_EQ(text(changeset, "id").size(), 24u);
    EXPECT_EQ(text(changeset, "app_id"), app);
    EXPECT_EQ(text(changeset, "state"), "draft");
    EXPECT_EQ(text(changeset, "author"), "ada");
    EXPECT_EQ(text(changeset, "title"), "a change");
    EXPECT_EQ(number(changeset, "revision"), 1);
    EXPECT_EQ(author.read(changeset_path(changeset)), changeset);
    EXPECT_EQ(author.list_of(path("/changesets?state=draft")), List{changeset});
    EXPECT_TRUE(author.list_of(path("/changesets?state=queued")).empty());
    expect_error(author.get(path("/changesets?state=lost")), 400, "validation_error");
}

TEST_F(AppsChangesets, OfAnotherAppAreNotFound) {
    const std::string other = text(operator_.create("", {{"name", "other"}}), "id");
    const std::string elsewhere = "/" + other + "/changesets/" + text(draft(), "id");

    expect_error(operator_.get(elsewhere), 404, "not_found");
    expect_error(operator_.post(elsewhere + "/submit", {{"head_sha", "a"}}), 404, "not_found");
    expect_error(operator_.post(path("/changesets/no-id/submit")), 404, "not_found");
}

TEST_F(AppsChangesets, SubmitFreezesHeadSha) {
    const Json changeset = draft();
    expect_error(author.post(changeset_path(changeset, "submit")), 400, "validation_error");

    const Json sent = author.act(changeset_path(changeset, "submit"), {{"head_sha", "abc123"}});

    EXPECT_EQ(text(sent, "head_sha"), "abc123");
    expect_error(author.post(changeset_path(changeset, "submit"), {{"head_sha", "def456"}}), 409,
                 "invalid_transition");
    EXPECT_EQ(text(author.read(changeset_path(changeset)), "head_sha"), "abc123");
}

TEST_F(AppsChangesets, ResubmitNeedsANewHeadShaAndResetsApprovals) {
    const Json changeset = approved();
    expect_error(author.post(changeset_path(changeset, "resubmit")), 400, "validation_error");
    expect_error(author.post(changeset_path(changeset, "resubmit"), {{"head_sha", "abc123"}}), 400,
                 "validation_error");
    EXPECT_EQ(list(author.read(changeset_path(changeset)), "reviews").size(), 1u);

    const Json again = author.act(changeset_path(changeset, "resubmit"), {{"head_sha", "def456"}});

    EXPECT_EQ(text(again, "state"), "submitted");
    EXPECT_EQ(text(again, "head_sha"), "def456");
    EXPECT_TRUE(list(again, "reviews").empty());
    EXPECT_NE(text(again, "job_id"), text(changeset, "job_id"));
    expect_error(author.post(changeset_path(draft(), "resubmit"), {{"head_sha", "x"}}), 409,
                 "invalid_transition");
}

TEST_F(AppsChangesets, AreReviewedByReviewersOrAboveNeverByTheAuthor) {
    const Json changeset = checked();
    const Fields approve{{"decision", "approve"}};
    operator_.create(path("/members"), {{"user", "ada"}, {"role", "app_admin"}});
    operator_.create(path("/members"), {{"user", "bob"}, {"role", "user"}});
    AppsApi user(engine->port(), "bob");

    expect_error(author.post(changeset_path(changeset, "review"), approve), 403, "forbidden");
    expect_error(user.post(changeset_path(changeset, "review"), approve), 403, "forbidden");
    EXPECT_EQ(state_of(changeset), "submitted");
    EXPECT_EQ(text(manager.act(changeset_path(changeset, "review"), approve), "state"), "approved");
}

TEST_F(AppsChangesets, OneApprovalIsEnoughByDefault) {
    const Json reviewed = approved();

    EXPECT_EQ(text(reviewed, "state"), "approved");
    const List reviews = list(reviewed, "reviews");
    ASSERT_EQ(reviews.size(), 1u);
    EXPECT_EQ(text(reviews[0], "reviewer"), "rex");
    EXPECT_EQ(text(reviews[0], "decision"), "approve");
}

TEST_F(AppsChangesets, StayInReviewUntilThereAreAsManyApprovalsAsTheAppAsksFor) {
    admin.patch(path(), {{"approvals_required", 2}});
    const Json changeset = checked();

    EXPECT_EQ(text(review(changeset, "approve"), "state"), "in_review");
    EXPECT_EQ(text(review(changeset, "approve"), "state"), "in_review");
    EXPECT_EQ(
        text(manager.act(changeset_path(changeset, "review"), {{"decision", "approve"}}), "state"),
        "approved");
}

TEST_F(AppsChangesets, ReviewsLeadToEachOfTheirStates) {
    const Json changed = checked("a1");
    EXPECT_EQ(text(review(changed, "request_changes"), "state"), "changes_requested");
    const Json rejected = checked("a2");
    EXPECT_EQ(text(review(rejected, "reject"), "state"), "rejected");
    const Json open = checked("a3");

    for (const Fields& wrong : {Fields{}, Fields{{"decision", "maybe"}}, Fields{{"decision", 1}}}) {
        expect_error(reviewer.post(changeset_path(open, "review"), wrong), 400, "validation_error");
    }
    expect_error(reviewer.post(changeset_path(rejected, "review"), {{"decision", "approve"}}), 409,
                 "invalid_transition");
}

TEST_F(AppsChangesets, AreQueuedByConfigManagersOrAbove) {
    const Json changeset = approved();

    expect_error(author.post(changeset_path(changeset, "queue")), 403, "forbidden");
    expect_error(reviewer.post(changeset_path(changeset, "queue")), 403, "forbidden");
    EXPECT_EQ(text(admin.act(changeset_path(changeset, "queue")), "state"), "queued");
    expect_error(manager.post(changeset_path(draft(), "queue")), 409, "invalid_transition");
}

TEST_F(AppsChangesets, MoveToDraftTakesThemBack) {
    const Json changeset = queued();

    EXPECT_EQ(text(author.act(changeset_path(changeset, "move-to-draft")), "state"), "draft");
    expect_error(author.post(changeset_path(changeset, "move-to-draft")), 409,
                 "invalid_transition");
    EXPECT_EQ(text(author.act(changeset_path(changeset, "submit")), "state"), "submitted");
}

}  // namespace apps_changesets_test
}  // namespace sluice::e2e
