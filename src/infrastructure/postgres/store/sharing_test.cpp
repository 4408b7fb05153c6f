// Two committers of one database, as on two nodes: a row that one of them has locked, the other one
// passes over, waits for, or loses against; never does a job get two lives.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "infrastructure/postgres/cluster/clock_row.hpp"
#include "infrastructure/postgres/watch/tick.hpp"
#include "support/builders.hpp"
#include "support/commit.hpp"
#include "support/test_database.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace sharing_test {

using namespace std::chrono_literals;

class PostgresSharing : public testing::Test {
  protected:
    static TestDatabase& database() {
        static TestDatabase shared;
        return shared;
    }

    Job put(const JobSpec& spec, bool blocked = false) {
        const Arrival arrival{queued(spec), blocked};
        return commit(*one, [&](Session& session) {
            session.jobs().put({&arrival, 1});
            return arrival.job;
        });
    }

    static std::vector<Job> take(Session& session, int limit = 9, Timestamp now = at(0)) {
        const ClaimFilter any;
        const LeaseStore::Wanted wanted{&any, limit};
        return session.leases().take({&wanted, 1}, now).front();
    }

    static std::vector<JobId> claimable(Store& store, Timestamp now = at(0)) {
        std::vector<JobId> ids;
        for (const Job& job : take(*store.begin(), 99, now)) ids.push_back(job.spec->id);
        return ids;
    }

    static Job claim(Store& store, std::int64_t token) {
        return commit(store, [&](Session& session) {
            Job job = running(take(session, 1).at(0), {.token = token});
            session.leases().open({&job, 1});
            return job;
        });
    }

    // The job as a cancel finds it; sessions that lose against others are run again, as the engine
    // does.
    static Job find_for_cancel(Store& store, JobId id) {
        for (;;) {
            try {
                const auto session = store.begin();
                session->reserve({.jobs = {id}});
                return find(*session, id);
            } catch (const StoreConflict&) {
            }
        }
    }

    static Job find(Session& session, JobId id) { return session.jobs().find_one(id).value(); }

    using Ids = std::vector<JobId>;

    std::unique_ptr<Store> one = database().open_empty();
    std::unique_ptr<Store> two = database().open();
};

JobSpec with_key(std::int64_t id, const std::string& key) {
    JobSpec made = spec(id);
    made.exclusive_keys = {key};
    return made;
}

TEST_F(PostgresSharing, SeatsAreApart) {
    EXPECT_NE(one->seat(), two->seat());
}

TEST_F(PostgresSharing, AJobIsTakenByOne) {
    for (const std::int64_t id : {1, 2, 3}) put(spec(id));

    const auto first = one->begin();
    const auto second = two->begin();

    EXPECT_EQ(take(*first, 2).size(), 2u);
    const std::vector<Job> rest = take(*second, 9);
    ASSERT_EQ(rest.size(), 1u);
    EXPECT_EQ(rest[0].spec->id, JobId{3});
}

TEST_F(PostgresSharing, WhatOneMakesReadyTheOtherClaimsWithoutHavingHeardOfItsLane) {
    put(spec(1, "unheard-of"));

    EXPECT_EQ(claimable(*two), Ids{{1}});
}

TEST_F(PostgresSharing, AJobThatIsBeingCanceledIsNotTaken) {
    const Job job = put(spec(1));
    const auto canceling = one->begin();
    canceling->reserve({.jobs = {JobId{1}}});

    EXPECT_EQ(claimable(*two), Ids{});

    const Job canceled = ended(job, JobState::canceled, at(1));
    canceling->jobs().finish({&canceled, 1});
    canceling->commit();
    EXPECT_EQ(claimable(*two), Ids{});
}

TEST_F(PostgresSharing, ACancelWaitsForTheClaimOfTheSameJobAndFindsItRunning) {
    put(spec(1));
    auto claiming = one->begin();
    Job job = running(take(*claiming).at(0), {.token = 1000});

    auto seen = std::async(std::launch::async, [&] { return find_for_cancel(*two, JobId{1}); });
    EXPECT_EQ(seen.wait_for(100ms), std::future_status::timeout);
    claiming->leases().open({&job, 1});
    claiming->commit();

    EXPECT_EQ(seen.get(), job);
}

TEST_F(PostgresSharing, ACancelThatWaitedForAClaimFindsAJobThatHasEndedSince) {
    put(spec(1));
    auto claiming = one->begin();
    Job job = running(take(*claiming).at(0), {.token = 1000});
    auto seen =
        std::async(std::launch::async, [&] { return find_for_cancel(*two, JobId{1}).now.state; });
    EXPECT_EQ(seen.wait_for(100ms), std::future_status::timeout);
    // Claimed, given up and ended in one commit: the cancel finds no row of it where it looks.
    const Job done = ended(job, JobState::succeeded, at(1));
    claiming->leases().open({&job, 1});
    claiming->jobs().finish({&done, 1});
    claiming->commit();

    EXPECT_EQ(seen.get(), JobState::succeeded);
}

