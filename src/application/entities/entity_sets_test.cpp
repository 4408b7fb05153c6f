// Entities are reserved before anything is decided; when one shows only later, and another session
// has locked it, the batch is decided again.
#include <gtest/gtest.h>

#include "application/apps/app_contract.hpp"
#include "application/entities/entity_changes.hpp"
#include "application/entities/follow_jobs.hpp"
#include "infrastructure/memory/memory_store.hpp"
#include "json/json_values.hpp"
#include "support/faulty_store.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace entity_sets_test {

const EntityKey first_site{"default", "site", "s1"};

JobSpec on_site(const std::string& site) {
    JobSpec made = spec("env_deploy");
    made.site_id = site;
    return made;
}

class EntitySets : public testing::Test {
  protected:
    // Adds the entity, or counts its changes up.
    EntityAction count_up(const EntityKey& key, bool says_so) {
        EntityAction action;
        if (says_so) action.touches = {key};
        action.decide = [this, key](EntityChanges& changes) -> Result<EntityAnswer> {
            ++decisions;
            auto entity = changes.find(key);
            if (!entity) {
                auto created = changes.create({.key = key});
                if (!created) return created.error();
                return EntityAnswer{.entity = *created};
            }
            changes.save(*entity);
            return EntityAnswer{.entity = *entity};
        };
        return action;
    }

    std::string state_of(const std::string& site) {
        const auto found = memory.reader()->entities().find_one({"default", "site", site});
        return found ? found->state : "";
    }

    MemoryStore memory;
    FaultyStore store{memory};
    TestEngine engine{store};
    int decisions = 0;
};

TEST_F(EntitySets, AnActionThatMeetsABusyEntityIsDecidedAgainWithItReserved) {
    ASSERT_TRUE(engine.ask(count_up(first_site, false)));
    store.busy_next();

    const auto answer = engine.ask(count_up(first_site, false));

    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->entity->revision, 2) << "what the first try did is forgotten";
    EXPECT_EQ(decisions, 3);
    EXPECT_EQ(store.busy_met(), 1) << "the next try has reserved it";
}

TEST_F(EntitySets, AnActionAsksForNothingLateThatItHasNamed) {
    ASSERT_TRUE(engine.ask(count_up(first_site, true)));
    store.busy_next();

    ASSERT_TRUE(engine.ask(count_up(first_site, true)));

    EXPECT_EQ(store.busy_met(), 0);
}

TEST_F(EntitySets, AClaimThatMeetsABusySiteTakesTheSameJobInTheEnd) {
    const Job job = engine.submit(on_site("s1"));
    store.busy_next();

    EXPECT_EQ(engine.claim_one().spec->id, job.spec->id);

    EXPECT_EQ(store.busy_met(), 1);
    EXPECT_EQ(state_of("s1"), "deploying");
    EXPECT_EQ(engine.steps(job.spec->id), (std::vector{Step::submitted, Step::claimed}));
}

TEST_F(EntitySets, ReportsAndCancelsReserveTheSitesOfTheirJobs) {
    const Job reported = engine.start(on_site("s1"));
    const Job canceled = engine.start(on_site("s2"));
    store.busy_next();

    Batch batch;
    const auto report = put(batch, report_of(reported, Outcome::succeeded));
    const auto cancel =
        put(batch, CancelJob{.job = canceled.spec->id, .tenant = "default", .is_admin = true});
    engine.run(batch);

    ASSERT_TRUE(report->value());
    ASSERT_TRUE(cancel->value());
    EXPECT_EQ(store.busy_met(), 0);
    EXPECT_EQ(state_of("s1"), "active");
    EXPECT_EQ(state_of("s2"), "failed");
}

TEST_F(EntitySets, ALeaseThatRunsOutMovesItsSiteThoughAnotherSessionHadIt) {
    engine.start(on_site("s1"));
    store.busy_next();

    engine.advance(2 * TestEngine::term);

    EXPECT_EQ(store.busy_met(), 1);
    EXPECT_EQ(state_of("s1"), "failed");
}

TEST_F(EntitySets, OneOfManyJobsThatCannotStartDoesNotKeepTheOthersFromIt) {
    const Job broken = engine.start(on_site("s1"));
    Report failure = report_of(broken, Outcome::failed, "E");
    failure.error_message = "broken";
    failure.retryable = false;
    const JobSpec late = on_site("s1");
    const std::vector<Job> jobs = engine.submit_all({late, on_site("s2"), on_site("s3")});
    engine.ask(failure);

    const Claimed claimed = engine.claim({}, 3);

    EXPECT_EQ(claimed.size(), 2u);
    EXPECT_EQ(state_of("s1"), "failed");
    EXPECT_EQ(state_of("s2"), "deploying");
    EXPECT_EQ(state_of("s3"), "deploying");
    EXPECT_EQ(engine.find(jobs.front().spec->id).now.error_code, resource_failed_code);
}

TEST_F(EntitySets, AJobWhoseSecondEntityRefusesMovesNeither) {
    const EntityKey environment{"default", "environment", "e1"};
    JobSpec about_both = on_site("s1");
    about_both.entity_type = environment.kind;
    about_both.entity_id = environment.id;
    JobSpec about_environment = spec("env_deploy");
    about_environment.entity_type = environment.kind;
    about_environment.entity_id = environment.id;
    const Job broken = engine.start(about_environment);
    const Job both = engine.submit(about_both);
    Report failure = report_of(broken, Outcome::failed, "E");
    failure.error_message = "broken";
    failure.retryable = false;
    engine.ask(failure);

    EXPECT_TRUE(engine.claim().empty());

    EXPECT_EQ(engine.find(both.spec->id).now.error_code, resource_failed_code);
    EXPECT_EQ(state_of("s1"), "") << "it has not come into being";
}

TEST(WhatAJobTouches, IsWhatMovesWithItAndWhatItsContractNames) {
    JobSpec deployment = spec("deploy_release");
    deployment.project = "a1";
    deployment.entity_type = "deployment";
    deployment.entity_id = "d1";
    deployment.payload = R"({"environment_id":"e1","deployment_id":"d1","release_id":"r1",)"
                         R"("runtime_profile_id":"p1"})";
    std::vector<EntityKey> keys;

    add_followed(Rules::built_in(), deployment, keys);

    const std::vector<EntityKey> expected{{"default", "deployment", "d1"},
                                          {"default", "deployment", "d1"},
                                          {"default", "environment", "e1"},
                                          {"default", "runtime_profile", "p1"},
                                          {"default", "release", "r1"}};
    EXPECT_EQ(keys, expected);
}

TEST(WhatAChangeInAnAppTouches, IsTheAppAndWhatPathAndBodyName) {
    const std::vector<EntityKey> expected{{"acme", "app", "a1"},
                                          {"acme", "environment", "e1"},
                                          {"acme", "release", "r1"},
                                          {"acme", "changeset", "c1"},
                                          {"acme", "changeset", "c2"}};
    EXPECT_EQ(
        apps::touched_in_app(
            "acme", "a1", "environment", "e1",
            {{"release_id", R"("r1")"}, {"changeset_ids", R"(["c1","c2"])"}, {"name", R"("x")"}}),
        expected);
    EXPECT_TRUE(apps::touched_in_app("acme", "", "", "", {}).empty());
}

}  // namespace entity_sets_test
}  // namespace sluice
