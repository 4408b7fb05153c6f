// Rules about what may run, with two committers of one database: numbers are exact over both, a
// change holds from its commit on, and nothing is lost when a session ends in the middle.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>

#include "application/limits/stored_rules.hpp"
#include "infrastructure/postgres/cluster/cluster.hpp"
#include "infrastructure/postgres/store/postgres_store.hpp"
#include "support/limit_nodes.hpp"

namespace sluice {
namespace limit_sharing_test {

using namespace std::chrono_literals;
using namespace limit_builders;
using Ids = std::vector<JobId>;

using PostgresLimitSharing = LimitNodes;

// ── numbers ──

TEST_F(PostgresLimitSharing, AClaimWaitsForTheMeterOfAnotherAndCountsWhatThatOneTook) {
    set(*one, at_most(3));
    put_some(1, 5);
    auto first = one->begin();
    EXPECT_EQ(ids_of(start_in(*first, 2)), (Ids{{1}, {2}}));

    auto second = std::async(std::launch::async, [&] { return started(*two, 3); });
    EXPECT_TRUE(is_waited_for_a_lock());
    first->commit();

    EXPECT_EQ(second.get(), Ids{{3}});
    EXPECT_TRUE(check(*two).empty());
}

TEST_F(PostgresLimitSharing, ANodeThatDiesInTheMiddleHasTakenAndReturnedNothing) {
    set(*one, at_most(2));
    put_some(1, 3);
    const Ids running = started(*one, 1);
    auto dying = one->begin();
    finish_in(*dying, running[0]);
    EXPECT_EQ(start_in(*dying, 2).size(), 2u);
    ask("SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity "
        "WHERE datname = current_database() AND state = 'idle in transaction'");

    EXPECT_EQ(started(*two, 3).size(), 1u);
    EXPECT_EQ(started(*two), Ids{});
    dying.reset();
    EXPECT_TRUE(check(*two).empty());
}

TEST_F(PostgresLimitSharing, ARateAndTheStartsOfAnHourAreThoseOfAllNodes) {
    LimitRule rule = rate(3, 1h, 2);
    rule.rate->whole_hour = true;
    set(*one, rule);
    put_some(1, 9);

    EXPECT_EQ(started(*one, 1).size(), 1u);
    EXPECT_EQ(started(*two).size(), 1u);
    EXPECT_EQ(started(*one), Ids{});
    EXPECT_EQ(started(*two, 9, at(1200)).size(), 1u);
    two = database().open();
    EXPECT_EQ(started(*two, 9, at(3599)), Ids{}) << "three in an hour, also after a restart";
    EXPECT_EQ(started(*one, 9, at(3640)).size(), 2u);
}

TEST_F(PostgresLimitSharing, ANodeWhoseClockStoodStillGivesNoTokensASecondTime) {
    set(*one, rate(2, 1h, 2));
    put_some(1, 4);
    EXPECT_EQ(started(*one, 9, at(3000)), (Ids{{1}, {2}}));

    execute(fmt::format("UPDATE clock SET latest = {}", to_micros(at(3000))));
    EXPECT_EQ(started(*two, 9, at(10)), Ids{});
    EXPECT_EQ(started(*one, 9, at(3001)), Ids{});
    execute("UPDATE clock SET latest = 0");
}

TEST_F(PostgresLimitSharing, ARateThatComesBackQuickerDoesNotWaitForTheTimeOfTheFormerOne) {
    LimitRule rule = rate(1, 24h, 1);
    set(*one, rule);
    put_some(1, 3);
    EXPECT_EQ(started(*one), Ids{{1}});
    lift(*one, rule);

    rule.rate = LimitRate{.count = 10, .period = 1s, .burst = 1};
    set(*two, rule);

    EXPECT_EQ(started(*two), Ids{}) << "nothing is refilled";
    EXPECT_EQ(started(*two, 9, at(2)), Ids{{2}});
    EXPECT_EQ(started(*two, 9, at(3)), Ids{{3}});
}

// ── changes ──

TEST_F(PostgresLimitSharing, APauseHoldsOnEveryNodeFromItsCommitOn) {
    put(from_source(1, "nightly"));
    auto claiming = two->begin();
    EXPECT_EQ(start_in(*claiming, 1).size(), 1u);

    set(*one, pause({.source = "nightly"}));

    EXPECT_THROW(claiming->commit(), StoreConflict);
    claiming.reset();
    EXPECT_EQ(started(*two), Ids{});
}

// What it found closed by the older rules would be noted after they were followed, and stay so.
TEST_F(PostgresLimitSharing, AClaimByRulesThatItsNodeKnowsToBeOldNotesNothingAsClosed) {
    const auto node =
        std::make_shared<postgres::Cluster>(postgres::Database{.url = database().url()}, "node");
    PostgresStore claims(node), changes(node);
    set(changes, at_most(1));
    put_some(1, 2);
    ASSERT_EQ(started(claims), Ids{{1}});
    auto claiming = claims.begin();
    claiming->limits().limit_rules();

    set(changes, at_most(2));

    EXPECT_THROW(take(*claiming, 9, at(0)), StoreConflict);
    claiming.reset();
    EXPECT_EQ(started(claims), Ids{{2}});
}

TEST_F(PostgresLimitSharing, AQuotaThatBecomesALimitLeavesItsJobsToTheDefault) {
    LimitRule own = at_most_per({Dimension::tenant}, 9);
    own.kind = LimitKind::quota;
    own.scope.tenant = spec(1).tenant;
    LimitRule general = at_most(2, "dd");
    general.kind = LimitKind::quota;
    general.per = {Dimension::tenant};
    set(*one, own);
    set(*one, general);
    put_some(1, 4);
    ASSERT_EQ(started(*one, 2).size(), 2u);

    own.kind = LimitKind::limit;
    set(*one, own);

    EXPECT_EQ(started(*two), Ids{}) << "two run already";
    EXPECT_TRUE(check(*two).empty());
}

TEST_F(PostgresLimitSharing, AReturnUnderOlderRulesIsCountedOnce) {
    LimitRule rule = at_most(2);
    set(*one, rule);
    put_some(1, 4);
    EXPECT_EQ(started(*one), (Ids{{1}, {2}}));
    auto reporting = two->begin();
    finish_in(*reporting, JobId{1});

    rule.per = {Dimension::type};
    set(*one, rule);

    EXPECT_THROW(reporting->commit(), StoreConflict);
    reporting.reset();
    EXPECT_EQ(started(*one), Ids{});
    finish(*two, JobId{1});
    EXPECT_EQ(started(*two), Ids{{3}});
    EXPECT_TRUE(check(*one).empty());
}

TEST_F(PostgresLimitSharing, ALiftedRuleThatComesBackCountsAnew) {
    const LimitRule rule = at_most(2);
    set(*one, rule);
    put_some(1, 6);
    for (const JobId id : started(*one)) finish(*two, id);
    lift(*one, rule);
    EXPECT_EQ(started(*two, 1), Ids{{3}});

    set(*two, rule);

    EXPECT_EQ(started(*one), Ids{{4}});
    EXPECT_TRUE(check(*one).empty());
}

TEST_F(PostgresLimitSharing, ARuleThatComesBackWhileNothingRunsCountsAnew) {
    const LimitRule rule = at_most(2);
    set(*one, rule);
    put_some(1, 6);
    for (const JobId id : started(*one)) finish(*two, id);
    lift(*one, rule);

    set(*two, rule);

    EXPECT_EQ(started(*one), (Ids{{3}, {4}}));
}

TEST_F(PostgresLimitSharing, AChangeByRulesThatAreOldLosesAndDoesNotUndoTheOther) {
    EXPECT_TRUE(two->reader()->limits().limit_rules()->empty());
    set(*one, at_most(1, "aa"));

    {
        const auto session = two->begin();
        EXPECT_THROW(write(*session, at_most(5, "bb")), StoreConflict);
    }
    set(*two, at_most(5, "bb"));

    EXPECT_EQ(one->reader()->limits().limit_rules()->version(), 1);
    put_some(1, 3);
    EXPECT_EQ(started(*one).size(), 1u);
    EXPECT_EQ(two->reader()->limits().limit_rules()->all().size(), 2u);
}

TEST_F(PostgresLimitSharing, ASessionThatReservesTheRulesGoesByTheNewest) {
    EXPECT_TRUE(two->reader()->limits().limit_rules()->empty());
    set(*one, at_most(1));

    const auto session = two->begin();
    session->reserve({.entities = {control_key()}});

    EXPECT_EQ(session->limits().limit_rules()->all().size(), 1u);
}

TEST_F(PostgresLimitSharing, RulesThatWereNotCommittedAreNeverGoneBy) {
    put_some(1, 2);
    {
        const auto session = one->begin();
        write(*session, pause({}));
    }

    set(*one, at_most(1));

    EXPECT_EQ(started(*one), Ids{{1}});
}

TEST_F(PostgresLimitSharing, MetersThatWereChangedByHandAreFoundAndSetRight) {
    set(*one, at_most_per({Dimension::tenant}, 2));
    put(of_tenant(1, "acme"));
    put(of_tenant(2, "acme"));
    put(of_tenant(3, "zeta"));
    EXPECT_EQ(started(*one).size(), 3u);
    execute(
        "UPDATE meter SET taken = taken + 7 WHERE name = 'tenant acme';"
        "DELETE FROM meter WHERE name = 'tenant zeta'");

    const std::string id = at_most(2).id;
    const std::vector<MeterDifference> expected{{id, "tenant acme", 9, 2},
                                                {id, "tenant zeta", 0, 1}};
    EXPECT_EQ(check(*two), expected);
    EXPECT_EQ(check(*two, true), expected);
    EXPECT_TRUE(check(*one).empty());
    put(of_tenant(4, "zeta"));
    put(of_tenant(5, "zeta"));
    EXPECT_EQ(started(*two), Ids{{4}});
}

// ── waking ──

// The claim sees its meter as of the time before it began to wait.
TEST_F(PostgresLimitSharing, APermitThatComesBackWhileAClaimWaitsForItsMeterIsUsed) {
    set(*one, at_most(1));
    put_some(1, 3);
    ASSERT_EQ(started(*one, 1), Ids{{1}});
    auto first = one->begin();
    ASSERT_EQ(start_in(*first, 1).size(), 0u);
    auto second = std::async(std::launch::async, [&] { return started(*two, 1); });
    EXPECT_TRUE(is_waited_for_a_lock());

    const auto three = database().open();
    finish(*three, JobId{1});
    first.reset();

    EXPECT_EQ(second.get(), Ids{{2}});
}

// Of a node whose committer has not done anything yet.
TEST_F(PostgresLimitSharing, ABucketIsNotRefilledByASessionThatLocksWhatAnotherHasPassedOver) {
    const auto node =
        std::make_shared<postgres::Cluster>(postgres::Database{.url = database().url()}, "node");
    PostgresStore claims(node);
    set(*one, rate(1, 1h, 1));
    put(with_key(1, "k"));
    put_some(2, 3);
    ASSERT_EQ(started(*one, 1, at(0)), Ids{{1}});
    auto holding = one->begin();
    const Timestamp today = node->time.now();
    ASSERT_EQ(start_in(*holding, 1, today).size(), 1u);
    insist(claims, [&](Session& session) {
        finish_in(session, JobId{1});
        take(session, 0, today);  // frees the key: no meter is waited for any more
        return take(session, 9, today).size();
    });
    holding->commit();
    const std::int64_t full_at = ask("SELECT full_at_ns FROM meter");
    ASSERT_GT(full_at, to_micros(today) * 1000);

    PostgresStore fresh(node);
    insist(fresh, [](Session& session) {
        session.reserve({});
        return 0;
    });

    EXPECT_EQ(ask("SELECT full_at_ns FROM meter"), full_at);
}

// As after an update of the engine, when the lane of a running job had none waiting.
TEST_F(PostgresLimitSharing, LeasesFromBeforeTheirLaneWasStoredAreCounted) {
    for (std::int64_t id = 1; id <= 6; ++id) put(from_source(id, id % 2 == 0 ? "even" : "odd"));
    ASSERT_EQ(started(*one, 4).size(), 4u);
    execute("UPDATE lease SET lane = NULL WHERE id IN (1, 2)");

    set(*one, at_most_per({Dimension::source}, 2));

    EXPECT_EQ(ask("SELECT count(*) FROM meter WHERE taken = 2"), 2);
    EXPECT_TRUE(check(*one).empty());
    finish(*one, JobId{1});
    EXPECT_EQ(started(*two), Ids{{5}});
    EXPECT_TRUE(check(*one).empty());
}

// ── sources ──

TEST_F(PostgresLimitSharing, SourcesAreKnownAtOnceAndTheirCountsAreWrittenOnceASecond) {
    const auto count = [](Store& store, Timestamp when) {
        const SourceCount counted{
            .tenant = "acme", .source = "s", .submitted = 1, .last_job_at = when};
        return commit(store, [&](Session& session) {
            session.limits().count_sources({&counted, 1}, when);
            return session.leases().next_due();
        });
    };
    const auto submitted = [](Store& store) {
        return commit(store, [](Session& session) {
            const auto sources = session.limits().sources("acme", at(9));
            return sources.empty() ? -1 : sources.front().submitted;
        });
    };
    const auto knows = [](Store& store) {
        return commit(store,
                      [](Session& session) { return session.limits().knows_source("acme", "s"); });
    };

    EXPECT_NE(count(*one, at(5)), never) << "so that counts do not wait for another job";
    EXPECT_TRUE(knows(*two));
    EXPECT_EQ(submitted(*one), 1);
    EXPECT_EQ(submitted(*two), 0) << "of another node";
    count(*one, at(5) + 999ms);
    EXPECT_EQ(ask("SELECT last_job_at FROM source"), to_micros(at(5)));
    count(*one, at(6));
    EXPECT_EQ(ask("SELECT last_job_at FROM source"), to_micros(at(6)));

    while (submitted(*two) == 0) commit(*one, [](Session&) { return 0; });
    EXPECT_EQ(submitted(*two), 3);
    EXPECT_EQ(submitted(*one), 3);
    EXPECT_EQ(commit(*one, [](Session& session) { return session.leases().next_due(); }), never);

    count(*one, at(7));
    one.reset();
    EXPECT_EQ(submitted(*two), 4) << "written when the node stops";
}

TEST_F(PostgresLimitSharing, WhatASessionTellsIsToldAgainWhenItFails) {
    set(*one, rate(1, 10s, 1));
    put_some(1, 2);
    started(*one);
    ASSERT_EQ(started(*one), Ids{});

    EXPECT_EQ(one->begin()->leases().newly_ready(at(10)).size(), 1u);

    EXPECT_GE(newly_ready(*one, at(10)), 1);
}

TEST_F(PostgresLimitSharing, ASessionThatTookTheLastPermitsAndFailedLeavesTheLaneOpen) {
    set(*one, at_most(2));
    put_some(1, 3);
    {
        const auto session = one->begin();
        EXPECT_EQ(start_in(*session, 9).size(), 2u);
    }

    const auto session = one->begin();
    session->commit();
    EXPECT_EQ(session->reopened().size(), 1u) << "claims that found it closed meanwhile";
    EXPECT_EQ(claimable(*one), (Ids{{1}, {2}}));
}

TEST_F(PostgresLimitSharing, AReturnOfTheSessionThatWaitsForTheMeterComesFirst) {
    set(*one, at_most(1));
    put_some(1, 2);
    start(*one, 1);

    EXPECT_EQ(insist(*two,
                     [&](Session& session) {
                         finish_in(session, JobId{1});
                         return ids_of(start_in(session, 9));
                     }),
              Ids{{2}});
    EXPECT_TRUE(check(*one).empty());
}

}  // namespace limit_sharing_test
}  // namespace sluice
