#include <algorithm>

#include "contract/store_contract.hpp"

// LeaseStore: open, save, close, moments that are due, newly ready lanes, depths.
namespace sluice {
namespace leases_contract {

JobSpec with_timeout(std::int64_t id, int seconds) {
    JobSpec made = spec(id);
    made.timeout = std::chrono::seconds(seconds);
    return made;
}

JobSpec due_at(std::int64_t id, int seconds) {
    JobSpec made = spec(id);
    made.run_after = at(seconds);
    return made;
}

Claim claim_for(std::int64_t token, int term_seconds) {
    return {.token = token, .term = std::chrono::seconds(term_seconds)};
}

// ── open, save, close ──

TEST_P(StoreContract, OpenWritesTheLeaseAndTheJobRuns) {
    const Job job = put_running(spec(1), {.token = INT64_MAX,
                                          .worker_id = "worker " + unusual_text,
                                          .now = at(3),
                                          .term = Duration{1}});

    EXPECT_EQ(find(JobId{1}), job);
    EXPECT_EQ(find(JobId{1})->now.state, JobState::running);
    EXPECT_EQ(find(JobId{1})->now.started_at, at(3));
    EXPECT_EQ(find(JobId{1})->now.attempt, 1);
}

TEST_P(StoreContract, OpenIsSeenInItsSession) {
    put(spec(1));

    roll_back([&](Session& session) {
        const Job job = running(take(session, {}, 1, at(0)).at(0), {});
        session.leases().open({&job, 1});
        EXPECT_EQ(session.jobs().find_one(JobId{1}), job);
    });
}

TEST_P(StoreContract, SaveWritesTheLeaseProgressMessageAndLogNumber) {
    Job job = put_running(spec(1));
    job.lease->until = at(500);
    job.lease->term = std::chrono::seconds(77);
    job.lease->stop_requested = true;
    job.lease->client_seq = INT64_MAX;
    job.lease->batch_mark = INT64_MIN;
    job.now.progress = 0;
    job.now.message = unusual_text;
    job.now.log_seq = 4'000'000'000;

    save(job);

    EXPECT_EQ(find(JobId{1}), job);
}

TEST_P(StoreContract, SaveMovesTheMomentAtWhichTheLeaseRunsOut) {
    Job job = put_running(spec(1), claim_for(1000, 10));
    job.lease->until = at(50);

    save(job);

    EXPECT_EQ(next_due(), at(50));
    commit([&](Session& session) {
        EXPECT_EQ(session.leases().expired(at(49), 10), Ids{});
        EXPECT_EQ(session.leases().expired(at(50), 10), Ids{{1}});
    });
}

TEST_P(StoreContract, SaveServesTheLeaseOfAJobThatHasEnded) {
    Job job = finish(ended_under_worker(put_running(spec(1)), JobState::canceled, at(1)));
    job.lease->until = at(90);
    job.now.log_seq = 2;

    save(job);

    EXPECT_EQ(find(JobId{1}), job);
    EXPECT_EQ(find(JobId{1})->now.state, JobState::canceled);
}

TEST_P(StoreContract, CloseEndsTheLeaseOfAnEndedJobAndFreesItsKeys) {
    JobSpec made = spec(1);
    made.exclusive_keys = {"k"};
    Job job = finish(ended_under_worker(put_running(made), JobState::timed_out, at(1)));
    record(job, {.step = Step::lease_closed,
                 .from = {},
                 .lease = {},
                 .actor = "w",
                 .at = at(2),
                 .detail = ""});
    job.lease.reset();

    close(job);

    EXPECT_EQ(find(JobId{1}), job);
    EXPECT_EQ(holder("key=k"), std::nullopt);
    EXPECT_EQ(next_due(), never);
    EXPECT_EQ(list({.worker_id = "worker-1"}), Ids{});
}

// ── give_back ──

TEST_P(StoreContract, GiveBackLetsEveryLeaseRunOutThatMuchLater) {
    put_running(with_timeout(1, 100),
                {.token = 1000, .now = at(0), .term = std::chrono::seconds(10)});
    put_running(spec(2), {.token = 2000, .now = at(5), .term = std::chrono::seconds(20)});

    commit([&](Session& session) {
        session.leases().give_back(std::chrono::seconds(30), at(40));
        EXPECT_EQ(session.jobs().find_one(JobId{1})->lease->until, at(40));
    });

    EXPECT_EQ(find(JobId{1})->lease->until, at(40));
    EXPECT_EQ(find(JobId{2})->lease->until, at(55));
    commit([&](Session& session) {
        EXPECT_EQ(session.leases().expired(at(39), 10), Ids{});
        EXPECT_EQ(session.leases().expired(at(54), 10), Ids{{1}});
        EXPECT_EQ(session.leases().expired(at(55), 10), (Ids{{1}, {2}}));
        EXPECT_EQ(session.leases().overdue(at(100), 10), Ids{{1}}) << "deadlines stay";
    });
}

TEST_P(StoreContract, GiveBackGivesNoLeaseMoreThanOneTermFromNow) {
    put_running(spec(1), claim_for(1000, 10));

    commit([&](Session& session) {
        session.leases().give_back(std::chrono::hours(1), at(40));
        session.leases().give_back(std::chrono::hours(1), at(40));
    });
    EXPECT_EQ(find(JobId{1})->lease->until, at(50));

    commit([&](Session& session) { session.leases().give_back(std::chrono::hours(1), at(1)); });
    EXPECT_EQ(find(JobId{1})->lease->until, at(50)) << "nor does it take any away";
}

TEST_P(StoreContract, GiveBackThatIsRolledBackChangesNothing) {
    put_running(spec(1), claim_for(1000, 10));

    roll_back([&](Session& session) { session.leases().give_back(std::chrono::hours(1), at(40)); });

    EXPECT_EQ(find(JobId{1})->lease->until, at(10));
    commit([&](Session& session) { EXPECT_EQ(session.leases().expired(at(10), 10), Ids{{1}}); });
}

// ── expired, overdue, next_due ──

TEST_P(StoreContract, ExpiredAreLeasesThatRanOutAtOrBeforeNowTheEarliestFirst) {
    put_running(spec(1), claim_for(1001, 30));
    put_running(spec(2), claim_for(1002, 10));
    put_running(spec(3), claim_for(1003, 20));

    commit([&](Session& session) {
        EXPECT_EQ(session.leases().expired(at(9), 10), Ids{});
        EXPECT_EQ(session.leases().expired(at(20), 10), (Ids{{2}, {3}}));
        EXPECT_EQ(session.leases().expired(at(99), 2), (Ids{{2}, {3}}));
        EXPECT_EQ(session.leases().expired(at(99), 10), (Ids{{2}, {3}, {1}}));
    });
}

TEST_P(StoreContract, OverdueAreRunningJobsWhoseDeadlineHasComeTheEarliestFirst) {
    put_running(with_timeout(1, 30), claim_for(1001, 900));
    put_running(with_timeout(2, 10), claim_for(1002, 900));
    put_running(with_timeout(3, 0), claim_for(1003, 900));
    put_running(with_timeout(4, 20), claim_for(1004, 900));
    put(with_timeout(5, 1));

    commit([&](Session& session) {
        EXPECT_EQ(session.leases().overdue(at(9), 10), Ids{});
        EXPECT_EQ(session.leases().overdue(at(10), 10), Ids{{2}});
        EXPECT_EQ(session.leases().overdue(at(99), 2), (Ids{{2}, {4}}));
        EXPECT_EQ(session.leases().overdue(at(99), 10), (Ids{{2}, {4}, {1}}));
    });
}

TEST_P(StoreContract, OverdueLeavesOutJobsThatWereAskedToStop) {
    Job asked = put_running(with_timeout(1, 5), claim_for(1001, 900));
    asked.lease->stop_requested = true;
    save(asked);
    const Job canceled = put_running(with_timeout(2, 5), claim_for(1002, 900));
    finish(ended_under_worker(canceled, JobState::canceled, at(1)));

    commit([&](Session& session) { EXPECT_EQ(session.leases().overdue(at(99), 10), Ids{}); });
    EXPECT_EQ(next_due(), at(900));
}

TEST_P(StoreContract, OverdueGoesByTheStartOfTheAttemptNotByItsHeartbeats) {
    Job job = put_running(with_timeout(1, 20), claim_for(1001, 10));
    job.lease->until = at(25);
    save(job);

    commit([&](Session& session) { EXPECT_EQ(session.leases().overdue(at(20), 10), Ids{{1}}); });
}

TEST_P(StoreContract, NextDueIsTheEarliestOfLeasesDeadlinesAndQueuedJobs) {
    EXPECT_EQ(next_due(), never);

    put(due_at(1, 100));
    EXPECT_EQ(next_due(), at(100));

    const Job job = put_running(with_timeout(2, 80), claim_for(1001, 90));
    EXPECT_EQ(next_due(), at(80));

    Job beaten = job;
    beaten.lease->until = at(70);
    save(beaten);
    EXPECT_EQ(next_due(), at(70));

    finish(ended(beaten, JobState::succeeded, at(1)));
    EXPECT_EQ(next_due(), at(100));
}

TEST_P(StoreContract, NextDueDoesNotNameAMomentForJobsThatAreClaimableAlready) {
    put(spec(1));
    put(due_at(2, 5));
    newly_ready(at(5));

    EXPECT_EQ(next_due(), never);
}

TEST_P(StoreContract, NextDueDoesNotNameAMomentForABlockedJob) {
    JobSpec blocked = due_at(2, 50);
    blocked.depends_on = {JobId{1}};
    put(spec(1));
    put_blocked(blocked);

    EXPECT_EQ(next_due(), never);
}

// ── newly_ready ──

TEST_P(StoreContract, NewlyReadyIsWhatBecameClaimableByWritesSinceTheLastCall) {
    put(spec(1));
    put(spec(2));
    EXPECT_EQ(newly_ready(at(0)), 2);
    EXPECT_EQ(newly_ready(at(0)), 0);

    const Job job = open(*find(JobId{1}));
    EXPECT_EQ(newly_ready(at(0)), 0);

    requeue(requeued(job, at(0)));
    EXPECT_EQ(newly_ready(at(0)), 1);
}

TEST_P(StoreContract, NewlyReadyIsAlsoWhatBecameClaimableBecauseItsTimeHasCome) {
    put(due_at(1, 10));
    EXPECT_EQ(newly_ready(at(9)), 0);
    EXPECT_EQ(newly_ready(at(10)), 1);
    EXPECT_EQ(newly_ready(at(11)), 0);
}

TEST_P(StoreContract, NewlyReadyIsAlsoWhatWasUnblockedAndWhoseKeyWasFreed) {
    JobSpec blocked = spec(2);
    blocked.depends_on = {JobId{1}};
    JobSpec first = spec(3, "keyed");
    first.exclusive_keys = {"k"};
    JobSpec second = first;
    second.id = JobId{4};
    put(spec(1));
    const Job waiting = put_blocked(blocked);
    const Job holding = put_running(first);
    commit([&](Session& session) {
        const Arrival arrival{queued(second), false};
        session.jobs().put({&arrival, 1});
        EXPECT_EQ(take(session, {.types = {"keyed"}}, 9, at(0)), std::vector<Job>{});
    });
    newly_ready(at(0));

    commit([&](Session& session) { session.jobs().unblock({&waiting, 1}); });
    EXPECT_EQ(newly_ready(at(0)), 1);
    finish(ended(holding, JobState::succeeded, at(1)));
    EXPECT_EQ(newly_ready(at(1)), 1);
}

TEST_P(StoreContract, NewlyReadyCountsByLane) {
    JobSpec labelled = spec(3, "a");
    labelled.labels = {"gpu"};
    put(spec(1, "a"));
    put(spec(2, "a"));
    put(labelled);

    std::vector<Readied> readied =
        commit([&](Session& session) { return session.leases().newly_ready(at(0)); });

    ASSERT_EQ(readied.size(), 2u);
    std::sort(readied.begin(), readied.end(),
              [](const Readied& a, const Readied& b) { return a.lane < b.lane; });
    EXPECT_EQ(readied[0].lane, (Lane{"default", "default", "a", {}}));
    EXPECT_EQ(readied[0].count, 2);
    EXPECT_EQ(readied[1].lane, (Lane{"default", "default", "a", {"gpu"}}));
    EXPECT_EQ(readied[1].count, 1);
}

// ── depths ──

TEST_P(StoreContract, DepthsCountWhatIsQueuedByLaneAlsoWhatWaits) {
    JobSpec blocked = spec(3);
    blocked.depends_on = {JobId{1}};
    put(spec(1));
    put(due_at(2, 1000));
    put_blocked(blocked);
    put(spec(4, "other"));
    put_running(spec(5, "gone"));

    std::vector<Depth> depths = commit([&](Session& session) { return session.leases().depths(); });

    ASSERT_EQ(depths.size(), 2u);
    std::sort(depths.begin(), depths.end(),
              [](const Depth& a, const Depth& b) { return a.lane < b.lane; });
    EXPECT_EQ(depths[0].lane, (Lane{"default", "default", "other", {}}));
    EXPECT_EQ(depths[0].queued, 1);
    EXPECT_EQ(depths[1].lane, (Lane{"default", "default", "work", {}}));
    EXPECT_EQ(depths[1].queued, 3);
}

}  // namespace leases_contract
}  // namespace sluice
