// What watches tell each other about rules and permits.
#include <fmt/format.h>

#include "infrastructure/postgres/statements/entity_queries.hpp"
#include "support/watch_nodes.hpp"

namespace sluice::postgres {
namespace watch_limits_test {

using namespace std::chrono_literals;
using namespace watch_nodes;
using PostgresWatchLimits = PostgresWatch;

const Lane scan{"default", "default", "scan", {}};

// Each type has a meter of its own.
std::shared_ptr<const LimitRules> one_of_each_type() {
    return std::make_shared<const LimitRules>(
        1, std::vector<LimitRule>{{.id = "r", .per = {Dimension::type}, .max_active = 1}},
        LimitRules::Profiles{});
}

MeterId meter_of(const Lane& lane) {
    return one_of_each_type()->permits_of(lane).at(0).meter;
}

bool is_held_back(Node& node, const Lane& lane) {
    return node.cluster.limits.holds_back(lane_id(lane), lane, {});
}

// Jobs of the lane wait here until a permit comes back: one runs.
void close_until_return(Node& node, const Lane& lane) {
    node.connection.execute(
        fmt::format("INSERT INTO meter VALUES ({}, 'r', '', 0, 0, NULL, 1) ON CONFLICT DO NOTHING",
                    meter_of(lane)));
    node.cluster.lanes.add(lane_id(lane), lane);
    const auto rules = one_of_each_type();
    node.cluster.limits.set(rules, {});
    node.cluster.limits.close(rules->permits_of(lane).at(0), rules, never);
    ASSERT_TRUE(is_held_back(node, lane));
}

TEST_F(PostgresWatchLimits, TellsOtherNodesOfPermitsThatCameBack) {
    Node here(url), there(url);
    ASSERT_TRUE(eventually(5s, [&] { return here.watch.nodes() == 2; }));
    ASSERT_TRUE(eventually(5s, [&] { return there.watch.is_listening(); }));
    close_until_return(there, mail);
    close_until_return(there, scan);

    here.cluster.limits.tell_returned({{meter_of(mail), 2}});
    here.watch.announce({});

    EXPECT_EQ(there.hints.wait_for(mail, 2, 5s), 2);
    EXPECT_FALSE(is_held_back(there, mail));
    EXPECT_TRUE(is_held_back(there, scan));
}

// Else its meters are removed as those of a rule that is gone.
void write_rule(Connection& connection) {
    connection.execute(
        "INSERT INTO entity (tenant, kind, id, number, state, revision, created_at, updated_at, "
        "attributes) VALUES ('@sluice', 'limit', 'r', 1, 'active', 1, 0, 0, '{}')");
}

TEST_F(PostgresWatchLimits, FindsPermitsOfWhichItWasNotToldThoughNoClaimWaits) {
    write_rule(connection);
    Node node(url);
    ASSERT_TRUE(eventually(5s, [&] { return node.watch.is_listening(); }));
    close_until_return(node, mail);
    close_until_return(node, scan);

    connection.execute(
        fmt::format("INSERT INTO permit_return VALUES ({}, 9, 1);"
                    "UPDATE seat SET commits = commits + 1",
                    meter_of(mail)));

    EXPECT_GE(node.hints.wait_for(mail, 1, 10s), 1);
    EXPECT_FALSE(is_held_back(node, mail));
    EXPECT_TRUE(is_held_back(node, scan)) << "nothing came back to its meter";
}

// Else nobody would look at it again once its tokens have come back.
TEST_F(PostgresWatchLimits, AMeterWhosePermitIsBackAndWhoseRateIsNotOpensWithItsRate) {
    write_rule(connection);
    Node node(url);
    ASSERT_TRUE(eventually(5s, [&] { return node.watch.is_listening(); }));
    const auto rules = std::make_shared<const LimitRules>(
        1,
        std::vector<LimitRule>{
            {.id = "r", .max_active = 1, .rate = LimitRate{.count = 1, .period = 1h, .burst = 1}}},
        LimitRules::Profiles{});
    const Permit permit = rules->permits_of(mail).at(0);
    const Timestamp refill = node.time.now() + 1h;
    connection.execute(fmt::format("INSERT INTO meter VALUES ({}, 'r', '', {}, 0, NULL, 1)",
                                   permit.meter, to_micros(refill) * 1000));
    node.cluster.limits.set(rules, {});
    node.cluster.limits.close(permit, rules, never);

    connection.execute(
        fmt::format("INSERT INTO permit_return VALUES ({}, 9, 1);"
                    "UPDATE seat SET commits = commits + 1",
                    permit.meter));

    const auto next_due = [&] { return node.cluster.limits.next_due(); };
    EXPECT_TRUE(eventually(10s, [&] { return next_due() != never; }));
    EXPECT_LE(next_due() - refill, 1s);
    EXPECT_GE(next_due() - refill, -1s);
}

TEST_F(PostgresWatchLimits, TellsOtherNodesOfJobsThatAClaimHadLockedAndMayNotTake) {
    Node here(url), there(url);
    ASSERT_TRUE(eventually(5s, [&] { return here.watch.nodes() == 2; }));
    ASSERT_TRUE(eventually(5s, [&] { return there.watch.is_listening(); }));
    close_until_return(there, scan);

    here.cluster.limits.tell_refused({lane_id(scan), lane_id(mail)});
    here.watch.announce({});

    EXPECT_EQ(there.hints.wait_for(mail, 1, 5s), 1);
    EXPECT_EQ(there.hints.wait_for(scan, 1, 0s), 0) << "it may not start there either";
}

TEST_F(PostgresWatchLimits, NodesReadTheRulesAgainWhenOneHasChangedThemOrTheirSeatsSaySo) {
    Node here(url), there(url);
    ASSERT_TRUE(eventually(5s, [&] { return here.watch.nodes() == 2; }));
    ASSERT_TRUE(eventually(5s, [&] { return there.watch.is_listening(); }));
    const auto know_rules = [](Node& node) {
        EntityQueries entities(node.connection);
        node.cluster.limits.current(entities, {});
        node.connection.sync();
    };
    know_rules(there);
    know_rules(here);

    here.watch.announce({.rules_changed = true});

    EXPECT_NE(there.hints.wait_for_due(5s), never);
    EXPECT_TRUE(there.cluster.limits.are_old());
    EXPECT_FALSE(here.cluster.limits.are_old());

    connection.execute("UPDATE seat SET rules = 1");
    EXPECT_TRUE(eventually(5s, [&] { return here.cluster.limits.are_old(); }));
    EXPECT_NE(here.hints.wait_for_due(5s), never);
}

}  // namespace watch_limits_test
}  // namespace sluice::postgres
