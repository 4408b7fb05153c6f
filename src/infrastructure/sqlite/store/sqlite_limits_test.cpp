// What is left of rules, buckets and sources after a crash, a restart, and in files of older
// versions, beyond the contract of every store (tests/contract).
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "infrastructure/sqlite/database/migrations.hpp"
#include "infrastructure/sqlite/database/statement.hpp"
#include "infrastructure/sqlite/store/sqlite_store.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/crashed_files.hpp"
#include "tests/support/written_rules.hpp"

namespace sluice {
namespace sqlite_limits_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace sqlite;

class SqliteLimitsTest : public testing::Test {
  protected:
    SqliteLimitsTest() { fs::remove_all(folder); }
    ~SqliteLimitsTest() override {
        store.reset();
        fs::remove_all(folder);
    }

    void open(Timestamp now = at(0)) {
        store.reset();
        store = std::make_unique<SqliteStore>(path, now);
    }
    // The files that a power cut would leave behind now.
    fs::path files_after_a_crash() {
        return copy_as_after_a_crash(path, folder / std::to_string(++crashes_));
    }
    void open_copy(const fs::path& copy, Timestamp now = at(0)) {
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
    void put(const JobSpec& spec) {
        const Arrival arrival{queued(spec), false};
        commit([&](Session& session) { session.jobs().put({&arrival, 1}); });
    }
    std::vector<JobId> start(Session& session, Timestamp now = at(0)) {
        const ClaimFilter filter{.tenant = "", .any_tenant = true};
        const LeaseStore::Wanted wanted{&filter, 100};
        std::vector<Job> jobs = session.leases().take({&wanted, 1}, now).front();
        std::vector<JobId> ids;
        for (Job& job : jobs) {
            job = running(job, {.token = ++token_, .now = now});
            ids.push_back(job.spec->id);
        }
        session.leases().open(jobs);
        return ids;
    }
    std::vector<JobId> start(Timestamp now = at(0)) {
        std::vector<JobId> ids;
        commit([&](Session& session) { ids = start(session, now); });
        return ids;
    }
    MeterState meter(const LimitRule& rule) {
        const MeterId id = permit_of(rule, lane_of(spec(1))).meter;
        return store->reader()->limits().meters({&id, 1}).front();
    }
    std::int64_t stored_meters() {
        Connection connection = open_reader(path);
        Statement count(connection.get(), "SELECT count(*) FROM meter");
        return count.next_row() ? count.integer(0) : -1;
    }

    const fs::path folder =
        fs::temp_directory_path() / ("sqlite limits " + std::to_string(getpid()));
    fs::path path = folder / "jobs.db";
    std::unique_ptr<SqliteStore> store;

  private:
    int crashes_ = 0;
    std::int64_t token_ = 90'000;
};

LimitRule slow() {
    LimitRule rule = limit_rule("aa");
    rule.rate = LimitRate{.count = 2, .period = 1h, .burst = 2, .whole_hour = true};
    rule.max_active = 5;
    return rule;
}

TEST_F(SqliteLimitsTest, ATokenIsSpentWithTheLeaseOrNotAtAll) {
    open();
    commit([](Session& session) { write_rule(session, slow(), at(0)); });
    put(spec(1));
    fs::path in_between;
    {
        const auto session = store->begin();
        EXPECT_EQ(start(*session), (std::vector<JobId>{{1}}));
        in_between = files_after_a_crash();
        session->commit();
    }
    const MeterState spent = meter(slow());
    const fs::path afterwards = files_after_a_crash();
    EXPECT_EQ(spent.active, 1);
    EXPECT_EQ(spent.starts.sum(at(0)), 1);

    open_copy(in_between);
    EXPECT_EQ(meter(slow()), MeterState{});
    EXPECT_EQ(start(), (std::vector<JobId>{{1}}));

    open_copy(afterwards);
    EXPECT_EQ(meter(slow()), spent);
    EXPECT_EQ(start(), std::vector<JobId>{});
    commit([](Session& session) { EXPECT_TRUE(session.limits().check_meters(false).empty()); });
}

TEST_F(SqliteLimitsTest, AFailedSessionSpendsNothingAndCountsNothing) {
    open();
    commit([](Session& session) { write_rule(session, slow(), at(0)); });
    for (const std::int64_t id : {1, 2, 3}) put(spec(id));
    {
        const auto session = store->begin();
        EXPECT_EQ(start(*session).size(), 2u);
    }

    EXPECT_EQ(meter(slow()), MeterState{});
    EXPECT_EQ(start().size(), 2u);
    EXPECT_EQ(meter(slow()).active, 2);
}

TEST_F(SqliteLimitsTest, AStartForgetsOnlyMetersThatAreAtRest) {
    LimitRule quick = limit_rule("bb");
    quick.rate = LimitRate{.count = 1, .period = 10s, .burst = 1};
    quick.per = {Dimension::source};
    open();
    commit([&](Session& session) {
        write_rule(session, slow(), at(0));
        write_rule(session, quick, at(0));
    });
    JobSpec job = spec(1);
    job.source = "nightly";
    put(job);
    ASSERT_EQ(start().size(), 1u);
    EXPECT_EQ(stored_meters(), 2);
    const MeterState before = meter(slow());

    open(at(9));
    EXPECT_EQ(stored_meters(), 2);
    open(at(10));
    EXPECT_EQ(stored_meters(), 1) << "the bucket of 10 s is full again";
    EXPECT_EQ(meter(slow()), before);
    open(at(2 * 3600 + 120));
    EXPECT_EQ(stored_meters(), 0);
}

// Clients choose the values by which rules count apart.
TEST_F(SqliteLimitsTest, MetersAtRestThatNoJobNeedsDoNotStayWhileTheStoreIsOpen) {
    LimitRule quick = limit_rule("bb");
    quick.rate = LimitRate{.count = 1, .period = 1s, .burst = 1};
    quick.per = {Dimension::source};
    open();
    commit([&](Session& session) { write_rule(session, quick, at(0)); });

    for (int i = 1; i <= 60; ++i) {
        std::vector<Arrival> arrivals;
        for (int j = 0; j < 100; ++j) {
            JobSpec job = spec(100 * i + j);
            job.source = "source " + std::to_string(100 * i + j);
            arrivals.push_back({queued(job), false});
        }
        commit([&](Session& session) { session.jobs().put(arrivals); });
        commit([&](Session& session) {
            std::vector<Job> jobs;
            for (const JobId id : start(session, at(10 * i))) {
                jobs.push_back(
                    ended(*session.reader().find_one(id), JobState::succeeded, at(10 * i)));
            }
            ASSERT_EQ(jobs.size(), 100u);
            session.jobs().finish(jobs);
        });
    }

    EXPECT_LT(stored_meters(), 3000) << "of 6000";
}

TEST_F(SqliteLimitsTest, AnOlderFileShowsAndPausesTheSourcesOfItsWaitingJobs) {
    fs::create_directories(folder);
    {
        Connection older = open_writer(path, 0);
        migrate(older.get(), embedded_migrations().first(9), at(0));
        execute(older.get(), R"sql(
INSERT INTO job (id, tenant, queue, type, priority, created_at, dependencies, max_attempts, timeout,
    retry_on_timeout, run_despite_failure, source, payload_digest, head_hash, payload)
VALUES (11, 'acme', 'q', 't', 0, 5, 0, 1, 0, 0, 0, 'nightly', '', '', '{}'),
       (12, 'acme', 'q', 't', 0, 6, 0, 1, 0, 0, 0, 'nightly', '', '', '{}'),
       (13, 'acme', 'q', 't', 0, 7, 0, 1, 0, 0, 0, NULL, '', '', '{}'),
       (14, 'acme', 'q', 't', 0, 8, 0, 1, 0, 0, 0, 'ended', '', '', '{}'))sql");
        execute(older.get(), R"sql(
INSERT INTO done (id, state, completed_at, attempt, log_seq, event_seq, head_hash)
VALUES (14, 3, 9, 1, 0, 2, ''))sql");
    }
    open();

    commit([](Session& session) {
        const SourceCount nightly{
            .tenant = "acme", .source = "nightly", .last_job_at = from_micros(6)};
        EXPECT_EQ(session.limits().sources("", at(0)), std::vector{nightly});
        LimitRule pause = limit_rule("cc");
        pause.scope.source = "nightly";
        pause.paused = true;
        write_rule(session, pause, at(0));
    });

    EXPECT_EQ(start(), (std::vector<JobId>{{13}}));
}

}  // namespace sqlite_limits_test
}  // namespace sluice
