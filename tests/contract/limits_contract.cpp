#include "contract/limits_contract.hpp"

// Which jobs rules let run, and what meters count.
namespace sluice {
namespace limits_contract {

using namespace std::chrono_literals;
using Ids = std::vector<JobId>;

// ── which jobs may run ──

TEST_P(LimitContract, NoMoreJobsAreTakenThanMayBeActive) {
    set(at_most(2));
    for (const std::int64_t id : {1, 2, 3}) put(spec(id));

    EXPECT_EQ(started(1), Ids{{1}});
    EXPECT_EQ(started(9), Ids{{2}});
    EXPECT_EQ(started(9), Ids{});
    EXPECT_EQ(meter(at_most(2)).active, 2);
}

TEST_P(LimitContract, NoMoreJobsAreTakenThanMayBeActiveAlsoByTheFiltersOfOneCall) {
    set(at_most(2));
    for (const std::int64_t id : {1, 2, 3}) put(spec(id));
    const std::vector<LeaseStore::Wanted> wanted = {{&anything, 1}, {&anything, 2}, {&anything, 2}};

    roll_back([&](Session& session) {
        const auto taken = session.leases().take(wanted, at(0));
        EXPECT_EQ(ids_of(taken[0]), Ids{{1}});
        EXPECT_EQ(ids_of(taken[1]), Ids{{2}});
        EXPECT_EQ(ids_of(taken[2]), Ids{});
    });
}

TEST_P(LimitContract, MetersThatAreNewServeAllFiltersOfOneCall) {
    set(at_most_per({Dimension::tenant}, 2));
    put(of_tenant(1, "acme"));
    put(of_tenant(2, "zeta"));
    const ClaimFilter of_acme{.tenant = "acme"};
    const ClaimFilter of_zeta{.tenant = "zeta"};
    const std::vector<LeaseStore::Wanted> wanted = {{&of_acme, 1}, {&of_zeta, 1}};

    roll_back([&](Session& session) {
        const auto taken = session.leases().take(wanted, at(0));
        EXPECT_EQ(ids_of(taken[0]), Ids{{1}});
        EXPECT_EQ(ids_of(taken[1]), Ids{{2}});
    });
}

TEST_P(LimitContract, AMeterOfARuleCountsLanesTogetherUnlessTheRuleCountsThemApart) {
    set(at_most(1));
    put(of_tenant(1, "acme"));
    put(of_tenant(2, "zeta"));

    EXPECT_EQ(claimable(at(0), 9, anything), Ids{{1}});

    set(at_most_per({Dimension::tenant}, 1));
    put(of_tenant(3, "acme"));
    EXPECT_EQ(claimable(at(0), 9, anything), (Ids{{1}, {2}}));
}

TEST_P(LimitContract, AJobNeedsAPermitOfEachRuleThatCoversIt) {
    LimitRule of_acme = at_most(1, "dd");
    of_acme.scope.tenant = "acme";
    set(at_most(2));
    set(of_acme);
    put(of_tenant(1, "acme"));
    put(of_tenant(2, "acme"));
    put(of_tenant(3, "zeta"));
    put(of_tenant(4, "zeta"));

    EXPECT_EQ(started(9), (Ids{{1}, {3}}));
}

TEST_P(LimitContract, APausedSourceGetsNoLeaseAndBlocksNoOther) {
    set(pause({.source = "nightly"}));
    put(from_source(1, "nightly"));
    put(from_source(2, "hourly"));
    put(spec(3));

    EXPECT_EQ(claimable(at(0)), (Ids{{2}, {3}}));
}

TEST_P(LimitContract, AClosedLaneDoesNotHoldUpOthersWhateverItsPriority) {
    LimitRule rule = pause({.type = "scan"});
    set(rule);
    JobSpec urgent = spec(1, "scan");
    urgent.priority = 100;
    put(urgent);
    put(spec(2));

    EXPECT_EQ(claimable(at(0), 1), Ids{{2}});

    lift(rule);
    EXPECT_EQ(claimable(at(0), 1), Ids{{1}});
}

TEST_P(LimitContract, AnEndPassesByItself) {
    LimitRule rule = pause({});
    rule.until = at(10);
    set(rule);
    put(spec(1));

    EXPECT_EQ(claimable(at(9)), Ids{});
    EXPECT_EQ(claimable(at(10)), Ids{{1}});
}

TEST_P(LimitContract, AJobThatWaitsForAKeyNeedsNoPermit) {
    set(at_most(2));
    put(with_key(1, "k"));
    put(with_key(2, "k"));
    put(spec(3));

    EXPECT_EQ(started(9), (Ids{{1}, {3}}));
}

// ── rates ──

TEST_P(LimitContract, ABurstStartsAtOnceAndThenTheRateHolds) {
    set(rate(1, 10s, 2));
    for (const std::int64_t id : {1, 2, 3, 4}) put(spec(id));

    EXPECT_EQ(started(9, at(0)), (Ids{{1}, {2}}));
    EXPECT_EQ(started(9, at(9)), Ids{});
    EXPECT_EQ(started(9, at(10)), Ids{{3}});
    EXPECT_EQ(started(9, at(19)), Ids{});
    EXPECT_EQ(started(9, at(20)), Ids{{4}});
}

TEST_P(LimitContract, AnEndGivesNoTokenBack) {
    set(rate(1, 10s, 1));
    put(spec(1));
    put(spec(2));

    const Job job = start(1).at(0);
    requeue(requeued(job, at(0)));

    EXPECT_EQ(claimable(at(1)), Ids{});
    EXPECT_EQ(claimable(at(10)), Ids{{1}});
}

TEST_P(LimitContract, ARollbackSpendsNothing) {
    const LimitRule rule = rate(1, 10s, 1);
    set(rule);
    put(spec(1));

    for (int i = 0; i < 3; ++i) EXPECT_EQ(claimable(at(0)), Ids{{1}});
    EXPECT_EQ(meter(rule), MeterState{});
}

TEST_P(LimitContract, ABucketOutlivesAChangeOfItsRule) {
    LimitRule rule = rate(1, 10s, 1);
    set(rule);
    put(spec(1));
    put(spec(2));
    ASSERT_EQ(started(9), Ids{{1}});

    rule.reason = "another one";
    set(rule);

    EXPECT_EQ(claimable(at(9)), Ids{});
    EXPECT_EQ(claimable(at(10)), Ids{{2}});
}

// A bucket that was empty lacks as many tokens after the change, also of what it holds more now.
TEST_P(LimitContract, AChangedRateIsFeltAtOnce) {
    set(rate(1, 30s, 2));
    for (const std::int64_t id : {1, 2, 3, 4, 5, 6, 7}) put(spec(id));
    ASSERT_EQ(started(9), (Ids{{1}, {2}}));

    set(rate(1, 6s, 4));
    EXPECT_EQ(started(9, at(1)), (Ids{{3}, {4}}));
    EXPECT_EQ(started(9, at(7)), Ids{{5}});
}

// It lacks more tokens than it has room for: the next one comes when it was told to come.
TEST_P(LimitContract, AChangeOfAnotherRuleDoesNotDelayABucketThatOwesTokens) {
    set(rate(1, 1s, 4));
    for (const std::int64_t id : {1, 2, 3, 4, 5}) put(spec(id));
    ASSERT_EQ(started(4).size(), 4u);
    set(rate(1, 10s, 1));

    set(pause({.type = "elsewhere"}), at(5));

    EXPECT_EQ(claimable(at(11)), Ids{{5}});
}

TEST_P(LimitContract, ALoweredRateOutlivesARestart) {
    set(rate(1, 1s, 4));
    for (const std::int64_t id : {1, 2, 3, 4, 5}) put(spec(id));
    ASSERT_EQ(started(4).size(), 4u);

    set(rate(1, 100s, 4));
    reopen();

    // A shared store judges the bucket by a rate that changes a moment after at(0): when it has
    // waited for the others. Each moment is worth a hundred by the lowered rate.
    EXPECT_EQ(claimable(at(10)), Ids{});
    EXPECT_EQ(claimable(at(100)), Ids{{5}});
}

TEST_P(LimitContract, ABucketAndWhatIsActiveOutliveARestart) {
    LimitRule rule = rate(2, 20s, 2);
    rule.rate->whole_hour = true;
    rule.max_active = 5;
    set(rule);
    for (const std::int64_t id : {1, 2, 3}) put(spec(id));
    ASSERT_EQ(started(9), (Ids{{1}, {2}}));
    const MeterState before = meter(rule);

    if (!reopen()) GTEST_SKIP() << "the store is not durable";

    EXPECT_EQ(meter(rule), before);
    EXPECT_EQ(before.active, 2);
    EXPECT_EQ(claimable(at(10)), Ids{});
    EXPECT_TRUE(check_meters().empty());
}

// ── permits come back ──

TEST_P(LimitContract, APermitComesBackOnceOnEachWayThatALeaseIsClosed) {
    const LimitRule rule = at_most(4);
    set(rule);
    for (const std::int64_t id : {1, 2, 3, 4}) put(spec(id));
    const std::vector<Job> jobs = start(9);
    ASSERT_EQ(jobs.size(), 4u);
    EXPECT_EQ(meter(rule).active, 4);

    finish(ended(jobs[0], JobState::succeeded, at(1)));
    EXPECT_EQ(meter(rule).active, 3);
    requeue(requeued(jobs[1], at(100)));
    EXPECT_EQ(meter(rule).active, 2);
    const Job canceled = finish(ended_under_worker(jobs[2], JobState::canceled, at(1)));
    EXPECT_EQ(meter(rule).active, 2) << "its worker has not stopped";
    close(canceled);
    EXPECT_EQ(meter(rule).active, 1);
    finish(ended(jobs[3], JobState::timed_out, at(1)));

    EXPECT_EQ(meter(rule).active, 0);
    EXPECT_TRUE(check_meters().empty());
}

TEST_P(LimitContract, AJobThatEndsInTheSessionThatTookItLeavesItsPermitToTheNext) {
    set(at_most(1));
    put(spec(1));
    put(spec(2));

    commit([&](Session& session) {
        const Job job = running(take(session, anything, 9, at(0)).at(0), {});
        session.leases().open({&job, 1});
        const Job over = ended(job, JobState::failed, at(0));
        session.jobs().finish({&over, 1});
    });

    EXPECT_EQ(claimable(at(0)), Ids{{2}});
}

TEST_P(LimitContract, ARollbackTakesStartsAndEndsBack) {
    const LimitRule rule = at_most(2);
    set(rule);
    for (const std::int64_t id : {1, 2, 3}) put(spec(id));
    const std::vector<Job> jobs = start(1);

    roll_back([&](Session& session) {
        const Job over = ended(jobs[0], JobState::succeeded, at(1));
        session.jobs().finish({&over, 1});
        take(session, anything, 9, at(1));
    });

    EXPECT_EQ(meter(rule).active, 1);
    EXPECT_EQ(claimable(at(1)), Ids{{2}});
}

}  // namespace limits_contract
}  // namespace sluice
