#include "infrastructure/sqlite/store/sqlite_store.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "infrastructure/sqlite/database/statement.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/crashed_files.hpp"

// The behavior of SqliteStore beyond the contract that every store keeps (tests/contract).
namespace sluice {
namespace sqlite_store_test {

namespace fs = std::filesystem;

class SqliteStoreTest : public testing::Test {
  protected:
    SqliteStoreTest() { fs::remove_all(folder); }
    ~SqliteStoreTest() override {
        store.reset();
        fs::remove_all(folder);
    }

    void open(Timestamp now = at(0), int pages_max = 0) {
        store.reset();
        store =
            std::make_unique<SqliteStore>(path, now, SqliteStore::Limits{.pages_max = pages_max});
    }

    // Opens the files that a power cut would leave behind, as a store of its own.
    void crash_and_open(Timestamp now = at(0)) {
        const fs::path copy = copy_as_after_a_crash(path, folder / "after the crash");
        store.reset();
        path = copy;
        open(now);
    }

    template <class Work>
    void commit(Work&& work) {
        const auto session = store->begin();
        work(*session);
        session->commit();
    }

    Job put(const JobSpec& spec) {
        const Arrival arrival{queued(spec), !spec.depends_on.empty()};
        commit([&](Session& session) { session.jobs().put({&arrival, 1}); });
        return arrival.job;
    }

    std::vector<Job> take(Session& session, int limit = 100, Timestamp now = at(0)) {
        const ClaimFilter filter;
        const LeaseStore::Wanted wanted{&filter, limit};
        return session.leases().take({&wanted, 1}, now).front();
    }

    // Claims the next job.
    Job claim(std::int64_t token, Timestamp now = at(0)) {
        Job job;
        commit([&](Session& session) {
            job = running(take(session, 1, now).at(0), {.token = token, .now = now});
            session.leases().open({&job, 1});
        });
        return job;
    }

    void finish(const Job& job) {
        commit([&](Session& session) { session.jobs().finish({&job, 1}); });
    }

