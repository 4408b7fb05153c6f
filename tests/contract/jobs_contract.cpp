#include "contract/store_contract.hpp"
#include "json/json_values.hpp"

// JobStore: put, requeue, finish, dependents, unblock.
namespace sluice {
namespace jobs_contract {

JobSpec depending(std::int64_t id, std::vector<JobId> dependencies) {
    JobSpec made = spec(id);
    made.depends_on = std::move(dependencies);
    return made;
}

JobSpec with_key(std::int64_t id, const std::string& key) {
    JobSpec made = spec(id);
    made.exclusive_keys = {key};
    return made;
}

// ── put ──

TEST_P(StoreContract, PutAddsAQueuedJobThatIsFoundAsItWasPut) {
    const Job job = put(spec(1));

    EXPECT_EQ(find(JobId{1}), job);
    EXPECT_EQ(find(JobId{1})->now.state, JobState::queued);
}

TEST_P(StoreContract, PutKeepsEveryFieldOfASpec) {
    put(spec(1));
    const Job job = put_blocked(unusual_spec(2, JobId{1}));

    EXPECT_EQ(find(JobId{2}), job);
}

TEST_P(StoreContract, PutKeepsASpecThatHasNothingButAType) {
    JobSpec empty;
    empty.id = JobId{1};
    empty.type = "t";
    empty.payload = "";
    empty.payload_digest = sha256("");
    empty.queue = "";
    const Job job = put(empty);

    EXPECT_EQ(find(JobId{1}), job);
}

TEST_P(StoreContract, PutKeepsEveryKindOfBackoff) {
    JobSpec none = spec(1);
    none.backoff = Backoff::none();
    JobSpec list = spec(2);
    list.backoff = Backoff::list({std::chrono::minutes(1), std::chrono::minutes(5)});
    JobSpec exponential = spec(3);
    exponential.backoff = Backoff::exponential(Duration{1}, std::chrono::hours(24));

    const Job put_none = put(none);
    EXPECT_EQ(find(JobId{1}), put_none);
    const Job put_list = put(list);
    EXPECT_EQ(find(JobId{2}), put_list);
    const Job put_exponential = put(exponential);
    EXPECT_EQ(find(JobId{3}), put_exponential);
}

TEST_P(StoreContract, PutKeepsTheRunAfterOfTheJobBesideThatOfItsSpec) {
    Job job = queued(spec(1));
    job.now.run_after = at(60);
    const Arrival arrival{job, false};
    commit([&](Session& session) { session.jobs().put({&arrival, 1}); });

    EXPECT_EQ(find(JobId{1})->now.run_after, at(60));
    EXPECT_EQ(find(JobId{1})->spec->run_after, at(0));
    EXPECT_EQ(claimable(at(59)), Ids{});
    EXPECT_EQ(claimable(at(60)), Ids{{1}});
}

TEST_P(StoreContract, PutAddsManyAtOnce) {
    std::vector<Arrival> arrivals;
    for (std::int64_t id = 1; id <= 1000; ++id) arrivals.push_back({queued(spec(id)), false});

    commit([&](Session& session) { session.jobs().put(arrivals); });

    EXPECT_EQ(claimable(at(0), 2000).size(), 1000u);
    EXPECT_EQ(store->reader()->ids_after(JobId{0}, 2000).size(), 1000u);
}

TEST_P(StoreContract, PutMakesAJobClaimableWhenItsRunAfterHasCome) {
    JobSpec later = spec(1);
    later.run_after = at(10);
    put(later);

    EXPECT_EQ(claimable(at(9)), Ids{});
    EXPECT_EQ(claimable(at(10)), Ids{{1}});
}

TEST_P(StoreContract, PutDoesNotMakeABlockedJobClaimable) {
    put_running(spec(1));
    put_blocked(depending(2, {JobId{1}}));

    EXPECT_EQ(claimable(at(1000)), Ids{});
}

// ── requeue ──

TEST_P(StoreContract, RequeuePutsARunningJobBackAndClosesItsLease) {
    const Job before = put_running(spec(1));

    const Job job = requeue(requeued(before, at(5)));

    EXPECT_EQ(find(JobId{1}), job);
    EXPECT_EQ(find(JobId{1})->now.state, JobState::queued);
    EXPECT_FALSE(find(JobId{1})->lease);
}

TEST_P(StoreContract, RequeueKeepsWhatTheAttemptLeft) {
    Job job = put_running(spec(1));
    job.now.error_code = "E_" + unusual_text;
    job.now.error_message = unusual_text;
    job.now.message = "message " + unusual_text;
    job.now.log_seq = 7;

    requeue(requeued(job, at(5)));

    EXPECT_EQ(find(JobId{1}), requeued(job, at(5)));
}

TEST_P(StoreContract, RequeueMakesAJobClaimableWhenRunAfterHasCome) {
    const Job job = put_running(spec(1));

    requeue(requeued(job, at(20)));

    EXPECT_EQ(claimable(at(19)), Ids{});
    EXPECT_EQ(claimable(at(20)), Ids{{1}});
}

TEST_P(StoreContract, RequeueFreesTheKeys) {
    const Job job = put_running(with_key(1, "k"));
    put(with_key(2, "k"));
    ASSERT_EQ(claimable(at(0)), Ids{});

    requeue(requeued(job, at(20)));

    EXPECT_EQ(holder("key=k"), std::nullopt);
    EXPECT_EQ(claimable(at(0)), Ids{{2}});
}

TEST_P(StoreContract, RequeueEndsTheWatchOverTheLeaseAndTheDeadline) {
    JobSpec hasty = spec(1);
    hasty.timeout = std::chrono::seconds(5);
    const Job job = put_running(hasty);

    requeue(requeued(job, at(0)));

    commit([&](Session& session) {
        EXPECT_EQ(session.leases().expired(at(1000), 10), Ids{});
        EXPECT_EQ(session.leases().overdue(at(1000), 10), Ids{});
    });
}

TEST_P(StoreContract, ARequeuedJobCanBeTakenAndOpenedAgain) {
    const Job first = put_running(spec(1));
    const Job waiting = requeue(requeued(first, at(1)));

    const Job second = open(waiting, {.token = 2000, .worker_id = "worker-2", .now = at(2)});

    EXPECT_EQ(second.now.attempt, 2);
    EXPECT_EQ(find(JobId{1}), second);
}

// ── finish ──

TEST_P(StoreContract, FinishWritesHowARunningJobEnded) {
    Job job = put_running(spec(1));
    job.now.result = "{\"text\":" + json_string(unusual_text) + "}";
    job.now.error_code = "code " + unusual_text;
    job.now.error_message = "error " + unusual_text;
    job.now.progress = 100;
    job.now.message = "message " + unusual_text;
    job.now.log_seq = 12;

    finish(ended(job, JobState::failed, at(9)));

    EXPECT_EQ(find(JobId{1}), ended(job, JobState::failed, at(9)));
}

TEST_P(StoreContract, FinishWritesEveryFinalState) {
    std::int64_t id = 0;
    for (const JobState state :
         {JobState::succeeded, JobState::failed, JobState::canceled, JobState::timed_out}) {
        const Job job = put_running(spec(++id), {.token = 1000 + id});
        finish(ended(job, state, at(9)));
        EXPECT_EQ(find(JobId{id})->now.state, state);
        EXPECT_EQ(find(JobId{id})->now.completed_at, at(9));
    }
}

TEST_P(StoreContract, FinishTakesAQueuedJobOutOfTheQueue) {
    JobSpec later = spec(2);
    later.run_after = at(50);
    const Job ready = put(spec(1));
    const Job timed = put(later);
    const Job blocked = put_blocked(depending(3, {JobId{1}}));

    for (const Job& job : {blocked, timed, ready}) finish(ended(job, JobState::canceled, at(1)));

    EXPECT_EQ(claimable(at(100)), Ids{});
    EXPECT_EQ(next_due(), never);
    EXPECT_EQ(find(JobId{3}), ended(blocked, JobState::canceled, at(1)));
    commit([&](Session& session) {
        EXPECT_EQ(session.jobs().dependents(Ids{{1}}), Ids{});
        EXPECT_TRUE(session.leases().depths().empty());
    });
}

TEST_P(StoreContract, FinishTakesAJobThatWaitsForAKeyOutOfTheQueue) {
    const Job first = put_running(with_key(1, "k"));
    const Job second = put(with_key(2, "k"));
    put(with_key(3, "k"));
    ASSERT_EQ(claimable(at(0)), Ids{});

    finish(ended(second, JobState::canceled, at(1)));
    finish(ended(first, JobState::succeeded, at(2)));

    EXPECT_EQ(claimable(at(2)), Ids{{3}});
}

TEST_P(StoreContract, FinishOfAJobWithoutALeaseFreesItsKeysAndEndsTheWatch) {
    const Job job = put_running(with_key(1, "k"));

    finish(ended(job, JobState::succeeded, at(9)));

    EXPECT_FALSE(find(JobId{1})->lease);
    EXPECT_EQ(holder("key=k"), std::nullopt);
    EXPECT_EQ(next_due(), never);
}

TEST_P(StoreContract, FinishLetsAJobThatStillCarriesALeaseKeepItAndItsKeys) {
    const Job job = put_running(with_key(1, "k"));
    put(with_key(2, "k"));

    const Job canceled = finish(ended_under_worker(job, JobState::canceled, at(9)));

    EXPECT_EQ(find(JobId{1}), canceled);
    EXPECT_TRUE(find(JobId{1})->lease->stop_requested);
    EXPECT_EQ(holder("key=k"), JobId{1});
    EXPECT_EQ(claimable(at(9)), Ids{});
    commit([&](Session& session) {
        EXPECT_EQ(session.leases().expired(canceled.lease->until, 10), Ids{{1}});
    });
}

// ── dependents, unblock ──

TEST_P(StoreContract, DependentsAreThoseBlockedByOneOfTheseEachOnceInOrderOfTheirIds) {
    for (const std::int64_t id : {1, 2, 3}) put(spec(id));
    put_blocked(depending(7, {JobId{1}, JobId{2}}));
    put_blocked(depending(6, {JobId{2}}));
    put_blocked(depending(5, {JobId{3}}));

    commit([&](Session& session) {
        EXPECT_EQ(session.jobs().dependents(Ids{{2}, {1}}), (Ids{{6}, {7}}));
        EXPECT_EQ(session.jobs().dependents(Ids{{3}}), (Ids{{5}}));
        EXPECT_EQ(session.jobs().dependents(Ids{{5}, {99}}), Ids{});
        EXPECT_EQ(session.jobs().dependents(Ids{}), Ids{});
    });
}

TEST_P(StoreContract, DependentsAreOnlyThoseThatAreStillBlockedAndQueued) {
    put(spec(1));
    const Job unblocked = put_blocked(depending(2, {JobId{1}}));
    const Job canceled = put_blocked(depending(3, {JobId{1}}));
    put(depending(4, {JobId{1}}));

    finish(ended(canceled, JobState::canceled, at(1)));
    commit([&](Session& session) { session.jobs().unblock({&unblocked, 1}); });

    commit([&](Session& session) { EXPECT_EQ(session.jobs().dependents(Ids{{1}}), Ids{}); });
}

TEST_P(StoreContract, DependentsAreSeenInTheSessionThatEndsTheJob) {
    const Job job = put_running(spec(1));
    put_blocked(depending(2, {JobId{1}}));

    commit([&](Session& session) {
        const Job done = ended(job, JobState::succeeded, at(1));
        session.jobs().finish({&done, 1});
        EXPECT_EQ(session.jobs().dependents(Ids{{1}}), Ids{{2}});
    });
}

TEST_P(StoreContract, UnblockLetsABlockedJobBeClaimedWhenItsRunAfterHasCome) {
    JobSpec later = depending(3, {JobId{1}});
    later.run_after = at(30);
    const Job first = put_running(spec(1));
    const Job due = put_blocked(depending(2, {JobId{1}}));
    const Job timed = put_blocked(later);
    finish(ended(first, JobState::succeeded, at(1)));

    commit([&](Session& session) { session.jobs().unblock(std::vector<Job>{due, timed}); });

    EXPECT_EQ(claimable(at(1)), Ids{{2}});
    EXPECT_EQ(claimable(at(30)), (Ids{{2}, {3}}));
    EXPECT_EQ(find(JobId{2}), due);
}

}  // namespace jobs_contract
}  // namespace sluice
