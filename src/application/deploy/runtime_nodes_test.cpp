#include "application/deploy/runtime_nodes.hpp"

#include <gtest/gtest.h>

#include "application/deploy/deploy_jobs.hpp"
#include "application/deploy/placements.hpp"
#include "support/test_engine.hpp"

namespace sluice::deploy {
namespace runtime_nodes_test {

using namespace std::chrono_literals;

constexpr Duration memory = 60s;

class RuntimeNodes : public testing::Test {
  protected:
    Told<EntityAnswer> ask(std::function<Result<EntityAnswer>(EntityChanges&)> decide) {
        return engine.ask(EntityAction{.decide = std::move(decide)});
    }
    void beat(const std::string& name) {
        const NodeUpdate given{.name = name,
                               .agent_base_url = "http://" + name,
                               .gateway_base_url = "https://" + name};
        const auto answer =
            ask([=](EntityChanges& changes) { return note_heartbeat(changes, given); });
        ASSERT_TRUE(answer);
    }
    void create(const std::string& app) {
        const NewJob job = make_deploy_job({.type = build_and_deploy, .app_id = app});
        ASSERT_TRUE(ask([=](EntityChanges& changes) { return create_job(changes, job); }));
    }
    std::string place(const std::string& app) {
        const auto answer = ask([=](EntityChanges& changes) { return place_app(changes, app); });
        return answer && !answer->others.empty() ? answer->others.front().key.id : "";
    }
    std::vector<std::string> actions(const EntityKey& key) {
        std::vector<std::string> all;
        for (const EntityEvent& event : engine.store().reader()->entities().events(key, 0, 100)) {
            all.push_back(event.action);
        }
        return all;
    }