TEST_F(PostgresSharing, AJobThatIsBeingCanceledDoesNotBecomeReadyWhenItsTimeComes) {
    JobSpec later = spec(1);
    later.run_after = at(10);
    const Job job = put(later);
    const auto canceling = one->begin();
    canceling->reserve({.jobs = {JobId{1}}});
    // Looks for due work, as the node with the duty does.
    auto three = database().open();
    commit(*three, [&](Session& session) { return session.leases().newly_ready(at(10)); });

    const Job canceled = ended(job, JobState::canceled, at(10));
    canceling->jobs().finish({&canceled, 1});
    canceling->commit();

    EXPECT_EQ(claimable(*three, at(20)), Ids{});
    EXPECT_TRUE(three->begin()->leases().depths().empty());
}

TEST_F(PostgresSharing, ACancelWaitsForTheReportOfTheSameJob) {
    put(spec(1));
    const Job job = claim(*one, 1000);
    auto reporting = one->begin();
    reporting->reserve({.leased = {JobId{1}}});
    find(*reporting, JobId{1});

    auto seen =
        std::async(std::launch::async, [&] { return find_for_cancel(*two, JobId{1}).now.state; });
    EXPECT_EQ(seen.wait_for(100ms), std::future_status::timeout);
    const Job done = ended(job, JobState::succeeded, at(1));
    reporting->jobs().finish({&done, 1});
    reporting->commit();

    EXPECT_EQ(seen.get(), JobState::succeeded);
}

TEST_F(PostgresSharing, AStaleWorkersWordIsWeighedAfterTheClaimThatWasFaster) {
    put(spec(1));
    const Job first = claim(*one, 1000);
    commit(*one, [&](Session& session) {
        session.reserve({.leased = {JobId{1}}});
        const Job back = requeued(first, at(0));
        session.jobs().requeue({&back, 1});
        return 0;
    });
    claim(*two, 2000);

    const auto session = one->begin();
    session->reserve({.leased = {JobId{1}}});
    EXPECT_FALSE(find(*session, JobId{1}).is_leased_under(LeaseToken{1000}));
}

TEST_F(PostgresSharing, WhoBeginsToWaitForAJobThatEndsIsSeen) {
    put(spec(1));
    const Job job = claim(*one, 1000);
    JobSpec waiting = spec(2);
    waiting.depends_on = {JobId{1}};
    auto submitting = two->begin();
    submitting->reserve({.jobs = {JobId{1}}});
    ASSERT_EQ(find(*submitting, JobId{1}).now.state, JobState::running);

    auto dependents = std::async(std::launch::async, [&] {
        const auto reporting = one->begin();
        reporting->reserve({.leased = {JobId{1}}});
        const Job done = ended(job, JobState::succeeded, at(1));
        reporting->jobs().finish({&done, 1});
        auto found = reporting->jobs().dependents(Ids{{1}});
        reporting->commit();
        return found;
    });
    EXPECT_EQ(dependents.wait_for(100ms), std::future_status::timeout);
    const Arrival arrival{queued(waiting), true};
    submitting->jobs().put({&arrival, 1});
    submitting->commit();

    EXPECT_EQ(dependents.get(), Ids{{2}});
}

TEST_F(PostgresSharing, AnEngineThatTakesAJobInWaitsForTheEndOfWhatItDependsOn) {
    put(spec(1));
    const Job job = claim(*one, 1000);
    const auto reporting = one->begin();
    reporting->reserve({.leased = {JobId{1}}});
    const Job done = ended(job, JobState::succeeded, at(1));
    reporting->jobs().finish({&done, 1});
    ASSERT_EQ(reporting->jobs().dependents(Ids{{1}}), Ids{});

    TestEngine engine(*two);
    auto submitted = std::async(std::launch::async, [&] {
        JobSpec after = spec(0);
        after.depends_on = {JobId{1}};
        return engine.submit(after).spec->id;
    });
    EXPECT_EQ(submitted.wait_for(100ms), std::future_status::timeout);
    reporting->commit();

    const JobId id = submitted.get();
    EXPECT_EQ(claimable(*one, at(1)), Ids{id});
}

TEST_F(PostgresSharing, AKeyIsHeldByOne) {
    put(with_key(1, "k"));
    put(with_key(2, "k"));
    const auto first = one->begin();
    ASSERT_EQ(take(*first, 1).size(), 1u);

    auto taken = std::async(std::launch::async, [&] { return claimable(*two).size(); });
    EXPECT_EQ(taken.wait_for(100ms), std::future_status::timeout);  // the first may still fail
    Job job = running(queued(with_key(1, "k")), {.token = 1000});
    first->leases().open({&job, 1});
    first->commit();

    EXPECT_EQ(taken.get(), 0u);
}

