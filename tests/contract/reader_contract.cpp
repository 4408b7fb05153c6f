#include <atomic>
#include <thread>

#include "contract/store_contract.hpp"

// JobReader: find, list, events, logs, ids_after. Filters are in list_contract.cpp.
namespace sluice {
namespace reader_contract {

template <class Item>
std::vector<std::int64_t> numbers(const std::vector<Item>& items) {
    std::vector<std::int64_t> result;
    result.reserve(items.size());
    for (const Item& item : items) result.push_back(item.seq);
    return result;
}

using Numbers = std::vector<std::int64_t>;

TEST_P(StoreContract, FindGivesTheJobsInTheOrderAskedForAndNothingWhereNoneHasTheId) {
    const Job first = put(spec(1));
    const Job second = put(spec(2));

    const auto found = store->reader()->find(Ids{{2}, {99}, {1}, {2}});

    ASSERT_EQ(found.size(), 4u);
    EXPECT_EQ(found[0], second);
    EXPECT_EQ(found[1], std::nullopt);
    EXPECT_EQ(found[2], first);
    EXPECT_EQ(found[3], second);
    EXPECT_TRUE(store->reader()->find(Ids{}).empty());
}

TEST_P(StoreContract, FindGivesMoreJobsThanAStatementHasParameters) {
    std::vector<Arrival> arrivals;
    Ids ids;
    for (std::int64_t id = 1; id <= 3000; ++id) {
        arrivals.push_back({queued(spec(id)), false});
        ids.push_back(JobId{id});
    }
    commit([&](Session& session) { session.jobs().put(arrivals); });

    const auto found = store->reader()->find(ids);

    ASSERT_EQ(found.size(), 3000u);
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], arrivals[i].job);
}

TEST_P(StoreContract, FindOneGivesTheJobOrNothing) {
    const Job job = put(spec(1));

    EXPECT_EQ(store->reader()->find_one(JobId{1}), job);
    EXPECT_EQ(store->reader()->find_one(JobId{2}), std::nullopt);
}

TEST_P(StoreContract, ListGivesJobsBelowBeforeNewestFirstAndNoMoreThanTheLimit) {
    for (const std::int64_t id : {3, 1, 5, 2, 4}) put(spec(id));

    EXPECT_EQ(list({}, newest, 2), (Ids{{5}, {4}}));
    EXPECT_EQ(list({}, JobId{4}, 2), (Ids{{3}, {2}}));
    EXPECT_EQ(list({}, JobId{2}, 2), (Ids{{1}}));
    EXPECT_EQ(list({}, JobId{1}, 2), Ids{});
    EXPECT_EQ(list({}, newest, 0), Ids{});
}

TEST_P(StoreContract, ListGivesWholeJobs) {
    const Job job = put_running(spec(1));

    EXPECT_EQ(store->reader()->list({}, newest, 10), std::vector<Job>{job});
}

TEST_P(StoreContract, EventsAreThoseOfTheJobAboveAfterInOrderAndNoMoreThanTheLimit) {
    put(spec(1));
    put(spec(2));
    commit([&](Session& session) {
        session.history().append(
            std::vector<Event>{event(1, 1), event(2, 1), event(1, 2), event(1, 3)});
    });

    EXPECT_EQ(numbers(store->reader()->events(JobId{1}, 0, 10)), (Numbers{1, 2, 3}));
    EXPECT_EQ(numbers(store->reader()->events(JobId{1}, 1, 10)), (Numbers{2, 3}));
    EXPECT_EQ(numbers(store->reader()->events(JobId{1}, 0, 2)), (Numbers{1, 2}));
    EXPECT_EQ(numbers(store->reader()->events(JobId{1}, 3, 10)), Numbers{});
    EXPECT_EQ(numbers(store->reader()->events(JobId{2}, 0, 10)), Numbers{1});
    EXPECT_EQ(numbers(store->reader()->events(JobId{3}, 0, 10)), Numbers{});
}

