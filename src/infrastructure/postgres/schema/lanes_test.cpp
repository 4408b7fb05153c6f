#include "infrastructure/postgres/schema/lanes.hpp"

#include <gtest/gtest.h>

#include <set>

#include "infrastructure/postgres/schema/migrations.hpp"
#include "tests/support/postgres.hpp"

namespace sluice::postgres {
namespace lanes_test {

TEST(LaneId, IsAnotherOneForEveryOtherLane) {
    const std::vector<Lane> lanes{{"a", "b", "c", {}},         {"b", "a", "c", {}},
                                  {"ab", "", "c", {}},         {"a", "b", "c", {"d"}},
                                  {"a", "b", "c", {"d", "e"}}, {"a", "b", "c", {"de"}},
                                  {"a", "b", "c", {""}},       {"a", "b", "1:c", {}}};

    std::set<LaneId> ids;
    for (const Lane& lane : lanes) ids.insert(lane_id(lane));

    EXPECT_EQ(ids.size(), lanes.size());
    // The id is in the database, so it must never change.
    EXPECT_EQ(lane_id({"default", "default", "mail", {"gpu"}}), 4355961077708505515);
}

class PostgresLanes : public testing::Test {
  protected:
    PostgresLanes() { migrate(connection); }

    void insert(const Lane& lane, const std::string& labels) {
        connection.execute("INSERT INTO lane (id, tenant, queue, type, labels) VALUES (" +
                           std::to_string(lane_id(lane)) + ", '" + lane.tenant + "', '" +
                           lane.queue + "', '" + lane.type + "', " + labels + ")");
    }

    bool take_news() {
        const Connection::Ticket ticket = lanes.ask_for_news(connection);
        connection.sync();
        return lanes.take_news(connection.take(ticket));
    }

    const std::string url = fresh_database();
    Connection connection{{.url = url}};
    Lanes lanes;
    const Lane mail{"default", "default", "mail", {}};
    const Lane render{"default", "slow", "render", {"disk", "gpu"}};
};

TEST_F(PostgresLanes, AreReadWithTheirLabels) {
    insert(mail, "NULL");
    insert(render, "'4:disk3:gpu'");

    lanes.load(connection);

    EXPECT_EQ(lanes.find(lane_id(mail)), mail);
    EXPECT_EQ(lanes.find(lane_id(render)), render);
    EXPECT_TRUE(lanes.knows(lane_id(render)));
    EXPECT_FALSE(lanes.find(1));
}

TEST_F(PostgresLanes, AreNewOnlyOnce) {
    insert(mail, "NULL");
    EXPECT_TRUE(take_news());
    EXPECT_FALSE(take_news());

    insert(render, "'4:disk3:gpu'");
    EXPECT_TRUE(take_news());
    EXPECT_EQ(lanes.find(lane_id(render)), render);
}

// Numbers are given before the commit, so that a smaller one may appear after a larger one.
TEST_F(PostgresLanes, AreFoundWhenTheyWereCommittedLate) {
    Connection slow{{.url = url}};
    slow.execute("BEGIN; INSERT INTO lane (id, tenant, queue, type) VALUES (" +
                 std::to_string(lane_id(mail)) + ", 'default', 'default', 'mail')");
    insert(render, "'4:disk3:gpu'");
    ASSERT_TRUE(take_news());

    slow.execute("COMMIT");

    EXPECT_TRUE(take_news());
    EXPECT_TRUE(lanes.knows(lane_id(mail)));
}

TEST_F(PostgresLanes, MatchWhatAFilterAccepts) {
    lanes.add(lane_id(mail), mail);
    lanes.add(lane_id(render), render);

    EXPECT_EQ(lanes.matching({}), std::vector{lane_id(mail)});
    EXPECT_EQ(lanes.matching({.queues = {"slow"}, .labels = {"disk", "gpu"}}),
              std::vector{lane_id(render)});
    EXPECT_TRUE(lanes.matching({.tenant = "other"}).empty());

    const Lane others{.tenant = "other", .queue = "default", .type = "mail"};
    lanes.add(lane_id(others), others);
    EXPECT_EQ(lanes.matching({.tenant = "other"}), std::vector{lane_id(others)});
    EXPECT_EQ(lanes.matching({.tenant = "", .any_tenant = true, .labels = {"disk", "gpu"}}).size(),
              3u);
}

}  // namespace lanes_test
}  // namespace sluice::postgres
