// Lanes that rules hold back: claims leave them out, and hear of it when they open, whichever of
// several rules opens last.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

#include "support/limit_nodes.hpp"
#include "support/pooler.hpp"

namespace sluice {
namespace closed_lanes_test {

using namespace std::chrono_literals;
using namespace limit_builders;
using Ids = std::vector<JobId>;

class PostgresClosedLanes : public LimitNodes {
  protected:
    // How often the client has waited for the server since the last call.
    int lap() { return pooler.turns() - std::exchange(before_, pooler.turns()); }

    static JobSpec of_type(std::int64_t id, const std::string& type) {
        JobSpec made = spec(id);
        made.type = type;
        return made;
    }

    // So many jobs of each of these types, which have ids from `first` on, one type after another.
    void put_types(std::int64_t first, int types, int jobs) const {
        for (int type = 0; type < types; ++type) {
            for (int i = 0; i < jobs; ++i) put(of_type(first++, fmt::format("t{}", type)));
        }
    }

    Pooler pooler;
    PostgresStore counted{std::make_shared<postgres::Cluster>(
        postgres::Database{.url = pooler.url_for(database().url())}, "counted")};

  private:
    int before_ = 0;
};

// ── several rules ──

TEST_F(PostgresClosedLanes, ALaneOpensWhenItsRateAndItsPermitsHaveBothComeBack) {
    LimitRule first = rate(1, 10s, 1);
    first.kind = LimitKind::throttle;  // so that it is named before the other
    set(*one, first);
    set(*one, at_most(1));
    put_some(1, 3);
    ASSERT_EQ(started(*one), Ids{{1}});
    ASSERT_EQ(started(*one), Ids{});

    finish(*one, JobId{1});
    ASSERT_EQ(started(*one, 9, at(5)), Ids{}) << "the rate";
    EXPECT_GE(newly_ready(*one, at(10)), 1);
    EXPECT_EQ(started(*one, 9, at(10)), Ids{{2}});

    ASSERT_EQ(started(*one, 9, at(21)), Ids{}) << "the job that runs";
    finish(*one, JobId{2});
    EXPECT_EQ(started(*one, 9, at(21)), Ids{{3}});
}

TEST_F(PostgresClosedLanes, AReturnWakesALaneWhoseFirstRuleOpensByTime) {
    LimitRule first = rate(10, 1s, 1);
    first.kind = LimitKind::throttle;
    set(*one, first);
    set(*one, at_most(1));
    put_some(1, 2);
    ASSERT_EQ(started(*one), Ids{{1}});
    ASSERT_EQ(started(*one), Ids{});
    newly_ready(*one, at(1));
    ASSERT_EQ(started(*one, 9, at(1)), Ids{}) << "the rate has room by now";

    const auto session = one->begin();
    session->leases().newly_ready(at(2));
    finish_in(*session, JobId{1});
    session->commit();

    EXPECT_EQ(session->reopened().size(), 1u);
    EXPECT_EQ(started(*one, 9, at(2)), Ids{{2}});
}

TEST_F(PostgresClosedLanes, APauseThatEndsByItselfOpensItsLanes) {
    LimitRule rule = pause({.type = "t*"});
    rule.until = at(60);
    set(*one, rule);
    put_types(1, 2, 1);
    ASSERT_EQ(started(*one), Ids{});
    newly_ready(*one);

    EXPECT_EQ(newly_ready(*one, at(59)), 0);
    EXPECT_GE(newly_ready(*one, at(60)), 1);
    EXPECT_EQ(started(*one, 9, at(60)).size(), 2u);
}

TEST_F(PostgresClosedLanes, AChangeOfAnotherRuleLeavesThemClosed) {
    set(*one, at_most(1));
    put_some(1, 2);
    ASSERT_EQ(started(*one), Ids{{1}});
    ASSERT_EQ(started(*one), Ids{});
    newly_ready(*one);

    set(*one, pause({.type = "elsewhere"}));
    EXPECT_EQ(newly_ready(*one), 0);

    const auto session = one->begin();
    write(*session, at_most(2));
    session->commit();
    EXPECT_EQ(session->reopened().size(), 1u);
}

// ── what they cost ──

TEST_F(PostgresClosedLanes, AClaimPassesAnyNumberOfPausedLanesInOneTurn) {
    set(*one, pause({.type = "t*"}));
    put_types(1, 40, 3);
    put(of_type(500, "open"));
    ASSERT_EQ(started(counted), Ids{{500}});
    put(of_type(501, "open"));
    lap();

    const auto session = counted.begin();
    EXPECT_EQ(ids_of(start_in(*session, 1)), Ids{{501}});

    EXPECT_LE(lap(), 3);
}

TEST_F(PostgresClosedLanes, AClaimFindsAllFullMetersInAFewTurns) {
    set(*one, at_most_per({Dimension::type}, 1));
    put_types(1, 40, 3);
    while (!started(*one, 100).empty()) {
    }
    ASSERT_EQ(ask("SELECT count(*) FROM lease"), 40);
    put(of_type(500, "open"));
    lap();

    Ids found;
    for (int i = 0; i < 2 && found.empty(); ++i) found = started(counted, 1);

    EXPECT_EQ(found, Ids{{500}});
    EXPECT_LE(lap(), 24) << "this node has seen none of the meters before";
}

TEST_F(PostgresClosedLanes, AClaimThatMeetsOneGoesOnToTheNextLane) {
    LimitRule rule = at_most(1);
    rule.scope.type = "t0";
    set(*one, rule);
    put_types(1, 1, 3);
    ASSERT_EQ(started(*one), Ids{{1}});
    put(of_type(500, "open"));

    EXPECT_EQ(started(*two, 1), Ids{{500}});
}

TEST_F(PostgresClosedLanes, APermitThatComesBackToAMeterWhichTheSessionHasLockedIsNotLost) {
    set(*one, at_most(2));
    put_some(1, 3);
    ASSERT_EQ(started(*one, 1), Ids{{1}});

    insist(*one, [&](Session& session) {
        session.reserve({.leased = {{1}}});
        const std::size_t count = start_in(session, 1).size();
        finish_in(session, JobId{1});
        return count;
    });

    EXPECT_TRUE(check(*two).empty());
    EXPECT_EQ(started(*two), Ids{{3}});
}

TEST_F(PostgresClosedLanes, PermitsThatASessionTakesAndGivesBackAreWrittenAtOnce) {
    set(*one, at_most(9));
    put_some(1, 3);
    ASSERT_EQ(started(*one, 1), Ids{{1}});

    insist(*one, [&](Session& session) {
        finish_in(session, JobId{1});
        return start_in(session, 2).size();
    });

    EXPECT_EQ(ask("SELECT count(*) FROM permit_return"), 0);
    EXPECT_EQ(ask("SELECT taken FROM meter"), 2);
    EXPECT_TRUE(check(*two).empty());
}

// ── meters that a session may not wait for ──

TEST_F(PostgresClosedLanes, AMeterThatStaysLockedDelaysNoOtherLanesASecondTime) {
    LimitRule rule = at_most(2);
    rule.scope.type = "t0";
    set(*one, rule);
    put_types(1, 1, 2);
    auto frozen = one->begin();
    ASSERT_EQ(start_in(*frozen, 1).size(), 1u);
    insist(*two, [](Session& session) {
        const Arrival arrival{queued(of_type(500, "open")), false};
        session.jobs().put({&arrival, 1});
        return 0;
    });
    EXPECT_THROW(take(*two->begin(), 9, at(0)), StoreConflict) << "it is waited for once";

    const auto session = two->begin();
    EXPECT_EQ(ids_of(start_in(*session, 9)), Ids{{500}});
    session->commit();

    frozen->commit();
    EXPECT_GE(newly_ready(*two, at(1)), 1);
    EXPECT_EQ(started(*two, 9, at(1)), Ids{{2}});
    EXPECT_TRUE(check(*two).empty());
}

// Each session frees a key before its claims, after which it waits for no meter.
TEST_F(PostgresClosedLanes, AMeterThatASessionWithKeysDidNotFindIsMadeByTheNextOne) {
    set(*one, at_most_per({Dimension::tenant}, 2));
    put(with_key(1, "k"));
    put(with_key(2, "l"));
    ASSERT_EQ(started(*one), (Ids{{1}, {2}}));
    put(of_tenant(3, "acme"));
    const auto end_and_claim = [&](JobId id) {
        return insist(*one, [&](Session& session) {
            finish_in(session, id);
            take(session, 0, at(1));
            return ids_of(start_in(session, 9));
        });
    };

    EXPECT_EQ(end_and_claim(JobId{1}), Ids{}) << "nothing else may be waited for";
    EXPECT_EQ(end_and_claim(JobId{2}), Ids{{3}});

    EXPECT_TRUE(check(*two).empty());
}

}  // namespace closed_lanes_test
}  // namespace sluice