TEST_P(StoreContract, LogsAreThoseOfTheJobAboveAfterInOrderAndNoMoreThanTheLimit) {
    put(spec(1));
    put(spec(2));
    commit([&](Session& session) {
        session.history().append(
            std::vector<LogLine>{log_line(1, 1), log_line(2, 1), log_line(1, 2), log_line(1, 3)});
    });

    EXPECT_EQ(numbers(store->reader()->logs(JobId{1}, 0, 10)), (Numbers{1, 2, 3}));
    EXPECT_EQ(numbers(store->reader()->logs(JobId{1}, 1, 10)), (Numbers{2, 3}));
    EXPECT_EQ(numbers(store->reader()->logs(JobId{1}, 0, 2)), (Numbers{1, 2}));
    EXPECT_EQ(numbers(store->reader()->logs(JobId{1}, 3, 10)), Numbers{});
    EXPECT_EQ(numbers(store->reader()->logs(JobId{2}, 0, 10)), Numbers{1});
    EXPECT_EQ(numbers(store->reader()->logs(JobId{3}, 0, 10)), Numbers{});
}

TEST_P(StoreContract, IdsAfterWalksTheJobsOfEveryTenantInOrder) {
    JobSpec others = spec(2);
    others.tenant = "acme";
    put(spec(3));
    put(others);
    put_running(spec(1, "other"));

    EXPECT_EQ(store->reader()->ids_after(JobId{0}, 2), (Ids{{1}, {2}}));
    EXPECT_EQ(store->reader()->ids_after(JobId{2}, 2), (Ids{{3}}));
    EXPECT_EQ(store->reader()->ids_after(JobId{3}, 2), Ids{});
}

TEST_P(StoreContract, AReaderSeesWhatWasCommittedBeforeItsCall) {
    const auto reader = store->reader();
    EXPECT_EQ(reader->find_one(JobId{1}), std::nullopt);

    const Job job = put_running(spec(1));
    EXPECT_EQ(reader->find_one(JobId{1}), job);

    const Job done = finish(ended(job, JobState::succeeded, at(1)));
    EXPECT_EQ(reader->find_one(JobId{1}), done);
}

TEST_P(StoreContract, AReaderSeesNothingThatWasNotCommitted) {
    const auto reader = store->reader();
    const Arrival arrival{queued(spec(1)), false};

    roll_back([&](Session& session) {
        session.jobs().put({&arrival, 1});
        session.history().append(std::vector<Event>{event(1, 1)});
        session.history().append(std::vector<LogLine>{log_line(1, 1)});
        EXPECT_EQ(session.jobs().find_one(JobId{1}), arrival.job);
    });

    EXPECT_EQ(reader->find_one(JobId{1}), std::nullopt);
    EXPECT_TRUE(reader->list({}, newest, 10).empty());
    EXPECT_TRUE(reader->ids_after(JobId{0}, 10).empty());
    EXPECT_TRUE(reader->events(JobId{1}, 0, 10).empty());
    EXPECT_TRUE(reader->logs(JobId{1}, 0, 10).empty());
}

TEST_P(StoreContract, ManyReadersMayBeOpenBesideEachOtherAndBesideASession) {
    const auto before = store->reader();
    std::unique_ptr<JobReader> during;
    const Arrival arrival{queued(spec(1)), false};
    commit([&](Session& session) {
        session.jobs().put({&arrival, 1});
        during = store->reader();
    });
    const auto after = store->reader();

    for (JobReader* reader : {before.get(), during.get(), after.get()}) {
        EXPECT_EQ(reader->find_one(JobId{1}), arrival.job);
    }
}

TEST_P(StoreContract, ACallSeesOneMomentAndNeverHalfOfAChange) {
    Job job = put(spec(1));
    std::atomic<bool> done = false;
    int torn = 0;
    std::thread watcher([&] {
        const auto reader = store->reader();
        while (!done) {
            const auto found = reader->find(Ids{{1}, {1}});
            const Job& seen = *found[0];
            const bool is_running = seen.now.state == JobState::running;
            if (found[0] != found[1] || is_running != seen.lease.has_value() ||
                is_running != seen.now.started_at.has_value()) {
                ++torn;
            }
        }
    });

    for (int i = 0; i < 50; ++i) {
        job = open(job, {.token = 1000 + i});
        job = requeue(requeued(job, at(0)));
    }
    done = true;
    watcher.join();

    EXPECT_EQ(torn, 0);
}

}  // namespace reader_contract
}  // namespace sluice
