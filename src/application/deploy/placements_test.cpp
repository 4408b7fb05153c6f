#include "application/deploy/placements.hpp"

#include <gtest/gtest.h>

#include "application/deploy/deploy_jobs.hpp"
#include "support/faulty_store.hpp"
#include "support/test_engine.hpp"

namespace sluice::deploy {
namespace placements_test {

using namespace std::chrono_literals;
using Decide = std::function<Result<EntityAnswer>(EntityChanges&)>;

void change(TestEngine& engine, Decide decide) {
    const auto answer = engine.ask(EntityAction{.decide = std::move(decide)});
    ASSERT_TRUE(answer) << answer.error().message;
}

void beat(TestEngine& engine, const std::string& name, std::optional<double> free = std::nullopt) {
    const NodeUpdate given{.name = name,
                           .agent_base_url = "http://" + name,
                           .gateway_base_url = "https://" + name,
                           .disk_free_pct = free};
    change(engine, [=](EntityChanges& changes) { return note_heartbeat(changes, given); });
}

JobId create(TestEngine& engine, const std::string& app) {
    const NewJob job = make_deploy_job({.type = build_and_deploy, .app_id = app});
    const auto made = engine.ask(
        EntityAction{.decide = [=](EntityChanges& changes) { return create_job(changes, job); }});
    return made->jobs.front().spec->id;
}

std::string node_of(Store& store, const std::string& app) {
    const auto entity = store.reader()->entities().find_one(app_key(app));
    return entity ? entity->parent : "";
}

std::vector<EntityEvent> events(TestEngine& engine, const std::string& app) {
    return engine.store().reader()->entities().events(app_key(app), 0, 100);
}

const ClaimFilter deploys{.queues = {queue}};

TEST(Placements, AnAppIsPlacedWhenItsJobIsCreated) {
    TestEngine engine;
    beat(engine, "n1");

    create(engine, "app");

    EXPECT_EQ(node_of(engine.store(), "app"), "n1");
}

TEST(Placements, AClaimPlacesAnAppThatIsOnNoNodeInItsOwnTransaction) {
    TestEngine engine;
    const JobId id = create(engine, "app");
    create(engine, "other");
    EXPECT_EQ(node_of(engine.store(), "app"), "") << "there was no node yet";
    beat(engine, "n1");

    EXPECT_EQ(engine.claim(deploys, 2).size(), 2u);

    EXPECT_EQ(node_of(engine.store(), "app"), "n1");
    EXPECT_EQ(node_of(engine.store(), "other"), "n1");
    const EntityEvent placed = events(engine, "app").back();
    EXPECT_EQ(placed.action, "placed");
    EXPECT_EQ(placed.actor, "worker:worker");
    EXPECT_EQ(placed.job, id);
}

// Whether the job is leased, and its app on a node, after the process died in the claim.
std::pair<bool, bool> after_death(FaultyStore::Moment moment, int uses) {
    MemoryStore memory;
    FaultyStore store(memory);
    TestEngine engine(store);
    const JobId id = create(engine, "app");
    beat(engine, "n1");
    store.die_next(moment, uses);
    EXPECT_THROW(engine.claim(deploys), ProcessDied);
    return {memory.reader()->find_one(id)->lease.has_value(), node_of(memory, "app") == "n1"};
}

TEST(Placements, NoDeathLeavesALeaseWithoutAPlace) {
    for (int uses = 0; uses < 40; ++uses) {
        EXPECT_EQ(after_death(FaultyStore::Moment::use, uses), std::pair(false, false)) << uses;
    }
    EXPECT_EQ(after_death(FaultyStore::Moment::after_commit, 0), std::pair(true, true));
}

TEST(Placements, AnAppThatWasPlacedIsNotWrittenAgainByAClaim) {
    TestEngine engine;
    beat(engine, "n1");
    create(engine, "app");
    const std::size_t before = events(engine, "app").size();

    engine.claim_one(deploys);

    EXPECT_EQ(events(engine, "app").size(), before);
}

TEST(Placements, ByFreeDiskGoWhereThereIsMost) {
    Rules rules;
    rules.settings.put(PlacementRules{.strategy = PlacementStrategy::disk_aware});
    MemoryStore store;
    Engine engine(store, {.rules = &rules});
    const auto ask = [&](Decide decide) {
        Batch batch;
        const auto answer = put(batch, EntityAction{.decide = std::move(decide)});
        engine.run(batch, at(0));
        batch.deliver();
        ASSERT_TRUE(answer->value());
    };
    for (const auto& [name, free] :
         std::map<std::string, std::optional<double>>{{"a", std::nullopt}, {"b", 9.5}, {"c", 80}}) {
        const NodeUpdate given{.name = name,
                               .agent_base_url = "http://" + name,
                               .gateway_base_url = "https://" + name,
                               .disk_free_pct = free};
        ask([=](EntityChanges& changes) { return note_heartbeat(changes, given); });
    }
    for (const char* app : {"x", "y", "z"}) {
        const NewJob job = make_deploy_job({.type = build_and_deploy, .app_id = app});
        ask([=](EntityChanges& changes) { return create_job(changes, job); });
        EXPECT_EQ(node_of(store, app), "c");
    }
}

TEST(Placements, AnAppMayBeMovedToAnyNodeThatIsEnabled) {
    TestEngine engine;
    beat(engine, "n1");
    create(engine, "app");
    change(engine, [](EntityChanges& changes) { return put_node(changes, {.name = "mute"}); });
    change(engine, [](EntityChanges& changes) {
        return put_node(changes, {.name = "off", .enabled = false});
    });

    change(engine, [](EntityChanges& changes) { return reassign_app(changes, "app", "2"); });
    EXPECT_EQ(node_of(engine.store(), "app"), "mute");
    change(engine, [](EntityChanges& changes) { return reassign_app(changes, "new", "n1"); });
    EXPECT_EQ(node_of(engine.store(), "new"), "n1");
    EXPECT_EQ(
        refusal(engine.ask(EntityAction{
            .decide = [](EntityChanges& changes) { return reassign_app(changes, "app", "off"); }})),
        ErrorCode::conflict);
}

Result<Purged> purge(TestEngine& engine, const std::string& app) {
    Result<Purged> purged = Purged{};
    (void)engine.ask(EntityAction{.decide = [&](EntityChanges& changes) -> Result<EntityAnswer> {
        purged = purge_app(changes, app);
        if (!purged) return purged.error();
        return EntityAnswer{};
    }});
    return purged;
}

std::vector<JobId> listed(TestEngine& engine, const std::string& app) {
    const auto reader = engine.store().reader();
    std::vector<JobId> ids;
    for (const Job& job : reader->list(listed_jobs_of(reader->entities(), app), newest, 100)) {
        ids.push_back(job.spec->id);
    }
    return ids;
}

TEST(Purge, TakesEndedJobsOffTheListAndTheAppOffItsNode) {
    TestEngine engine;
    beat(engine, "n1");
    const JobId first = create(engine, "app");
    EXPECT_EQ(refusal(purge(engine, "app")), ErrorCode::conflict) << "a job waits";
    engine.report(engine.claim_one(deploys), Outcome::succeeded);

    const auto purged = purge(engine, "app");

    EXPECT_EQ(purged->jobs, 1);
    EXPECT_EQ(purged->runs, 1);
    EXPECT_EQ(purged->placements, 1);
    EXPECT_TRUE(listed(engine, "app").empty());
    EXPECT_EQ(node_of(engine.store(), "app"), "");
    EXPECT_EQ(engine.find(first).now.state, JobState::succeeded) << "history keeps it";
    EXPECT_EQ(events(engine, "app").back().action, "purged");

    const JobId second = create(engine, "app");
    EXPECT_EQ(listed(engine, "app"), std::vector<JobId>{second});
    engine.cancel(second);
    EXPECT_EQ(purge(engine, "app")->jobs, 1);
    EXPECT_EQ(purge(engine, "app")->runs, 0) << "there is nothing left";
    EXPECT_EQ(purge(engine, "unknown")->runs, 0);
}

}  // namespace placements_test
}  // namespace sluice::deploy
