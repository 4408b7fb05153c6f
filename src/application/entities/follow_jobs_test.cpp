#include "application/entities/follow_jobs.hpp"

#include <gtest/gtest.h>

#include "application/entities/entity_changes.hpp"
#include "json/json_values.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace follow_jobs_test {

using namespace std::chrono_literals;

JobSpec on_site(std::string type = "env_deploy") {
    JobSpec made = spec(std::move(type));
    made.site_id = "s1";
    made.max_attempts = 2;
    return made;
}

std::optional<Entity> find_entity(TestEngine& engine, const EntityKey& key) {
    return engine.store().reader()->entities().find_one(key);
}

std::string site_state(TestEngine& engine) {
    const auto site = find_entity(engine, {"default", "site", "s1"});
    return site ? site->state : "";
}

Result<EntityAnswer> act(TestEngine& engine, const EntityKey& key, const std::string& action) {
    return engine.ask(EntityAction{.decide = [=](EntityChanges& changes) -> Result<EntityAnswer> {
        auto entity = changes.find(key);
        if (!entity) return Error{ErrorCode::not_found, "", ""};
        if (auto refusal = changes.act(*entity, action)) return *std::move(refusal);
        return EntityAnswer{.entity = std::move(entity)};
    }});
}

void fail(TestEngine& engine, const Job& job) {
    Report report = report_of(job, Outcome::failed);
    report.error_code = "E";
    report.error_message = "why";
    engine.ask(report);
}

TEST(ASiteWithAJob, IsInProgressFromItsStartAndActiveAfterItsSuccess) {
    TestEngine engine;
    engine.submit(on_site());
    EXPECT_EQ(site_state(engine), "") << "it comes into being with the first start";

    const Job job = engine.claim_one();
    EXPECT_EQ(site_state(engine), "deploying");

    engine.report(job, Outcome::succeeded);
    EXPECT_EQ(site_state(engine), "active");
}

TEST(ASiteWithAJob, StaysInProgressWhileARetryWaitsAndRuns) {
    TestEngine engine;
    const Job first = engine.start(on_site("env_restore"));
    fail(engine, first);
    EXPECT_EQ(site_state(engine), "restoring");

    const Job second = engine.claim_one();
    EXPECT_EQ(site_state(engine), "restoring");
    fail(engine, second);
    EXPECT_EQ(site_state(engine), "failed");

    const auto events =
        engine.store().reader()->entities().events({"default", "site", "s1"}, 0, 100);
    std::vector<std::string> actions;
    for (const EntityEvent& event : events) actions.push_back(event.action);
    EXPECT_EQ(actions, (std::vector<std::string>{"created", "restore", "fail"}))
        << "the retry's start is no change";
    EXPECT_EQ(events.back().job, first.spec->id);
}

TEST(ASiteWithAJob, FailsWithADeadlineALostLeaseAndACancelWhileRunning) {
    for (const int how : {0, 1, 2}) {
        TestEngine engine;
        JobSpec made = on_site();
        made.max_attempts = 1;
        if (how == 0) made.timeout = 5s;
        const Job job = engine.start(made);
        if (how == 0) engine.advance(6s);
        if (how == 1) engine.advance(TestEngine::term + 1s);
        if (how == 2) engine.ask(CancelJob{.job = job.spec->id, .is_admin = true});
        EXPECT_EQ(site_state(engine), "failed") << how;
    }
}

TEST(ASiteWithAJob, IsLeftAloneByAJobThatEndsBeforeItStarted) {
    TestEngine engine;
    const Job running = engine.start(on_site());
    const Job waiting = engine.submit(on_site());

    engine.ask(CancelJob{.job = waiting.spec->id, .is_admin = true});

    EXPECT_EQ(site_state(engine), "deploying");
    engine.report(running, Outcome::succeeded);
    EXPECT_EQ(site_state(engine), "active");
}

class AFailedSite : public testing::Test {
  protected:
    AFailedSite() {
        JobSpec made = on_site();
        made.max_attempts = 1;
        const Job first = engine.start(made);
        waiting = engine.submit(on_site());
        health = engine.submit(on_site("health_check"));
        fail(engine, first);
    }

    TestEngine engine;
    Job waiting;
    Job health;
};

TEST_F(AFailedSite, TakesNoJobThatWouldChangeIt) {
    const auto refused = engine.ask(submission({on_site()}));
    EXPECT_EQ(refusal(refused), ErrorCode::resource_failed);
    EXPECT_TRUE(engine.ask(submission({on_site("backup_create")})));
}

TEST_F(AFailedSite, EndsAJobThatWaitedWithItsReasonAndLetsOthersRun) {
    const Claimed got = engine.claim({}, 10);

    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].spec->id, health.spec->id);
    const Job ended = engine.find(waiting.spec->id);
    EXPECT_EQ(ended.now.state, JobState::failed);
    EXPECT_EQ(ended.now.error_code, "RESOURCE_FAILED");
    EXPECT_EQ(ended.now.error_message, "site s1 is failed, so that the job cannot start");
    EXPECT_EQ(site_state(engine), "failed");
}