    std::vector<JobId> claimable(Timestamp now = at(0)) {
        return ids_of(take(*store->begin(), 10'000, now));
    }

    std::optional<Job> find(std::int64_t id) { return store->reader()->find_one(JobId{id}); }

    fs::path folder = fs::temp_directory_path() / ("sluice-sqlite-" + std::to_string(getpid()));
    fs::path path = folder / "new" / "folders" / "jobs.db";
    std::unique_ptr<SqliteStore> store;
};

TEST_F(SqliteStoreTest, CreatesMissingFolders) {
    open();

    EXPECT_TRUE(fs::is_regular_file(path));
}

TEST_F(SqliteStoreTest, RefusesASecondOwner) {
    open();

    try {
        const SqliteStore second(path, at(0));
        FAIL() << "two owners of one file";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos);
    }
    put(spec(1));
    EXPECT_TRUE(find(1));
}

TEST_F(SqliteStoreTest, AcceptsTheNextOwnerOnceTheFirstIsGone) {
    open();
    put(spec(1));

    open();

    EXPECT_TRUE(find(1));
}

TEST_F(SqliteStoreTest, FindsEverythingAfterACrash) {
    open();
    JobSpec keyed = spec(1);
    keyed.exclusive_keys = {"k"};
    put(keyed);
    const Job leased = claim(1001);
    put(spec(2));
    Job retried = requeued(claim(1002), at(50));
    commit([&](Session& session) { session.jobs().requeue({&retried, 1}); });
    put(spec(3));
    const Job done = ended(claim(1003), JobState::succeeded, at(2));
    finish(done);
    const Job waiting = put(spec(4));
    JobSpec after_leased = spec(5);
    after_leased.depends_on = {JobId{1}};
    const Job blocked = put(after_leased);
    keyed.id = JobId{6};
    const Job parked = put(keyed);
    JobSpec after_done = spec(7);
    after_done.depends_on = {JobId{3}};
    const Arrival free{queued(after_done), false};
    commit([&](Session& session) { session.jobs().put({&free, 1}); });

    crash_and_open();

    EXPECT_EQ(find(1), leased);
    EXPECT_EQ(find(2), retried);
    EXPECT_EQ(find(3), done);
    EXPECT_EQ(find(4), waiting);
    EXPECT_EQ(find(5), blocked);
    EXPECT_EQ(find(6), parked);
    EXPECT_EQ(claimable(at(49)), (std::vector<JobId>{{4}, {7}}));
    EXPECT_EQ(claimable(at(50)), (std::vector<JobId>{{2}, {4}, {7}}));
    const auto session = store->begin();
    EXPECT_EQ(session->jobs().dependents(std::vector{JobId{1}}), std::vector{JobId{5}});
    EXPECT_EQ(session->leases().next_due(), leased.lease->until);
}

TEST_F(SqliteStoreTest, GivesEveryLeaseAFreshTermAtTheStart) {
    open();
    put(spec(1));
    const Job early = claim(1001, at(0));
    put(spec(2));
    const Job late = claim(1002, at(1000));

    open(at(900));

    EXPECT_EQ(find(1)->lease->until, at(900) + early.lease->term);
    EXPECT_EQ(find(2)->lease->until, at(900) + late.lease->term);
    const auto session = store->begin();
    EXPECT_TRUE(session->leases().expired(at(929), 10).empty());
    EXPECT_EQ(session->leases().expired(at(930), 10).size(), 2u);
}

// After a start no job is at hand; claims of one session read theirs in one walk over the file.
TEST_F(SqliteStoreTest, ReadsWhatSeveralClaimsTakeOutOfABacklog) {
    open();
    for (std::int64_t id = 1; id <= 60; ++id) {
        JobSpec job = spec(id);
        job.queue = id % 3 == 0 && id < 40 ? "rare" : "often";
        job.priority = id == 60 ? 1 : 0;
        put(job);
    }
    open();
    ClaimFilter rare;
    rare.queues = {"rare"};
    ClaimFilter any;
    const std::vector<LeaseStore::Wanted> wanted{{&rare, 4}, {&any, 3}, {&rare, 100}};

    const auto session = store->begin();
    const auto taken = session->leases().take(wanted, at(0));

    std::vector<std::int64_t> ids;
    for (const auto& jobs : taken) {
        for (const Job& job : jobs) ids.push_back(job.spec->id.value);
    }
    EXPECT_EQ(ids, (std::vector<std::int64_t>{3, 6, 9, 12, 60, 1, 2, 15, 18, 21, 24, 27, 30, 33, 36,
                                              39}));
}

TEST_F(SqliteStoreTest, GoesOnAfterARollback) {
    open();
    put(spec(1));
    put(spec(2));
    const Job first = claim(1001);
    {
        const auto session = store->begin();
        const Job lost = running(take(*session, 1).at(0), {.token = 1002});
        session->leases().open({&lost, 1});
        const Job ended_in_vain = ended(first, JobState::succeeded, at(1));
        session->jobs().finish({&ended_in_vain, 1});
    }

    EXPECT_EQ(claimable(), std::vector{JobId{2}});
    EXPECT_EQ(find(1), first);
    finish(ended(first, JobState::failed, at(1)));
    EXPECT_EQ(find(1)->now.state, JobState::failed);
    EXPECT_EQ(claim(1003).spec->id, JobId{2});
}

// The session keeps live jobs at hand; they must equal the stored ones.
TEST_F(SqliteStoreTest, TheSessionSeesWhatReadersSee) {
    open();
    const auto expect_same = [&] {
        const std::vector<JobId> id{JobId{1}};
        EXPECT_EQ(store->begin()->jobs().find(id).at(0), find(1));  // after a rollback, too
        const auto session = store->begin();
        EXPECT_EQ(session->jobs().find(id).at(0), find(1));
        session->commit();
    };
    put(spec(1));
    expect_same();
    Job job = claim(1001);
    expect_same();
    job.now.progress = 50;
    job.now.log_seq = 3;
    commit([&](Session& session) { session.leases().save({&job, 1}); });
    expect_same();
    Job dying = ended_under_worker(job, JobState::canceled, at(1));
    finish(dying);
    expect_same();
    dying.lease->until = at(100);
    dying.now.message = "stopping";
    commit([&](Session& session) { session.leases().save({&dying, 1}); });
    expect_same();
    dying.lease.reset();
    commit([&](Session& session) { session.leases().close({&dying, 1}); });
    expect_same();
    EXPECT_EQ(find(1)->now.message, "stopping");
}

TEST_F(SqliteStoreTest, IsUnavailableWhileThereIsNoRoomAndGoesOnAfterwards) {
    open(at(0), 100);
    const Job before = put(spec(1));
    JobSpec large = spec(2);
    large.payload = '"' + std::string(1'000'000, 'x') + '"';
    const std::vector<Arrival> arrivals{{queued(spec(3)), false}, {queued(large), false}};

    {
        const auto session = store->begin();
        EXPECT_THROW(session->jobs().put(arrivals), StoreUnavailable);
    }

    EXPECT_EQ(claimable(), std::vector{JobId{1}});
    EXPECT_FALSE(find(3));
    EXPECT_EQ(find(1), before);
    put(spec(4));
    EXPECT_EQ(claimable(), (std::vector<JobId>{{1}, {4}}));
    open();
    put(large);
    EXPECT_EQ(claimable(), (std::vector<JobId>{{1}, {2}, {4}}));
}

TEST_F(SqliteStoreTest, NeverGivesANumberTwiceAfterACrash) {
    open();
    EXPECT_EQ(store->last_id(), 0);
    put(spec(1));
    const Job job = claim(1001);
    finish(ended(job, JobState::succeeded, at(1)));
    EXPECT_EQ(store->last_id(), 1001);

    crash_and_open();

    EXPECT_GE(store->last_id(), 1001);
}

TEST_F(SqliteStoreTest, KnowsItsLastNumberExactlyAfterACleanClose) {
    open();
    put(spec(1));
    finish(ended(claim(1001), JobState::succeeded, at(1)));

    open();
    EXPECT_EQ(store->last_id(), 1001);
    open();
    EXPECT_EQ(store->last_id(), 1001);
}

// Enough jobs for the low-water mark to move, and for the log to be checkpointed meanwhile.
TEST_F(SqliteStoreTest, FindsEveryWaitingJobHoweverManyHaveEnded) {
    open();
    constexpr int count = 10'000;
    const auto put_many = [&](std::int64_t first) {
        std::vector<Arrival> arrivals;
        for (int i = 0; i < count; ++i) arrivals.push_back({queued(spec(first + i)), false});
        commit([&](Session& session) { session.jobs().put(arrivals); });
    };
    put_many(1'000'000);
    for (int done = 0; done + 2000 < count; done += 1000) {
        std::vector<Job> jobs;
        commit([&](Session& session) { jobs = take(session, 1000); });
        for (Job& job : jobs) job = running(job, {.token = 1});
        commit([&](Session& session) { session.leases().open(jobs); });
        for (Job& job : jobs) job = ended(job, JobState::succeeded, at(1));
        commit([&](Session& session) { session.jobs().finish(jobs); });
    }
    put(spec(7));  // older than all ended ones

    crash_and_open();

    const std::vector<JobId> waiting = claimable();
    ASSERT_EQ(waiting.size(), 2001u);
    EXPECT_EQ(waiting.front(), JobId{7});
    EXPECT_EQ(waiting.back(), JobId{1'000'000 + count - 1});
    const JobFilter queued_only{.states = {JobState::queued}};
    EXPECT_EQ(store->reader()->list(queued_only, newest, 5000).size(), 2001u);
}

TEST_F(SqliteStoreTest, KeepsItsLogShort) {
    open();
    JobSpec large = spec(1);
    large.payload = '"' + std::string(1'000'000, 'x') + '"';

    for (int i = 1; i <= 60; ++i) {
        large.id = JobId{i};
        put(large);
    }

    EXPECT_LT(fs::file_size(path.string() + "-wal"), 40u << 20);
}

TEST_F(SqliteStoreTest, ReadersSeeWholeJobsWhileTheWriterWorks) {
    open();
    put(spec(1));
    std::atomic<bool> stop = false;
    int reads = 0;
    std::thread reading([&] {
        const auto reader = store->reader();
        while (!stop || reads == 0) {
            const Job job = *reader->find_one(JobId{1});
            EXPECT_EQ(job.now.state == JobState::running, job.lease.has_value());
            EXPECT_EQ(job.now.head.seq, job.now.state == JobState::running
                                            ? 2 * job.now.attempt
                                            : 2 * job.now.attempt + 1);
            EXPECT_EQ(reader->list({}, newest, 10).size(), 1u);
            ++reads;
        }
    });

    for (int i = 1; i <= 200; ++i) {
        const Job back = requeued(claim(i), at(0));
        commit([&](Session& session) { session.jobs().requeue({&back, 1}); });
    }
    stop = true;
    reading.join();

    EXPECT_EQ(find(1)->now.attempt, 200);
}

using SqliteStoreDeathTest = SqliteStoreTest;

TEST_F(SqliteStoreTest, RefusesAFileThatIsNoDatabase) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << std::string(8192, '?');

    EXPECT_THROW(open(), std::runtime_error);
}

TEST_F(SqliteStoreDeathTest, StopsTheProcessOnAFileThatIsCorrupt) {
    open();
    for (int i = 1; i <= 1000; ++i) put(spec(i));
    store.reset();
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    for (std::uintmax_t i = 4096; i < fs::file_size(path); ++i) file.put('?');
    file.close();

    EXPECT_EXIT(open(), testing::ExitedWithCode(70), "can no longer be trusted");
}

TEST_F(SqliteStoreDeathTest, AbortsWhenAWriteDoesNotHitWhatItMust) {
    open();
    put(spec(1));
    Job job = claim(1001);
    job.lease->token = LeaseToken{1002};

    EXPECT_DEATH(commit([&](Session& session) {
                     session.leases().save({&job, 1});
                 }),
                 "invariant broken: .*UPDATE lease");
}

}  // namespace sqlite_store_test
}  // namespace sluice
