#include "application/deploy/runtime_nodes.hpp"

#include <gtest/gtest.h>

#include "application/deploy/deploy_jobs.hpp"
#include "support/test_engine.hpp"

namespace sluice::deploy {
namespace {

using namespace std::chrono_literals;

constexpr Duration memory = 60s;

class RuntimeNodes : public testing::Test {
  protected:
    Told<EntityAnswer> ask(std::function<Result<EntityAnswer>(EntityDesk&)> decide) {
        return engine.ask(EntityAction{std::move(decide)});
    }
    void beat(const std::string& name) {
        const NodeWords words{name, "http://" + name, "https://" + name, std::nullopt};
        const auto answer = ask([=](EntityDesk& desk) { return note_heartbeat(desk, words); });
        ASSERT_TRUE(answer);
    }
    void create(const std::string& app) {
        const NewJob job = make_deploy_job({.type = build_and_deploy, .app_id = app});
        ASSERT_TRUE(ask([=](EntityDesk& desk) { return create_job(desk, job); }));
    }
    std::string place(const std::string& app) {
        const auto answer = ask([=](EntityDesk& desk) { return place_app(desk, app, memory); });
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

    const auto moved = ask([](EntityDesk& desk) {
        return note_heartbeat(desk, {.name = "n1", .agent_base_url = "http://elsewhere"});
    });
    ASSERT_TRUE(moved);
    EXPECT_EQ(actions(node_key("n1")), (std::vector<std::string>{"created", "updated"}));
}

TEST_F(RuntimeNodes, IsHealthyForLessThanAMinuteAfterItsHeartbeat) {
    beat("n1");
    create("app");

    engine.sleep(60s);
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
        ask([](EntityDesk& desk) { return reassign_app(desk, "app", "n2", memory); });

    ASSERT_TRUE(moved);
    EXPECT_EQ(place("app"), "n2");
    EXPECT_EQ(actions(app_key("app")),
              (std::vector<std::string>{"created", "job_created", "placed", "reassigned"}));
}

TEST(RuntimeNodesOfTwoEngines, GiveAnAppTheSamePlace) {
    std::vector<std::string> places;
    for (const auto& names : {std::vector{"n3", "n1", "n2"}, std::vector{"n2", "n3", "n1"}}) {
        TestEngine engine;
        for (const char* name : names) {
            const NodeWords words{name, "http://x", "https://x", std::nullopt};
            ASSERT_TRUE(engine.ask(
                EntityAction{[=](EntityDesk& desk) { return note_heartbeat(desk, words); }}));
        }
        const NewJob job = make_deploy_job({.type = build_and_deploy, .app_id = "app"});
        ASSERT_TRUE(
            engine.ask(EntityAction{[=](EntityDesk& desk) { return create_job(desk, job); }}));
        const auto placed = engine.ask(
            EntityAction{[](EntityDesk& desk) { return place_app(desk, "app", memory); }});
        places.push_back(placed->others.front().key.id);
    }
    EXPECT_EQ(places[0], places[1]);
}

TEST_F(RuntimeNodes, ARunnersLastLeaseIsFoundAfterTheJobWentOn) {
    create("app");
    const ClaimFilter deploys{.queues = {queue}};
    const Job first = engine.claim_one(deploys);
    engine.advance(31s);
    const Job second = engine.claim_one(deploys);
    engine.report(second, Outcome::succeeded);

    const auto reader = engine.store().reader();
    EXPECT_NE(first.lease->token, second.lease->token);
    EXPECT_EQ(last_lease(*reader, first.spec.id, first.lease->worker_id), second.lease->token);
    EXPECT_EQ(last_lease(*reader, first.spec.id, "stranger"), std::nullopt);
}

}  // namespace
}  // namespace sluice::deploy