// Both claims are woken when the site is free, and the first one takes it for a job that cannot
// start. (Or the second one is served first, as stores that several committers share may do.)
TEST_F(AFailedSite, IsFreeAtOnceForWhoWaitsBehindAJobThatCannotStart) {
    const Job check = engine.claim_one({.types = {"health_check"}});
    const Job next = engine.submit(on_site("health_check"));
    const auto deploys = engine.wait(60s, {.types = {"env_deploy"}});
    const auto checks = engine.wait(60s, {.types = {"health_check"}});
    ASSERT_FALSE(*deploys || *checks);

    engine.report(check, Outcome::succeeded);

    EXPECT_FALSE(*deploys);
    ASSERT_TRUE(*checks) << "the site is free, and nobody else will say so";
    EXPECT_EQ(ids_of(***checks), (std::vector{next.spec->id}));
}

TEST_F(AFailedSite, IsActiveAgainByAResetAndRunsWhatWaited) {
    ASSERT_TRUE(act(engine, {"default", "site", "s1"}, "reset"));
    EXPECT_EQ(site_state(engine), "active");
    EXPECT_EQ(engine.claim_one().spec->id, waiting.spec->id);
    EXPECT_EQ(site_state(engine), "deploying");
}

TEST_F(AFailedSite, RefusesWhatItsTableDoesNotHave) {
    const auto refused = act(engine, {"default", "site", "s1"}, "done");
    EXPECT_EQ(refusal(refused), ErrorCode::invalid_transition);
    EXPECT_EQ(refused.error().message,
              "site s1 is failed; done is possible only from cloning, deploying, restoring");
    EXPECT_EQ(refusal(act(engine, {"default", "site", "s1"}, "explode")), ErrorCode::invalid);
}

TEST(AnEnvironmentWithAJob, RunsOneAtATimeAndMovesWithItsSite) {
    TestEngine engine;
    JobSpec made = on_site();
    made.entity_type = "environment";
    made.entity_id = "e1";
    const Job job = engine.start(made);
    JobSpec other = made;
    other.site_id = "s2";
    engine.submit(other);

    EXPECT_TRUE(engine.claim().empty()) << "its environment is busy";
    EXPECT_EQ(find_entity(engine, {"default", "environment", "e1"})->state, "deploying");
    engine.report(job, Outcome::succeeded);
    EXPECT_EQ(find_entity(engine, {"default", "environment", "e1"})->state, "active");
    EXPECT_EQ(engine.claim().size(), 1U);
}

TEST(AnEntityAction, ThatIsRefusedLeavesNothingBehind) {
    TestEngine engine;
    const auto refused =
        engine.ask(EntityAction{.decide = [](EntityChanges& changes) -> Result<EntityAnswer> {
            auto made = changes.create({.key = {"default", "node", "n1"}});
            if (!made) return made.error();
            NewJob job;
            job.type = "work";
            if (auto id = changes.submit(job); !id) return id.error();
            return Error{ErrorCode::conflict, "on second thought", ""};
        }});

    EXPECT_EQ(refusal(refused), ErrorCode::conflict);
    EXPECT_FALSE(find_entity(engine, {"default", "node", "n1"}));
    EXPECT_EQ(engine.count_jobs(), 0U);
}

TEST(AnEntityAction, WritesEntitiesAndJobsTogether) {
    TestEngine engine;
    const auto answer =
        engine.ask(EntityAction{.decide = [](EntityChanges& changes) -> Result<EntityAnswer> {
            auto made =
                changes.create({.key = {"default", "node", ""}, .attributes = {{"port", "22"}}});
            if (!made) return made.error();
            NewJob job;
            job.type = "work";
            if (auto id = changes.submit_for(*made, job); !id) return id.error();
            changes.save(*made);
            return EntityAnswer{.entity = *made};
        }});

    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->jobs.size(), 1U);
    const auto node = find_entity(engine, answer->entity->key);
    ASSERT_TRUE(node);
    EXPECT_EQ(node->key.id.size(), 24U);
    EXPECT_EQ(text_of(node->attributes, "job_id"), to_text(answer->jobs[0].spec->id));
    EXPECT_EQ(engine.find(answer->jobs[0].spec->id).spec->entity_id, node->key.id);
    EXPECT_EQ(node->revision, 2);
}

TEST(AnEntityAction, CannotMakeTheSameTwice) {
    TestEngine engine;
    const auto make = [](EntityChanges& changes) -> Result<EntityAnswer> {
        auto made = changes.create({.key = {"default", "node", "n1"}});
        if (!made) return made.error();
        return EntityAnswer{.entity = *made};
    };
    EXPECT_TRUE(engine.ask(EntityAction{.decide = make}));
    EXPECT_EQ(refusal(engine.ask(EntityAction{.decide = make})), ErrorCode::conflict);
}

}  // namespace follow_jobs_test
}  // namespace sluice
