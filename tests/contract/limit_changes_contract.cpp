#include <algorithm>

#include "contract/limits_contract.hpp"

// Changes of rules, who is woken when a lane opens, and what is known of lanes and sources.
namespace sluice {
namespace limits_contract {

using namespace std::chrono_literals;
using Ids = std::vector<JobId>;

// ── changes of rules ──

TEST_P(LimitContract, ARuleCountsWhatRunsAlready) {
    for (const std::int64_t id : {1, 2, 3}) put(spec(id));
    const std::vector<Job> jobs = start(2);
    const LimitRule rule = at_most(2);

    set(rule);

    EXPECT_EQ(meter(rule).active, 2);
    EXPECT_EQ(claimable(at(0)), Ids{});
    finish(ended(jobs[0], JobState::succeeded, at(1)));
    EXPECT_EQ(claimable(at(1)), Ids{{3}});
}

TEST_P(LimitContract, QuotasThatReplaceEachOtherCountWhatRuns) {
    LimitRule of_all = at_most_per({Dimension::tenant}, 2);
    of_all.kind = LimitKind::quota;
    LimitRule of_acme = at_most(3, "dd");
    of_acme.kind = LimitKind::quota;
    of_acme.scope.tenant = "acme";
    set(of_all);
    for (const std::int64_t id : {1, 2, 3}) put(of_tenant(id, "acme"));
    put(of_tenant(4, "zeta"));
    const std::vector<Job> jobs = start(9);
    ASSERT_EQ(ids_of(jobs), (Ids{{1}, {2}, {4}}));

    set(of_acme);
    EXPECT_EQ(meter(of_acme, of_tenant(1, "acme")).active, 2);
    EXPECT_EQ(meter(of_all, of_tenant(4, "zeta")).active, 1);
    EXPECT_EQ(check_meters(), std::vector<MeterDifference>{});
    EXPECT_EQ(claimable(at(0), 9, anything), Ids{{3}});

    finish(ended(jobs[0], JobState::succeeded, at(1)));
    lift(of_acme);
    EXPECT_EQ(meter(of_all, of_tenant(1, "acme")).active, 1);
    EXPECT_EQ(check_meters(), std::vector<MeterDifference>{});
    EXPECT_EQ(claimable(at(1), 9, anything), Ids{{3}});
}

TEST_P(LimitContract, ALoweredLimitStopsNothingAndWaitsUntilFewerRun) {
    set(at_most(3));
    for (const std::int64_t id : {1, 2, 3, 4}) put(spec(id));
    const std::vector<Job> jobs = start(9);

    set(at_most(1));
    EXPECT_EQ(claimable(at(0)), Ids{});
    for (const int i : {0, 1}) finish(ended(jobs[i], JobState::succeeded, at(1)));
    EXPECT_EQ(claimable(at(1)), Ids{});
    finish(ended(jobs[2], JobState::succeeded, at(1)));

    EXPECT_EQ(claimable(at(1)), Ids{{4}});
}

TEST_P(LimitContract, AChangeOfRulesThatIsRolledBackDoesNotHold) {
    put(spec(1));
    const auto before = store->reader()->limits().limit_rules()->version();

    roll_back([&](Session& session) {
        write_rule(session, pause({}), at(0));
        EXPECT_EQ(session.limits().limit_rules()->all().size(), 1u);
    });

    EXPECT_EQ(store->reader()->limits().limit_rules()->version(), before);
    EXPECT_EQ(claimable(at(0)), Ids{{1}});
}

TEST_P(LimitContract, ReadersAndSessionsSeeTheRulesThatHold) {
    LimitRule rule = at_most_per({Dimension::source}, 7);
    set(rule);

    const auto read = store->reader()->limits().limit_rules();
    ASSERT_EQ(read->all().size(), 1u);
    EXPECT_EQ(read->all().front().max_active, 7);
    EXPECT_EQ(read->all().front().per, rule.per);
    commit([&](Session& session) {
        EXPECT_EQ(session.limits().limit_rules()->version(), read->version());
        EXPECT_EQ(session.reader().limits().limit_rules()->version(), read->version());
    });

    lift(rule);
    EXPECT_TRUE(store->reader()->limits().limit_rules()->empty());
}

// ── who is woken ──

TEST_P(LimitContract, AReturnedPermitMakesALaneNewlyReadyThatWasFoundClosed) {
    set(at_most(2));
    for (const std::int64_t id : {1, 2, 3, 4, 5}) put(spec(id));
    const std::vector<Job> jobs = start(9);
    ASSERT_EQ(started(9), Ids{});
    newly_ready(at(0));

    finish(ended(jobs[0], JobState::succeeded, at(1)));

    expect_newly_ready(1, at(1));
    EXPECT_EQ(started(9, at(1)), Ids{{3}});
}

TEST_P(LimitContract, ARaisedLimitMakesClosedLanesNewlyReady) {
    set(at_most(1));
    for (const std::int64_t id : {1, 2, 3, 4}) put(spec(id));
    start(9);
    ASSERT_EQ(started(9), Ids{});
    newly_ready(at(0));

    set(at_most(3));

    EXPECT_GE(newly_ready(at(0)), 2);
    EXPECT_EQ(started(9), (Ids{{2}, {3}}));
}

TEST_P(LimitContract, ALiftedPauseMakesClosedLanesNewlyReady) {
    const LimitRule rule = pause({});
    set(rule);
    put(spec(1));
    ASSERT_EQ(started(9), Ids{});
    newly_ready(at(0));

    lift(rule);

    expect_newly_ready(1, at(0));
}

TEST_P(LimitContract, ATokenThatComesBackIsDueAndMakesItsLaneNewlyReady) {
    set(rate(1, 10s, 1));
    put(spec(1));
    put(spec(2));
    const Job job = start(9).at(0);
    finish(ended(job, JobState::succeeded, at(0)));
    ASSERT_EQ(started(9), Ids{});
    newly_ready(at(0));

    EXPECT_EQ(next_due(), at(10));
    EXPECT_EQ(newly_ready(at(9)), 0);
    expect_newly_ready(1, at(10));
    EXPECT_EQ(started(9, at(10)), Ids{{2}});
}

TEST_P(LimitContract, TheEndOfAPauseIsDueAndMakesItsLaneNewlyReady) {
    LimitRule rule = pause({});
    rule.until = at(10);
    set(rule);
    put(spec(1));
    ASSERT_EQ(started(9), Ids{});
    newly_ready(at(0));

    EXPECT_EQ(next_due(), at(10));
    expect_newly_ready(1, at(10));
}

TEST_P(LimitContract, NothingIsDueForALaneThatOnlyAReturnOrAPersonOpens) {
    set(pause({.type = "paused"}));
    put(spec(1, "paused"));

    ASSERT_EQ(started(9), Ids{});
    newly_ready(at(0));

    EXPECT_EQ(next_due(), never);
}

// ── lanes, checks and sources ──

TEST_P(LimitContract, LanesAreThoseWithClaimableJobsOrLeases) {
    put(from_source(1, "s"));
    put(spec(2, "ready"));
    put(spec(3, "ready"));
    put(spec(4, "ready"));
    JobSpec later = spec(5, "later");
    later.run_after = at(1000);
    put(later);
    ASSERT_EQ(started(1), Ids{{1}});

    commit([&](Session& session) {
        std::vector<LaneNow> lanes = session.limits().lanes(2);
        ASSERT_EQ(lanes.size(), 2u);
        std::sort(lanes.begin(), lanes.end(),
                  [](const LaneNow& a, const LaneNow& b) { return a.lane < b.lane; });
        EXPECT_EQ(lanes[0].lane, lane_of(spec(2, "ready")));
        EXPECT_EQ(lanes[0].ready, 2);
        EXPECT_EQ(lanes[0].active, 0);
        EXPECT_EQ(lanes[1].lane, lane_of(from_source(1, "s")));
        EXPECT_EQ(lanes[1].ready, 0);
        EXPECT_EQ(lanes[1].active, 1);
    });
}

TEST_P(LimitContract, MetersAgreeWithTheLeases) {
    set(at_most_per({Dimension::tenant, Dimension::type}, 2));
    for (std::int64_t id = 1; id <= 6; ++id) put(of_tenant(id, id % 2 == 0 ? "acme" : "zeta"));

    EXPECT_EQ(started(9).size(), 4u);

    EXPECT_TRUE(check_meters().empty());
    commit([&](Session& session) { EXPECT_TRUE(session.limits().check_meters(true).empty()); });
}

TEST_P(LimitContract, AMeterThatHasNeverCountedIsFullAndIdle) {
    const std::vector<MeterId> ids = {1, -7};

    EXPECT_EQ(store->reader()->limits().meters(ids), std::vector<MeterState>(2));
    commit([&](Session& session) {
        EXPECT_EQ(session.limits().meters(ids), std::vector<MeterState>(2));
    });
}

TEST_P(LimitContract, SourcesAreKnownOnceTheyAreCountedAndShowTheLast24Hours) {
    const SourceCount first{.tenant = "acme",
                            .source = "nightly",
                            .submitted = 3,
                            .succeeded = 1,
                            .last_job_at = at(5)};
    const SourceCount more{.tenant = "acme", .source = "nightly", .succeeded = 1, .failed = 1};
    const SourceCount other{
        .tenant = "zeta", .source = unusual_text, .submitted = 1, .last_job_at = at(7)};
    commit([&](Session& session) {
        session.limits().count_sources(std::vector{first, other}, at(5));
        session.limits().count_sources({&more, 1}, at(3600));
    });

    commit([&](Session& session) {
        LimitStore& limits = session.limits();
        EXPECT_TRUE(limits.knows_source("acme", "nightly"));
        EXPECT_FALSE(limits.knows_source("acme", unusual_text));
        EXPECT_EQ(limits.count_of_sources("acme"), 1);
        EXPECT_EQ(limits.count_of_sources("nobody"), 0);
        SourceCount sum = first;
        sum.succeeded = 2;
        sum.failed = 1;
        EXPECT_EQ(limits.sources("acme", at(3700)), std::vector{sum});
        EXPECT_EQ(limits.sources("", at(3700)), (std::vector{sum, other}));
        EXPECT_EQ(limits.sources("nobody", at(3700)), std::vector<SourceCount>{});
        const SourceCount rest{.tenant = "acme", .source = "nightly", .last_job_at = at(5)};
        EXPECT_EQ(limits.sources("acme", at(3600 * 30)), std::vector{rest});
    });
}

TEST_P(LimitContract, ACountOfSourcesThatIsRolledBackIsGone) {
    const SourceCount count{.tenant = "acme", .source = "s", .submitted = 1, .last_job_at = at(1)};
    commit([&](Session& session) { session.limits().count_sources({&count, 1}, at(1)); });

    const SourceCount other{.tenant = "acme", .source = "t", .submitted = 1};
    roll_back([&](Session& session) {
        session.limits().count_sources(std::vector{count, other}, at(1));
        EXPECT_EQ(session.limits().count_of_sources("acme"), 2);
    });

    commit([&](Session& session) {
        EXPECT_EQ(session.limits().sources("acme", at(1)), std::vector{count});
    });
}

TEST_P(LimitContract, SourcesThatDidNothingForADayAreForgotten) {
    const auto counted = [](const std::string& tenant, const std::string& source, Timestamp when) {
        return SourceCount{.tenant = tenant, .source = source, .submitted = 1, .last_job_at = when};
    };
    put(from_source(1, "waits"));
    JobSpec later = from_source(2, "timed");
    later.run_after = at(200'000);
    put(later);
    JobSpec blocked = from_source(3, "blocked");
    blocked.depends_on = {JobId{1}};
    put_blocked(blocked);
    put(from_source(4, "runs"));
    const std::vector<Job> running = start(2);
    ASSERT_EQ(ids_of(running), (Ids{{1}, {4}}));
    finish(ended(running.front(), JobState::succeeded, at(1)));
    put(from_source(5, "waits"));
    set(pause({.tenant = "acme*", .source = "named"}));
    LimitRule some = at_most(1, "dd");
    some.scope.source = "of-many.*";
    set(some);
    commit([&](Session& session) {
        std::vector<SourceCount> counts;
        for (const char* source : {"waits", "timed", "blocked", "runs", "over", "ended", "recent"})
            counts.push_back(counted("default", source, at(5)));
        counts.push_back(counted("acme", "named", at(5)));
        counts.push_back(counted("zeta", "named", at(5)));
        counts.push_back(counted("acme", "of-many.1", at(5)));
        session.limits().count_sources(counts, at(5));
        const SourceCount end{.tenant = "default", .source = "ended", .succeeded = 1};
        session.limits().count_sources({&end, 1}, at(50'000));
        session.limits().count_sources(std::vector{counted("default", "recent", at(60'000))},
                                       at(60'000));
    });
    const auto names = [&](Timestamp now) {
        std::vector<std::string> found;
        commit([&](Session& session) {
            for (const SourceCount& source : session.limits().sources("", now))
                found.push_back(source.tenant + " " + source.source);
            std::int64_t count = 0;
            for (const char* tenant : {"default", "acme", "zeta"})
                count += session.limits().count_of_sources(tenant);
            EXPECT_EQ(count, std::ssize(found));
        });
        return found;
    };
    const auto forget = [&](Timestamp now, int limit) {
        int forgotten = 0;
        commit([&](Session& session) { forgotten = session.limits().forget_sources(now, limit); });
        return forgotten;
    };
    EXPECT_EQ(names(at(5)).size(), 10u);

    EXPECT_EQ(forget(at(80'000), 100), 0) << "a day has not passed";
    roll_back(
        [&](Session& session) { EXPECT_EQ(session.limits().forget_sources(at(100'000), 100), 3); });
    EXPECT_EQ(names(at(5)).size(), 10u);
    EXPECT_EQ(forget(at(100'000), 2), 2);
    EXPECT_EQ(forget(at(100'000), 2), 1);
    EXPECT_EQ(forget(at(100'000), 2), 0);

    EXPECT_EQ(names(at(100'000)),
              (std::vector<std::string>{"acme named", "default blocked", "default ended",
                                        "default recent", "default runs", "default timed",
                                        "default waits"}));
    commit([&](Session& session) {
        EXPECT_FALSE(session.limits().knows_source("default", "over"));
        session.limits().count_sources(std::vector{counted("default", "over", at(100'000))},
                                       at(100'000));
    });
    EXPECT_EQ(names(at(100'000)).size(), 8u) << "it is known again";
}

TEST_P(LimitContract, ASourceWhoseJobsAreHeldBackIsNotForgotten) {
    set(pause({.type = "job"}));
    JobSpec held = from_source(1, "held");
    held.type = "job";
    put(held);
    commit([&](Session& session) {
        session.limits().count_sources(
            std::vector{SourceCount{.tenant = "default", .source = "held", .last_job_at = at(0)}},
            at(0));
    });
    ASSERT_EQ(started(9), Ids{});

    commit(
        [&](Session& session) { EXPECT_EQ(session.limits().forget_sources(at(100'000), 100), 0); });
}

TEST_P(LimitContract, AListShowsTheJobsOfASource) {
    put(from_source(1, "nightly"));
    put(from_source(2, "hourly"));
    put(spec(3));
    put(from_source(4, "nightly"));

    EXPECT_EQ(list({.source = "nightly"}), (Ids{{4}, {1}}));
    EXPECT_EQ(store->reader()->count({.source = "nightly"}), 2);
    EXPECT_EQ(ids_of(store->reader()->page({.source = "nightly"}, 1, 5)), Ids{{1}});
}

}  // namespace limits_contract
}  // namespace sluice