TEST_F(PostgresSharing, AJobThatIsParkedWhileItsKeyIsFreedComesBack) {
    put(with_key(1, "k"));
    const Job holder = claim(*one, 1000);
    put(with_key(2, "k"));
    auto claiming = two->begin();
    ASSERT_TRUE(take(*claiming).empty());  // has parked the second job, not committed

    auto freed = std::async(std::launch::async, [&] {
        commit(*one, [&](Session& session) {
            session.reserve({.leased = {JobId{1}}});
            const Job done = ended(holder, JobState::succeeded, at(1));
            session.jobs().finish({&done, 1});
            return 0;
        });
    });
    EXPECT_EQ(freed.wait_for(100ms), std::future_status::timeout);
    claiming->commit();
    freed.get();

    EXPECT_EQ(claimable(*two, at(1)), Ids{{2}});
}

TEST_F(PostgresSharing, TheSecondOfTwoRequestsWithOneKeyIsAConflict) {
    const IdempotentRequest request{.tenant = "t", .key = "k", .jobs = {JobId{1}}, .at = at(0)};
    const auto first = one->begin();
    const auto second = two->begin();
    first->reserve({.keys = {{"t", "k"}}});
    second->reserve({.keys = {{"t", "k"}}});
    EXPECT_EQ(first->idempotency().find("t", "k"), std::nullopt);
    EXPECT_EQ(second->idempotency().find("t", "k"), std::nullopt);

    first->idempotency().put(request);
    first->commit();
    second->idempotency().put(request);
    EXPECT_THROW(second->commit(), StoreConflict);
}

TEST_F(PostgresSharing, ALeaseThatIsBeingRenewedDoesNotExpire) {
    put(spec(1));
    const Job job = claim(*one, 1000);
    const Timestamp late = job.lease->until + 1s;
    const auto renewing = one->begin();
    renewing->reserve({.leased = {JobId{1}}});

    auto three = database().open();
    EXPECT_EQ(three->begin()->leases().expired(late, 9), Ids{});
}

TEST_F(PostgresSharing, NoLeaseRunsOutWhileNobodyWatchesAndAllGetThatTimeBack) {
    put(spec(1));
    const Job job = claim(*one, 1000);
    const Timestamp late = job.lease->until + 1s;
    postgres::Connection connection({.url = database().url()});
    connection.execute("UPDATE duty SET owner = 7, until = now() - interval '1 minute'");
    auto three = database().open();
    EXPECT_EQ(three->begin()->leases().expired(late, 9), Ids{});

    EXPECT_TRUE(
        postgres::tick(connection, {.owner = 8, .now = postgres::server_now(connection)}).has_duty);

    const Timestamp until = find(*three->begin(), JobId{1}).lease->until;
    EXPECT_GE(until, job.lease->until + 60s);
    EXPECT_LT(until, job.lease->until + 65s);
    EXPECT_EQ(three->begin()->leases().expired(until, 9), Ids{{1}});
    connection.execute("UPDATE duty SET owner = 0, until = '-infinity'");
}

TEST_F(PostgresSharing, AHeartbeatStaysWithinItsPage) {
    put(spec(1));
    Job job = claim(*one, 1000);
    constexpr int heartbeats = 20;
    for (int i = 0; i < heartbeats; ++i) {
        job.lease->until += 1s;
        commit(*one, [&](Session& session) {
            session.leases().save({&job, 1});
            return 0;
        });
    }
    one.reset();  // its counts are visible once its connection has ended

    postgres::Connection connection({.url = database().url()});
    const auto count = [&](const char* column) {
        const postgres::Result result =
            connection.ask({"", std::string("SELECT ") + column +
                                    " FROM pg_stat_user_tables WHERE relid = 'lease'::regclass"});
        connection.sync();
        return postgres::Row(result, 0).integer();
    };
    for (int tries = 0; count("n_tup_upd") < heartbeats && tries < 500; ++tries) {
        std::this_thread::sleep_for(10ms);
    }
    EXPECT_GE(count("n_tup_upd"), heartbeats);
    EXPECT_EQ(count("n_tup_hot_upd"), count("n_tup_upd"));
}

TEST_F(PostgresSharing, TokensGrowFromNodeToNode) {
    put(spec(1));
    const Job first = claim(*one, 5000);
    commit(*one, [&](Session& session) {
        session.reserve({.leased = {JobId{1}}});
        const Job back = requeued(first, at(0));
        session.jobs().requeue({&back, 1});
        return 0;
    });

    const auto session = two->begin();
    ASSERT_EQ(take(*session).size(), 1u);
    EXPECT_EQ(session->leases().newest_token(), LeaseToken{5000});
}

// In one millisecond the numbers of the higher seat are the larger ones.
TEST_F(PostgresSharing, AnEngineGivesALargerTokenThanTheNodeBeforeIt) {
    const bool is_first_higher = one->seat() > two->seat();
    TestEngine higher(is_first_higher ? *one : *two);
    TestEngine lower(is_first_higher ? *two : *one);
    const Job first = higher.start(spec());
    ASSERT_TRUE(higher.hand_back(first));

    const Job second = lower.claim_one();

    EXPECT_EQ(second.spec->id, first.spec->id);
    EXPECT_GT(second.lease->token, first.lease->token);
}

}  // namespace sharing_test
}  // namespace sluice
