#include "contract/store_contract.hpp"

// Session and Store: a session that is not committed changes nothing, one that is stays.
namespace sluice {
namespace session_contract {

JobSpec with_key(std::int64_t id, const std::string& key = "k") {
    JobSpec made = spec(id);
    made.exclusive_keys = {key};
    return made;
}

// ── without a commit ──

TEST_P(StoreContract, RollbackUndoesPut) {
    put(spec(2));
    const std::vector<Arrival> arrivals = {{queued(spec(1)), false}, {queued(spec(3)), true}};

    roll_back([&](Session& session) { session.jobs().put(arrivals); });

    EXPECT_EQ(find(JobId{1}), std::nullopt);
    EXPECT_EQ(claimable(at(0)), Ids{{2}});
    put(spec(1));
    EXPECT_EQ(claimable(at(0)), (Ids{{1}, {2}}));
}

TEST_P(StoreContract, RollbackUndoesTakeAndOpen) {
    const Job job = put(with_key(1));

    roll_back([&](Session& session) {
        const Job taken = running(take(session, {}, 1, at(0)).at(0), {});
        session.leases().open({&taken, 1});
    });

    EXPECT_EQ(find(JobId{1}), job);
    EXPECT_EQ(holder("key=k"), std::nullopt);
    EXPECT_EQ(next_due(), never);
    EXPECT_EQ(claimable(at(0)), Ids{{1}});
}

TEST_P(StoreContract, RollbackUndoesSave) {
    const Job job = put_running(spec(1));
    Job changed = job;
    changed.lease->until = at(900);
    changed.now.progress = 50;
    changed.now.log_seq = 9;

    roll_back([&](Session& session) { session.leases().save({&changed, 1}); });

    EXPECT_EQ(find(JobId{1}), job);
    EXPECT_EQ(next_due(), job.lease->until);
}

TEST_P(StoreContract, RollbackUndoesRequeue) {
    const Job job = put_running(with_key(1));
    const Job back = requeued(job, at(0));

    roll_back([&](Session& session) { session.jobs().requeue({&back, 1}); });

    EXPECT_EQ(find(JobId{1}), job);
    EXPECT_EQ(holder("key=k"), JobId{1});
    EXPECT_EQ(next_due(), job.lease->until);
    EXPECT_EQ(claimable(at(0)), Ids{});
}

TEST_P(StoreContract, RollbackUndoesFinish) {
    const Job leased = put_running(with_key(1));
    const Job waiting = put(spec(2));
    const std::vector<Job> done = {ended(leased, JobState::succeeded, at(1)),
                                   ended(waiting, JobState::canceled, at(1))};

    roll_back([&](Session& session) { session.jobs().finish(done); });

    EXPECT_EQ(find(JobId{1}), leased);
    EXPECT_EQ(find(JobId{2}), waiting);
    EXPECT_EQ(holder("key=k"), JobId{1});
    EXPECT_EQ(next_due(), leased.lease->until);
    EXPECT_EQ(claimable(at(0)), Ids{{2}});
}

TEST_P(StoreContract, RollbackUndoesClose) {
    const Job job = finish(ended_under_worker(put_running(with_key(1)), JobState::canceled, at(1)));
    Job closed = job;
    closed.lease.reset();

    roll_back([&](Session& session) { session.leases().close({&closed, 1}); });

    EXPECT_EQ(find(JobId{1}), job);
    EXPECT_EQ(holder("key=k"), JobId{1});
    EXPECT_EQ(next_due(), job.lease->until);
}

TEST_P(StoreContract, RollbackUndoesUnblock) {
    JobSpec made = spec(2, "blocked");
    made.depends_on = {JobId{1}};
    put_running(spec(1));
    const Job job = put_blocked(made);

    roll_back([&](Session& session) { session.jobs().unblock({&job, 1}); });

    EXPECT_EQ(claimable(at(0)), Ids{});
    commit([&](Session& session) { EXPECT_EQ(session.jobs().dependents(Ids{{1}}), Ids{{2}}); });
}

TEST_P(StoreContract, RollbackUndoesWhatWasAppended) {
    put(spec(1));
    commit([&](Session& session) {
        session.history().append(std::vector<Event>{event(1, 1)});
        session.history().append(std::vector<LogLine>{log_line(1, 1)});
    });

    roll_back([&](Session& session) {
        session.history().append(std::vector<Event>{event(1, 2), event(1, 3)});
        session.history().append(std::vector<LogLine>{log_line(1, 2)});
    });

    EXPECT_EQ(store->reader()->events(JobId{1}, 0, 10), std::vector<Event>{event(1, 1)});
    EXPECT_EQ(store->reader()->logs(JobId{1}, 0, 10), std::vector<LogLine>{log_line(1, 1)});
}

TEST_P(StoreContract, RollbackUndoesWhatWasRememberedAndForgotten) {
    const IdempotentRequest old{.tenant = "t", .key = "old", .jobs = {}, .at = at(1)};
    IdempotentRequest changed = old;
    changed.at = at(50);
    const IdempotentRequest fresh{.tenant = "t", .key = "fresh", .jobs = {}, .at = at(2)};
    commit([&](Session& session) { session.idempotency().put(old); });

    roll_back([&](Session& session) {
        session.idempotency().put(fresh);
        session.idempotency().put(changed);
    });
    roll_back([&](Session& session) { session.idempotency().forget_before(at(99), 10); });

    commit([&](Session& session) {
        EXPECT_EQ(session.idempotency().find("t", "old"), old);
        EXPECT_EQ(session.idempotency().find("t", "fresh"), std::nullopt);
    });
}

TEST_P(StoreContract, RollbackUndoesWhatBecameReadyAndWhatWasSaidOfIt) {
    JobSpec later = spec(2);
    later.run_after = at(10);
    put(spec(1));
    put(later);
    const Arrival arrival{queued(spec(3)), false};

    roll_back([&](Session& session) {
        session.jobs().put({&arrival, 1});
        session.leases().newly_ready(at(10));
    });

    EXPECT_EQ(newly_ready(at(10)), 2);
    EXPECT_EQ(newly_ready(at(10)), 0);
    roll_back([&](Session& session) { session.jobs().put({&arrival, 1}); });
    EXPECT_EQ(newly_ready(at(10)), 0);
}

TEST_P(StoreContract, RollbackUndoesManyWritesOfOneSession) {
    const Job job = put(spec(1));

    roll_back([&](Session& session) {
        const Job first = running(take(session, {}, 1, at(0)).at(0), {});
        session.leases().open({&first, 1});
        const Job back = requeued(first, at(0));
        session.jobs().requeue({&back, 1});
        const Job second = running(take(session, {}, 1, at(0)).at(0), {.token = 2000});
        session.leases().open({&second, 1});
        const Job done = ended(second, JobState::failed, at(1));
        session.jobs().finish({&done, 1});
        EXPECT_EQ(session.jobs().find_one(JobId{1}), done);
    });

    EXPECT_EQ(find(JobId{1}), job);
    EXPECT_EQ(claimable(at(0)), Ids{{1}});
}

// ── with a commit ──

TEST_P(StoreContract, CommitMakesWhatWasWrittenVisibleToReadersBeforeTheSessionIsGone) {
    const auto reader = store->reader();
    const Arrival arrival{queued(spec(1)), false};
    const auto session = store->begin();
    session->jobs().put({&arrival, 1});

    session->commit();

    EXPECT_EQ(reader->find_one(JobId{1}), arrival.job);
}

TEST_P(StoreContract, LastIdIsTheLargestNumberEverGivenToAJobOrALease) {
    EXPECT_EQ(store->last_id(), 0);

    put(spec(700));
    put(spec(50));
    EXPECT_EQ(store->last_id(), 700);

    const Job job = put_running(spec(60, "other"), {.token = 9000});
    EXPECT_EQ(store->last_id(), 9000);

    finish(ended(job, JobState::succeeded, at(1)));
    EXPECT_EQ(store->last_id(), 9000);
}

// ── durable stores ──

TEST_P(StoreContract, AReopenedStoreHasWhatWasCommitted) {
    put(spec(1, "done"));
    const Job done = finish(ended(open(*find(JobId{1})), JobState::succeeded, at(1)));
    const Job unusual = put_blocked(unusual_spec(2, JobId{1}));
    const Job leased = put_running(with_key(3), {.token = 9000});
    const IdempotentRequest remembered{.tenant = "t", .key = "k", .jobs = {JobId{1}}, .at = at(1)};
    commit([&](Session& session) {
        session.history().append(std::vector<Event>{event(1, 1)});
        session.history().append(std::vector<LogLine>{log_line(1, 1)});
        session.idempotency().put(remembered);
    });

    if (!reopen()) GTEST_SKIP() << "not a durable store";

    EXPECT_EQ(find(JobId{1}), done);
    EXPECT_EQ(find(JobId{2}), unusual);
    EXPECT_EQ(find(JobId{3}), leased);
    EXPECT_EQ(store->reader()->events(JobId{1}, 0, 10), std::vector<Event>{event(1, 1)});
    EXPECT_EQ(store->reader()->logs(JobId{1}, 0, 10), std::vector<LogLine>{log_line(1, 1)});
    EXPECT_EQ(store->begin()->idempotency().find("t", "k"), remembered);
    // On a shared store it may come back as another user, whose numbers are separate.
    if (!GetParam().is_shared) {
        EXPECT_EQ(store->last_id(), 9000);
    }
}

TEST_P(StoreContract, AReopenedStoreGoesOnWithItsQueueItsKeysAndItsLeases) {
    JobSpec later = spec(2);
    later.run_after = at(40);
    JobSpec blocked = spec(3);
    blocked.depends_on = {JobId{1}};
    const Job retried = requeue(requeued(put_running(spec(4, "retried")), at(20)));
    const Job held = put_running(with_key(5), {.token = 1005});
    const Job canceled = finish(ended_under_worker(put_running(with_key(7, "c"), {.token = 1007}),
                                                   JobState::canceled, at(1)));
    put(with_key(6));
    put(with_key(8, "c"));
    put(spec(1));
    put(later);
    const Job waiting = put_blocked(blocked);

    if (!reopen()) GTEST_SKIP() << "not a durable store";

    EXPECT_EQ(claimable(at(19)), Ids{{1}});
    EXPECT_EQ(claimable(at(40)), (Ids{{1}, {2}, {4}}));
    commit([&](Session& session) {
        EXPECT_EQ(session.jobs().dependents(Ids{{1}}), Ids{{3}});
        EXPECT_EQ(session.leases().expired(held.lease->until, 10), (Ids{{5}, {7}}));
        session.jobs().unblock({&waiting, 1});
    });
    finish(ended(held, JobState::succeeded, at(1)));
    close(canceled);
    EXPECT_EQ(claimable(at(19)), (Ids{{1}, {3}, {6}, {8}}));
    EXPECT_EQ(find(JobId{4}), retried);
}

TEST_P(StoreContract, AReopenedStoreBlocksAJobUntilTheLastOfItsDependenciesHasEnded) {
    const Job first = put_running(spec(1));
    put_running(spec(3), {.token = 1003});
    JobSpec after_all = spec(4);
    after_all.depends_on = {JobId{1}, JobId{3}};
    put_blocked(after_all);
    finish(ended(first, JobState::succeeded, at(1)));

    if (!reopen()) GTEST_SKIP() << "not a durable store";

    EXPECT_EQ(claimable(at(9)), Ids{});
    EXPECT_EQ(commit([](Session& session) { return session.jobs().dependents(Ids{{3}}); }),
              Ids{{4}});
}

TEST_P(StoreContract, AReopenedStoreHasNothingThatWasRolledBack) {
    const Arrival arrival{queued(spec(1)), false};
    roll_back([&](Session& session) { session.jobs().put({&arrival, 1}); });

    if (!reopen()) GTEST_SKIP() << "not a durable store";

    EXPECT_EQ(find(JobId{1}), std::nullopt);
    EXPECT_EQ(claimable(at(0)), Ids{});
}

}  // namespace session_contract
}  // namespace sluice