    TestEngine engine;
};

TEST_F(RuntimeNodes, AHeartbeatThatBringsNothingNewIsNotAnEvent) {
    beat("n1");
    engine.sleep(30s);
    beat("n1");

    const auto node = engine.store().reader()->entities().find_one(node_key("n1"));
    EXPECT_EQ(actions(node_key("n1")), (std::vector<std::string>{"created"}));
    EXPECT_EQ(to_node(*node).last_heartbeat_at, engine.now());

    const auto moved = ask([](EntityChanges& changes) {
        return note_heartbeat(changes, {.name = "n1", .agent_base_url = "http://elsewhere"});
    });
    ASSERT_TRUE(moved);
    EXPECT_EQ(actions(node_key("n1")), (std::vector<std::string>{"created", "updated"}));
}

TEST_F(RuntimeNodes, IsHealthyForLessThanAMinuteAfterItsHeartbeat) {
    beat("n1");
    engine.sleep(60s);
    create("app");
    EXPECT_EQ(place("app"), "");

    beat("n1");
    engine.sleep(59s);
    EXPECT_EQ(place("app"), "n1");
}

TEST_F(RuntimeNodes, AnAppIsPlacedOnceAndItsHistoryTellsOfEachMove) {
    beat("n1");
    create("app");
    EXPECT_EQ(place("app"), "n1");
    EXPECT_EQ(place("app"), "n1");
    beat("n2");

    const auto moved =
        ask([](EntityChanges& changes) { return reassign_app(changes, "app", "n2"); });

    ASSERT_TRUE(moved);
    EXPECT_EQ(place("app"), "n2");
    EXPECT_EQ(actions(app_key("app")),
              (std::vector<std::string>{"created", "job_created", "placed", "reassigned"}));
}

TEST(RuntimeNodesOfTwoEngines, GiveAnAppTheSamePlace) {
    std::vector<std::string> nodes;
    for (const auto& names : {std::vector{"n3", "n1", "n2"}, std::vector{"n2", "n3", "n1"}}) {
        TestEngine engine;
        for (const char* name : names) {
            const NodeUpdate given{
                .name = name, .agent_base_url = "http://x", .gateway_base_url = "https://x"};
            ASSERT_TRUE(engine.ask(EntityAction{
                .decide = [=](EntityChanges& changes) { return note_heartbeat(changes, given); }}));
        }
        const NewJob job = make_deploy_job({.type = build_and_deploy, .app_id = "app"});
        ASSERT_TRUE(engine.ask(EntityAction{
            .decide = [=](EntityChanges& changes) { return create_job(changes, job); }}));
        const auto placed = engine.ask(EntityAction{
            .decide = [](EntityChanges& changes) { return place_app(changes, "app"); }});
        nodes.push_back(placed->others.front().key.id);
    }
    EXPECT_EQ(nodes[0], nodes[1]);
}

TEST_F(RuntimeNodes, GetSmallNumbersThatStayTheirOwn) {
    beat("n1");
    const auto upserted =
        ask([](EntityChanges& changes) { return put_node(changes, {.name = "n2", .weight = 7}); });
    beat("n3");
    beat("n1");

    EXPECT_EQ(to_node(*upserted->entity).id, 2);
    EXPECT_EQ(to_node(*upserted->entity).weight, 7);
    const auto reader = engine.store().reader();
    for (const auto& [name, id] : std::map<std::string, int>{{"n1", 1}, {"n2", 2}, {"n3", 3}}) {
        EXPECT_EQ(to_node(*reader->entities().find_one(node_key(name))).id, id);
        EXPECT_EQ(find_node(reader->entities(), std::to_string(id))->key.id, name);
        EXPECT_EQ(find_node(reader->entities(), name)->key.id, name);
    }
    EXPECT_FALSE(find_node(reader->entities(), "4"));
    EXPECT_FALSE(find_node(reader->entities(), "n4"));
}

TEST_F(RuntimeNodes, ANodeFromBeforeNodesHadNumbersGetsOneWhenItIsHeardOf) {
    beat("n1");
    ASSERT_TRUE(ask([](EntityChanges& changes) -> Result<EntityAnswer> {
        auto old = changes.create({.key = node_key("old")});
        return old ? Result<EntityAnswer>(EntityAnswer{}) : old.error();
    }));
    const auto reader = engine.store().reader();
    EXPECT_EQ(to_node(*reader->entities().find_one(node_key("old"))).id, std::nullopt);

    beat("old");

    EXPECT_EQ(to_node(*reader->entities().find_one(node_key("old"))).id, 2);
}

TEST_F(RuntimeNodes, SayHowTheyAre) {
    using enum NodeHealth;
    const Timestamp now = at(100);
    RuntimeNode node{.agent_base_url = "http://a", .gateway_base_url = "http://g"};
    EXPECT_EQ(node.health(now, memory), stale) << "it was never heard of";
    node.last_heartbeat_at = at(41);
    EXPECT_EQ(node.health(now, memory), healthy);
    node.last_heartbeat_at = at(40);
    EXPECT_EQ(node.health(now, memory), stale);
    node.gateway_base_url.clear();
    EXPECT_EQ(node.health(now, memory), unhealthy);
    node.enabled = false;
    EXPECT_EQ(node.health(now, memory), draining);
}

TEST_F(RuntimeNodes, WhatAnAgentMeasuresIsKeptWithoutAnEvent) {
    beat("n1");
    const NodeUpdate given{
        .name = "n1", .disk_free_pct = 61.25, .disk_free_bytes = 9e9, .container_count = 3};
    ASSERT_TRUE(ask([=](EntityChanges& changes) { return note_heartbeat(changes, given); }));
    beat("n1");

    const auto node = to_node(*engine.store().reader()->entities().find_one(node_key("n1")));
    EXPECT_EQ(node.disk_free_pct, 61.25);
    EXPECT_EQ(node.disk_free_bytes, 9'000'000'000);
    EXPECT_EQ(node.container_count, 3);
    EXPECT_EQ(actions(node_key("n1")), (std::vector<std::string>{"created"}));
}

}  // namespace runtime_nodes_test
}  // namespace sluice::deploy
