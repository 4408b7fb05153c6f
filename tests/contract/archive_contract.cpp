#include "contract/store_contract.hpp"

// ArchiveStore: ended jobs, which of them are needed, and their removal.
namespace sluice {
namespace archive_contract {

constexpr JobId above_all{INT64_MAX};

std::vector<EndedJob> ended_of(Store& store, JobId after = {}, JobId before = above_all,
                               int limit = 100) {
    return store.begin()->archive().ended(after, before, limit);
}

std::vector<JobId> unneeded_of(Store& store, std::vector<JobId> ids) {
    return store.begin()->archive().unneeded(ids);
}

TEST_P(StoreContract, EndedNamesWhatHasEndedInTheOrderOfIds) {
    const Job third = finish(ended(put_running(spec(3)), JobState::failed, at(5)));
    const Job first = finish(ended(put_running(spec(1)), JobState::succeeded, at(9)));
    finish(ended(put(spec(2)), JobState::canceled, at(7)));
    put_running(spec(5), {.token = 2000});
    finish(ended_under_worker(put_running(spec(6), {.token = 2001}), JobState::timed_out, at(1)));
    put(spec(4));

    const std::vector<EndedJob> all = ended_of(*store);

    ASSERT_EQ(all.size(), 3u) << "neither what is open nor what has a lease";
    EXPECT_EQ(all[0], (EndedJob{.id = JobId{1},
                                .state = JobState::succeeded,
                                .completed_at = at(9),
                                .rows = first.now.head.seq + first.now.log_seq}));
    EXPECT_EQ(all[1].id, JobId{2});
    EXPECT_EQ(all[1].state, JobState::canceled);
    EXPECT_EQ(all[2], (EndedJob{.id = JobId{3},
                                .state = JobState::failed,
                                .completed_at = at(5),
                                .rows = third.now.head.seq + third.now.log_seq}));
}

TEST_P(StoreContract, EndedHasBoundsAndALimit) {
    for (int id = 1; id <= 5; ++id) finish(ended(put(spec(id)), JobState::canceled, at(1)));
    const auto ids = [&](JobId after, JobId before, int limit) {
        Ids found;
        for (const EndedJob& job : ended_of(*store, after, before, limit)) found.push_back(job.id);
        return found;
    };

    EXPECT_EQ(ids(JobId{2}, above_all, 100), (Ids{{3}, {4}, {5}}));
    EXPECT_EQ(ids({}, JobId{3}, 100), (Ids{{1}, {2}}));
    EXPECT_EQ(ids({}, above_all, 2), (Ids{{1}, {2}}));
    EXPECT_EQ(ids(JobId{5}, above_all, 100), Ids{});
}

TEST_P(StoreContract, WhatAnOpenJobDependsOnIsNeededUntilThatHasEnded) {
    finish(ended(put_running(spec(1)), JobState::succeeded, at(1)));
    finish(ended(put_running(spec(2)), JobState::succeeded, at(1)));
    put_running(spec(3), {.token = 2000});
    JobSpec dependent = spec(4);
    dependent.depends_on = {JobId{1}, JobId{3}};
    Job waiting = put_blocked(dependent);

    EXPECT_EQ(unneeded_of(*store, {JobId{1}, JobId{2}}), Ids{{2}}) << "it waits for another one";
    reopen();
    EXPECT_EQ(unneeded_of(*store, {JobId{1}, JobId{2}}), Ids{{2}}) << "also after a restart";
    finish(ended(waiting, JobState::canceled, at(2)));

    EXPECT_EQ(unneeded_of(*store, {JobId{1}, JobId{2}}), (Ids{{1}, {2}}));
}

TEST_P(StoreContract, WhatARunningJobDependsOnIsNeeded) {
    finish(ended(put_running(spec(1)), JobState::succeeded, at(1)));
    JobSpec dependent = spec(2);
    dependent.depends_on = {JobId{1}};
    put_running(dependent, {.token = 2000});

    EXPECT_EQ(unneeded_of(*store, {JobId{1}}), Ids{});
}

TEST_P(StoreContract, WhatAKeyStandsForIsNeededUntilItIsForgotten) {
    JobSpec made = spec(11);
    made.idempotency_key = "k";
    finish(ended(put(made), JobState::canceled, at(1)));
    JobSpec other = spec(1);
    other.idempotency_key = "k";  // the key was used again since
    finish(ended(put(other), JobState::canceled, at(1)));
    commit([](Session& session) {
        session.idempotency().put(
            {.tenant = "default", .key = "k", .jobs = {JobId{11}, JobId{12}}, .at = at(1)});
    });

    EXPECT_EQ(unneeded_of(*store, {JobId{1}, JobId{11}}), Ids{{1}});
    commit([](Session& session) { session.idempotency().forget_before(at(2), 10); });

    EXPECT_EQ(unneeded_of(*store, {JobId{1}, JobId{11}}), (Ids{{1}, {11}}));
}

TEST_P(StoreContract, RemoveLeavesNothingOfTheJobAndAllOfTheOthers) {
    JobSpec dependent = spec(2);
    dependent.depends_on = {JobId{1}};
    dependent.replay_of = JobId{1};
    finish(ended(put_running(spec(1)), JobState::succeeded, at(1)));
    const Job second =
        finish(ended(put_running(dependent, {.token = 2000}), JobState::failed, at(2)));
    commit([](Session& session) {
        session.history().append(std::vector{event(1, 1), event(1, 2), event(2, 1)});
        session.history().append(std::vector{log_line(1, 1), log_line(2, 1)});
    });

    commit([](Session& session) { session.archive().remove(Ids{{1}}); });

    for (const bool again : {false, true}) {
        if (again && !reopen()) break;
        EXPECT_EQ(find(JobId{1}), std::nullopt);
        EXPECT_EQ(find(JobId{2}), second) << "it still says what it depended on, and replayed";
        const auto reader = store->reader();
        EXPECT_TRUE(reader->events(JobId{1}, 0, 10).empty());
        EXPECT_TRUE(reader->logs(JobId{1}, 0, 10).empty());
        EXPECT_EQ(reader->events(JobId{2}, 0, 10).size(), 1u);
        EXPECT_EQ(reader->logs(JobId{2}, 0, 10).size(), 1u);
        EXPECT_EQ(reader->ids_after({}, 10), Ids{{2}});
        EXPECT_EQ(list({}), Ids{{2}});
        EXPECT_EQ(ended_of(*store).size(), 1u);
    }
    commit([](Session& session) { session.archive().remove(Ids{{2}}); });
    EXPECT_EQ(list({}), Ids{});
}

TEST_P(StoreContract, AJobWithManyLinesIsGoneWithTheFirstPartAndItsLinesGoInTheNext) {
    Job job = put_running(spec(1));
    job.now.log_seq = 2 * rows_at_once + 10;
    finish(ended(job, JobState::succeeded, at(1)));
    finish(ended(put(spec(2)), JobState::canceled, at(1)));
    commit([](Session& session) {
        session.history().append(std::vector{event(1, 1), event(2, 1)});
        std::vector<LogLine> lines{log_line(2, 1)};
        for (std::int64_t seq = 1; seq <= 2 * rows_at_once + 10; ++seq) {
            lines.push_back(log_line(1, seq));
        }
        session.history().append(lines);
    });
    int parts = 0;
    for (bool is_gone = false; !is_gone && parts < 10; ++parts) {
        for (const EndedJob& left : ended_of(*store)) {
            EXPECT_EQ(left.is_rest, left.id == JobId{1} && parts > 0);
        }
        commit([&](Session& session) { is_gone = session.archive().remove_part(JobId{1}); });
        EXPECT_EQ(find(JobId{1}), std::nullopt);
        EXPECT_EQ(list({}), Ids{{2}});
        reopen();
    }

    EXPECT_LE(parts, 3);
    const auto reader = store->reader();
    EXPECT_TRUE(reader->events(JobId{1}, 0, 10).empty());
    EXPECT_TRUE(reader->logs(JobId{1}, 0, 10).empty());
    EXPECT_EQ(reader->logs(JobId{2}, 0, 10).size(), 1u);
    EXPECT_EQ(ended_of(*store).size(), 1u);
}

TEST_P(StoreContract, RollbackUndoesRemove) {
    const Job job = finish(ended(put_running(spec(1)), JobState::succeeded, at(1)));
    commit([](Session& session) { session.history().append(std::vector{event(1, 1)}); });

    roll_back([](Session& session) { session.archive().remove(Ids{{1}}); });

    EXPECT_EQ(find(JobId{1}), job);
    EXPECT_EQ(store->reader()->events(JobId{1}, 0, 10).size(), 1u);
}

}  // namespace archive_contract
}  // namespace sluice
