#include "support/app_fixture.hpp"

namespace sluice::apps {
namespace changesets_test {

class AChangeset : public AppFixture {
  protected:
    std::string state_of(const std::string& id) { return state("changeset", id); }
    std::size_t reviews_of(const std::string& id) {
        const std::string reviews = find("changeset", id).attributes.at("reviews");
        return static_cast<std::size_t>(std::count(reviews.begin(), reviews.end(), '{'));
    }
};

TEST_F(AChangeset, BelongsToWhoMadeIt) {
    const Entity made = find("changeset", draft());

    EXPECT_EQ(made.state, "draft");
    EXPECT_EQ(made.parent, app);
    EXPECT_EQ(text_of(made.attributes, "author"), "ada");
}

TEST_F(AChangeset, IsSubmittedWithAFrozenHeadAndACheckOfIt) {
    const std::string id = draft("h1");

    const auto answer = call(submit_changeset, ada, app, id, "h2");

    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->entity->state, "submitted");
    EXPECT_EQ(text_of(answer->entity->attributes, "head_sha"), "h2");
    ASSERT_EQ(answer->jobs.size(), 1u);
    const Job& job = answer->jobs.front();
    EXPECT_EQ(job.spec->type, "msuite_submit");
    EXPECT_EQ(job.spec->project, app);
    EXPECT_EQ(job.spec->entity_type, "changeset");
    EXPECT_EQ(job.spec->entity_id, id);
    EXPECT_EQ(text_of(payload_of(job), "changeset_id"), id);
    EXPECT_EQ(text_of(payload_of(job), "head_sha"), "h2");
    EXPECT_EQ(text_of(payload_of(job), "base_sha"), "b1");
    EXPECT_EQ(text_of(answer->entity->attributes, "job_id"), to_text(job.spec->id));
    EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::queued);
}

TEST_F(AChangeset, IsNotSubmittedWithoutAHead) {
    const std::string id = granted(call(create_changeset, ada, app, Attributes{})).key.id;

    const auto answer = call(submit_changeset, ada, app, id, "");

    ASSERT_EQ(refusal(answer), ErrorCode::invalid);
    EXPECT_EQ(answer.error().pointer, "/head_sha");
    EXPECT_EQ(state_of(id), "draft");
    EXPECT_EQ(engine.count_jobs(), 0u);
}

TEST_F(AChangeset, IsSentOnItsWayByItsAuthorOrAConfigManager) {
    const std::string id = draft();

    EXPECT_EQ(refusal(call(submit_changeset, rex, app, id, "")), ErrorCode::forbidden);
    granted(call(submit_changeset, cora, app, id, ""));
    EXPECT_EQ(refusal(call(resubmit_changeset, rex, app, id, "h2")), ErrorCode::forbidden);
    EXPECT_EQ(refusal(call(move_changeset_to_draft, rex, app, id)), ErrorCode::forbidden);
    granted(call(resubmit_changeset, ada, app, id, "h2"));
    granted(call(move_changeset_to_draft, ada, app, id));
}

TEST_F(AChangeset, IsSubmittedOnce) {
    EXPECT_EQ(refusal(call(submit_changeset, ada, app, submitted(), "")),
              ErrorCode::invalid_transition);
}

TEST_F(AChangeset, IsResubmittedWithAnotherHeadOnly) {
    const std::string id = submitted("h1");

    EXPECT_EQ(refusal(call(resubmit_changeset, ada, app, id, "h1")), ErrorCode::invalid);
    EXPECT_EQ(refusal(call(resubmit_changeset, ada, app, id, "")), ErrorCode::invalid);
    EXPECT_EQ(refusal(call(resubmit_changeset, ada, app, draft(), "h2")),
              ErrorCode::invalid_transition);
    granted(call(resubmit_changeset, ada, app, id, "h2"));

    EXPECT_EQ(text_of(payload_of(jobs_of("msuite_submit").back()), "head_sha"), "h2");
}

TEST_F(AChangeset, LosesItsApprovalsWhenItIsResubmitted) {
    const std::string id = approved("h1");
    ASSERT_EQ(reviews_of(id), 1u);

    granted(call(resubmit_changeset, ada, app, id, "h2"));

    EXPECT_EQ(state_of(id), "submitted");
    EXPECT_EQ(reviews_of(id), 0u);
    EXPECT_EQ(refusal(call(review_changeset, rex, app, id, Decision::approve, "")),
              ErrorCode::gate_closed)
        << "the check of the head before does not count";
}

TEST_F(AChangeset, IsReviewedOnceItsCheckHasSucceeded) {
    const std::string id = submitted();

    const auto early = call(review_changeset, rex, app, id, Decision::approve, "");
    ASSERT_EQ(refusal(early), ErrorCode::gate_closed);
    EXPECT_NE(early.error().message.find("required msuite_submit job has not succeeded"),
              std::string::npos);
    EXPECT_EQ(state_of(id), "submitted");
    EXPECT_EQ(reviews_of(id), 0u);

    run("msuite_submit");
    const Entity reviewed =
        granted(call(review_changeset, rex, app, id, Decision::approve, "well done"));

    EXPECT_EQ(reviewed.state, "approved");
    EXPECT_EQ(actions("changeset", id),
              (std::vector<std::string>{"created", "submit", "start_review", "approve"}));
    const std::string& reviews = reviewed.attributes.at("reviews");
    EXPECT_NE(reviews.find(R"("reviewer":"rex")"), std::string::npos) << reviews;
    EXPECT_NE(reviews.find(R"("decision":"approve")"), std::string::npos) << reviews;
    EXPECT_NE(reviews.find(R"("comment":"well done")"), std::string::npos) << reviews;
}

TEST_F(AChangeset, StaysClosedToReviewsWhenItsCheckFailed) {
    const std::string id = submitted();
    run("msuite_submit", Outcome::failed);

    EXPECT_EQ(refusal(call(review_changeset, rex, app, id, Decision::reject, "")),
              ErrorCode::gate_closed);
}

TEST_F(AChangeset, IsReviewedByReviewersWhoAreNotItsAuthor) {
    const std::string id = submitted();
    run("msuite_submit");
    const std::string of_root =
        granted(call(create_changeset, root, app, Attributes{{"head_sha", R"("h")"}})).key.id;
    granted(call(submit_changeset, root, app, of_root, ""));
    run("msuite_submit");

    EXPECT_EQ(refusal(call(review_changeset, ada, app, id, Decision::approve, "")),
              ErrorCode::forbidden);
    EXPECT_EQ(refusal(call(review_changeset, root, app, of_root, Decision::approve, "")),
              ErrorCode::forbidden)
        << "not even an admin approves what is their own";
    granted(call(put_member, ruth, app, "ada", Role::app_admin));
    EXPECT_EQ(refusal(call(review_changeset, ada, app, id, Decision::approve, "")),
              ErrorCode::forbidden);
}

TEST_F(AChangeset, TakesTheReviewersDecision) {
    const std::string changes = submitted("h1");
    run("msuite_submit");
    const std::string rejected = submitted("h2");
    run("msuite_submit");

    granted(call(review_changeset, rex, app, changes, Decision::request_changes, "tests"));
    granted(call(review_changeset, rex, app, rejected, Decision::reject, "no"));

    EXPECT_EQ(state_of(changes), "changes_requested");
    EXPECT_EQ(state_of(rejected), "rejected");
    EXPECT_EQ(refusal(call(review_changeset, rex, app, rejected, Decision::approve, "")),
              ErrorCode::invalid_transition);
}

TEST_F(AChangeset, WaitsForAsManyApprovalsAsItsAppAsksFor) {
    granted(call(update_app, ruth, app, Attributes{{"approvals_required", "2"}}));
    const std::string id = submitted();
    run("msuite_submit");

    granted(call(review_changeset, rex, app, id, Decision::approve, "once"));
    granted(call(review_changeset, rex, app, id, Decision::approve, "twice"));
    EXPECT_EQ(state_of(id), "in_review") << "a reviewer's second review replaces the first";
    EXPECT_EQ(reviews_of(id), 1u);

    granted(call(review_changeset, cora, app, id, Decision::approve, ""));
    EXPECT_EQ(state_of(id), "approved");
}

TEST_F(AChangeset, IsQueuedByAConfigManagerInOrder) {
    const std::string first = approved("h1");
    const std::string second = approved("h2");

    EXPECT_EQ(refusal(call(queue_changeset, rex, app, second)), ErrorCode::forbidden);
    EXPECT_EQ(refusal(call(queue_changeset, cora, app, draft())), ErrorCode::invalid_transition);
    const Entity before = granted(call(queue_changeset, cora, app, second));
    const Entity after = granted(call(queue_changeset, cora, app, first));

    EXPECT_EQ(before.state, "queued");
    EXPECT_LT(integer_of(before.attributes, "queue_position"),
              integer_of(after.attributes, "queue_position"));
}

TEST_F(AChangeset, IsCheckedForTheMergeWhenItIsQueued) {
    const std::string temp = profile("temp_changeset");
    const std::string id = approved("h1");

    const auto answer = call(queue_changeset, cora, app, id);

    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->jobs.size(), 1u);
    const JobSpec& merge = answer->jobs.front().spec;
    EXPECT_EQ(merge.type, "msuite_merge");
    EXPECT_EQ(merge.entity_type, "changeset");
    EXPECT_EQ(merge.entity_id, id);
    const Attributes payload = payload_of(answer->jobs.front());
    EXPECT_EQ(text_of(payload, "changeset_id"), id);
    EXPECT_EQ(text_of(payload, "head_sha"), "h1");
    EXPECT_EQ(text_of(payload, "base_sha"), "b1");
    EXPECT_EQ(text_of(payload, "runtime_profile_id"), temp);
}

// The release that takes the changeset is checked anew, as a whole; that check decides.
TEST_F(AChangeset, StaysQueuedWhenItsMergeCheckFails) {
    const std::string id = approved();
    granted(call(queue_changeset, cora, app, id));

    run("msuite_merge", Outcome::failed);

    EXPECT_EQ(state("changeset", id), "queued");
    validated_release({id});
}

TEST_F(AChangeset, IsQueuedInOrderWithinOneBatch) {
    std::vector<std::string> ids;
    for (const char* head : {"h1", "h2", "h3"}) ids.push_back(approved(head));
    Batch batch;
    for (const std::string& id : ids) {
        put(batch,
            EntityAction{.decide = [caller = cora, app_id = app, id](EntityChanges& changes) {
                return queue_changeset(changes, caller, app_id, id);
            }});
    }
    engine.run(batch);

    std::vector<std::int64_t> positions;
    for (const std::string& id : ids) {
        positions.push_back(integer_of(find("changeset", id).attributes, "queue_position").value());
    }
    EXPECT_EQ(positions, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST_F(AChangeset, LeavesTheQueueAsADraftWithoutReviews) {
    const std::string id = queued();

    granted(call(move_changeset_to_draft, ada, app, id));

    EXPECT_EQ(state_of(id), "draft");
    EXPECT_EQ(reviews_of(id), 0u);
    EXPECT_FALSE(find("changeset", id).attributes.contains("queue_position"));
    EXPECT_EQ(refusal(call(move_changeset_to_draft, ada, app, id)), ErrorCode::invalid_transition);
}

TEST_F(AChangeset, IsCheckedAgainstItsTempProfile) {
    const std::string temp = profile("temp_changeset");
    const std::string persistent = profile("persistent_env");
    const auto with = [&](const std::string& id) {
        return Attributes{{"runtime_profile_id", json_string(id)}, {"head_sha", R"("h")"}};
    };

    for (const std::string& wrong : {persistent, std::string("none")}) {
        const auto refused = call(create_changeset, ada, app, with(wrong));
        ASSERT_EQ(refusal(refused), ErrorCode::invalid);
        EXPECT_EQ(refused.error().pointer, "/runtime_profile_id");
    }
    const std::string id = granted(call(create_changeset, ada, app, with(temp))).key.id;
    granted(call(submit_changeset, ada, app, id, ""));

    EXPECT_EQ(text_of(payload_of(jobs_of("msuite_submit").back()), "runtime_profile_id"), temp);
}

TEST_F(AChangeset, HasWhoDidWhatInItsHistory) {
    const std::string id = approved();

    std::vector<std::string> actors;
    for (const EntityEvent& event :
         engine.store().reader()->entities().events({"default", "changeset", id}, 0, 100)) {
        actors.push_back(event.actor);
    }
    EXPECT_EQ(actors, (std::vector<std::string>{"user:ada", "user:ada", "user:rex", "user:rex"}));
}

}  // namespace changesets_test
}  // namespace sluice::apps
