#include "infrastructure/postgres/schema/migrations.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "infrastructure/postgres/schema/lanes.hpp"
#include "infrastructure/sql/job_rows.hpp"
#include "tests/support/postgres.hpp"

namespace sluice::postgres {
namespace migrations_test {

constexpr Migration first{1, "0001_first", "CREATE TABLE a (x int); CREATE TABLE b ()"};
constexpr Migration second{2, "0002_second", "CREATE TABLE c (x int)"};
constexpr Migration broken{2, "0002_broken", "CREATE TABLE c (); CREATE TABLE a ()"};
constexpr Migration slow{2, "0002_slow", "CREATE TABLE c (x int); SELECT pg_sleep(60)"};

class PostgresMigrations : public testing::Test {
  protected:
    bool holds(const std::string& condition) {
        const std::string text = "SELECT " + condition;
        const Result result = connection.ask({"", text});
        connection.sync();
        return Row(result, 0).flag();
    }

    bool has_table(const std::string& name) {
        return holds("to_regclass('" + name + "') IS NOT NULL");
    }

    void wait_until(const std::string& condition) {
        while (!holds(condition)) std::this_thread::yield();
    }

    std::string refusal_of(const std::vector<Migration>& known) {
        try {
            migrate(connection, known);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    }

    const ConnectOptions options{.url = fresh_database()};
    Connection connection{options};
};

TEST_F(PostgresMigrations, AppliesEachStepOnce) {
    const std::vector<Migration> both{first, second};

    migrate(connection, {both.data(), 1});
    migrate(connection, both);
    migrate(connection, both);

    const std::vector<MigrationStatus> statuses = migration_status(connection, both);
    ASSERT_EQ(statuses.size(), 2u);
    EXPECT_TRUE(statuses[0].matches && statuses[1].matches);
    EXPECT_LT(statuses[0].applied_at, statuses[1].applied_at);
    EXPECT_TRUE(has_table("b") && has_table("c"));
}

TEST_F(PostgresMigrations, ShowsWhatIsNotYetAppliedAndChangesNothing) {
    const std::vector<MigrationStatus> statuses = migration_status(connection);

    ASSERT_EQ(statuses.size(), embedded_migrations().size());
    EXPECT_EQ(statuses[0].name, "0001_jobs");
    EXPECT_FALSE(statuses[0].applied_at);
    EXPECT_TRUE(holds("to_regnamespace('orchestrator') IS NULL"));
}

TEST_F(PostgresMigrations, ADatabaseOfTheFirstVersionGetsEntitiesAndKeepsItsJobs) {
    migrate(connection, embedded_migrations().first(1));
    connection.execute(
        "INSERT INTO lane (id, tenant, queue, type) VALUES (1, 'default', 'q', 't')");
    EXPECT_FALSE(has_table("entity"));

    migrate(connection);

    EXPECT_TRUE(has_table("entity") && has_table("entity_event"));
    EXPECT_TRUE(holds("count(*) = 1 FROM lane"));
    // The windows that are there and those to come have the new index.
    connection.execute("SELECT add_window(3000)");
    EXPECT_TRUE(
        holds("count(*) = (SELECT count(*) FROM pg_inherits "
              "WHERE inhparent = 'job'::regclass) "
              "FROM pg_inherits WHERE inhparent = 'job_by_project'::regclass"));
    EXPECT_TRUE(
        holds("count(*) = (SELECT count(*) FROM pg_inherits "
              "WHERE inhparent = 'done'::regclass) "
              "FROM pg_inherits WHERE inhparent = 'done_by_type'::regclass"));
}

// Claims and cancels look for a job by the lane that its fields name.
TEST_F(PostgresMigrations, WaitingJobsWithASourceMoveToLanesOfTheirOwn) {
    migrate(connection, embedded_migrations().first(11));
    Lane lane{.tenant = "acme", .queue = "q", .type = "t", .labels = {"\xc3\xa9", "b"}};
    const std::string odd = std::string("a\0\1z\1a", 6);
    const LaneId shared = lane_id(lane);
    connection.send({"",
                     "INSERT INTO lane (id, tenant, queue, type, labels) "
                     "VALUES ($1::int8, 'acme', 'q', 't', $2::text)"},
                    Params(shared, join_texts(lane.labels)));
    const auto add = [&](std::int64_t id, const std::string& source, const std::string& queue) {
        connection.send({"", R"sql(
INSERT INTO job (id, tenant, queue, type, priority, created_at, max_attempts, timeout,
    retry_on_timeout, run_despite_failure, source, payload_digest, head_hash, payload)
VALUES ($1::int8, 'acme', 'q', 't', 0, 0, 1, 0, false, false, nullif($2::text, ''), sha256(''),
    sha256(''), '1'))sql"},
                        Params(id, source));
        const std::string text = "INSERT INTO " + queue;
        connection.send({"", text}, Params(id, shared));
    };
    const std::string ready = "ready (id, lane, priority) VALUES ($1::int8, $2::int8, 0)";
    add(1, "nightly", ready);
    add(2, "", ready);
    add(3, odd, "timed (id, lane, priority, run_after) VALUES ($1::int8, $2::int8, 0, 9)");
    add(4, "nightly", "parked VALUES ('acme', 'k', $2::int8, 0, $1::int8, '1:k')");
    add(5, "nightly", "blocker VALUES (1, $1::int8, $2::int8, 0)");
    const std::string lease =
        "lease (id, token, worker_id, since, until, term, stop_requested, client_seq, batch_mark, "
        "attempt, log_seq, event_seq, head_hash, has_ended) SELECT $1::int8, 1, 'w', 0, 0, 0, "
        "false, 0, 0, 1, 0, 1, sha256(''), false WHERE $2::int8 IS NOT NULL";
    add(6, "", lease);
    add(7, "nightly", lease);
    add(8, "hourly", lease);
    connection.sync();
    connection.execute("UPDATE job SET labels = (SELECT labels FROM lane) WHERE id >= 6");

    migrate(connection);

    const auto lanes_of = [&](const std::string& condition) {
        const std::string text = "SELECT lane FROM " + condition;
        const Result result = connection.ask({"", text});
        connection.sync();
        return Row(result, 0).integer();
    };
    EXPECT_EQ(lanes_of("ready WHERE id = 2"), shared);
    lane.source = "nightly";
    EXPECT_EQ(lanes_of("ready WHERE id = 1"), lane_id(lane));
    EXPECT_EQ(lanes_of("parked WHERE id = 4"), lane_id(lane));
    EXPECT_EQ(lanes_of("blocker WHERE job_id = 5"), lane_id(lane));
    Lanes known;
    known.load(connection);
    connection.sync();
    EXPECT_EQ(known.find(lane_id(lane)), lane);
    EXPECT_EQ(lanes_of("lease WHERE id = 6"), shared);
    EXPECT_EQ(lanes_of("lease WHERE id = 7"), lane_id(lane));
    EXPECT_TRUE(holds("lane IS NULL FROM lease WHERE id = 8")) << "no job waits in its lane";
    lane.source = odd;
    EXPECT_EQ(lanes_of("timed WHERE id = 3"), lane_id(lane));
    EXPECT_EQ(known.find(lane_id(lane)), lane);
    EXPECT_EQ(known.size(), 3u);
    EXPECT_FALSE(has_table("moved"));
}

// They would serve a paused source.
TEST_F(PostgresMigrations, RulesAboutWhatMayRunAreNotAddedBesideOlderNodes) {
    migrate(connection, embedded_migrations().first(11));
    connection.execute(
        "INSERT INTO seat VALUES (7, 7, 'old@host:7', now() + interval '2 minutes', 0, 0)");

    const std::string refusal =
        refusal_of({embedded_migrations().begin(), embedded_migrations().end()});

    EXPECT_NE(refusal.find("old@host:7"), std::string::npos) << refusal;
    EXPECT_FALSE(has_table("meter"));
}

// The statements of a version before the rules, as a node sends them that stood still while the
// migration ran.
constexpr Query former_sign{"sign", R"sql(
WITH signed AS (UPDATE seat SET commits = $3::int8, last_id = greatest(last_id, $4::int8),
        until = greatest(until, 'epoch'::timestamptz + $5::int8 * interval '1 microsecond'
            + interval '2 minutes')
    WHERE number = $1::int4 AND owner = $2::int8 AND commits = $3::int8 - 1 RETURNING 1)
SELECT 1 / count(*) FROM signed)sql"};
constexpr Query former_settle{"settle", R"sql(
UPDATE seat SET commits = CASE commits WHEN $3::int8 THEN $3::int8 + 2 ELSE commits END
WHERE number = $1::int4 AND owner = $2::int8 RETURNING commits)sql"};
constexpr Query former_take_new{"take_new_seat", R"sql(
INSERT INTO seat (number, owner, name, until, commits, last_id)
SELECT n, $1::int8, $2::text,
    'epoch'::timestamptz + $3::int8 * interval '1 microsecond' + interval '2 minutes', 0, 0
FROM generate_series(0, 1023) n
WHERE NOT EXISTS (SELECT FROM seat s WHERE s.number = n) ORDER BY n LIMIT 1
RETURNING number, last_id)sql"};
constexpr Query former_take_left{"take_left_seat", R"sql(
UPDATE seat SET owner = $1::int8, name = $2::text,
    until = 'epoch'::timestamptz + $3::int8 * interval '1 microsecond' + interval '2 minutes',
    commits = 0
WHERE number = (
    SELECT number FROM seat
    WHERE until < 'epoch'::timestamptz + $3::int8 * interval '1 microsecond'
    ORDER BY until LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING number, last_id)sql"};

TEST_F(PostgresMigrations, AnOlderNodeThatStoodStillCommitsNothingOnceThereAreRules) {
    migrate(connection, embedded_migrations().first(11));
    connection.execute(
        "INSERT INTO seat VALUES (3, 7, 'old@host:7', now() + interval '100 seconds', 0, 500)");
    Connection old(options);
    const auto sign = [&](std::int64_t count) {
        const std::int64_t now = 1'000'000;
        old.begin();
        old.execute("INSERT INTO lane (id, tenant, queue, type) VALUES (1, 'a', 'q', 't')");
        old.ask(former_sign, Params(3, std::int64_t{7}, count, std::int64_t{9}, now));
    };
    sign(1);
    old.commit();
    old.execute("DELETE FROM lane");

    migrate(connection);

    try {
        sign(2);
        ADD_FAILURE() << "the older node has committed";
    } catch (const Refused& refused) {
        EXPECT_EQ(refused.sqlstate(), "22012") << "by which it stops: " << refused.what();
    }
    old.roll_back();
    const Params lost(3, std::int64_t{7}, std::int64_t{1});
    EXPECT_EQ(old.ask(former_settle, lost).rows(), 0) << "it stops as well";
    old.sync();
    const std::int64_t later = 4'000'000'000'000'000;
    for (const Query& take : {former_take_new, former_take_left}) {
        EXPECT_THROW(old.ask(take, Params(std::int64_t{7}, std::string("old"), later)), Refused);
        old.roll_back();
    }
    EXPECT_TRUE(holds("count(*) = 0 FROM lane"));
    EXPECT_TRUE(holds("last_id = 500 FROM seat")) << "no number may be given twice";
}

TEST_F(PostgresMigrations, FiveNodesMayStartAtOnce) {
    std::vector<std::thread> nodes;
    std::atomic<int> failures = 0;
    for (int node = 0; node < 5; ++node) {
        nodes.emplace_back([&] {
            try {
                migrate(options);
            } catch (const std::exception& error) {
                ADD_FAILURE() << error.what();
                ++failures;
            }
        });
    }
    for (std::thread& node : nodes) node.join();

    EXPECT_EQ(failures, 0);
    for (const MigrationStatus& status : migration_status(connection)) {
        EXPECT_TRUE(status.applied_at && status.matches) << status.name;
    }
}

TEST_F(PostgresMigrations, WaitsForAnotherNodeAsLongAsThatTakes) {
    Connection other(options);
    other.begin();
    other.ask({"", "SELECT pg_advisory_xact_lock(7310003, hashtext('orchestrator'))"});

    std::thread node([&] { migrate(options, std::vector{first}); });
    // Longer than one of the turns in which it waits.
    other.ask({"", "SELECT pg_sleep(2.5)"});
    EXPECT_FALSE(has_table("a"));
    other.commit();
    node.join();

    EXPECT_TRUE(has_table("a"));
}

TEST_F(PostgresMigrations, LeavesNothingOfAStepThatWasKilledInTheMiddle) {
    migrate(connection, std::vector{first});
    std::thread node([&] {
        EXPECT_THROW(migrate(options, std::vector{first, slow}), ConnectionLost);
    });
    const std::string sleeping =
        "FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
    wait_until("EXISTS (SELECT " + sleeping + ")");
    EXPECT_TRUE(holds("pg_terminate_backend(pid) " + sleeping));
    node.join();

    wait_until("NOT EXISTS (SELECT " + sleeping + ")");
    EXPECT_FALSE(has_table("c"));
    migrate(connection, std::vector{first, second});
    EXPECT_TRUE(has_table("c"));
}

TEST_F(PostgresMigrations, LeavesNothingOfAStepThatFails) {
    migrate(connection, std::vector{first});

    EXPECT_THROW(migrate(connection, std::vector{first, broken}), Refused);

    EXPECT_FALSE(has_table("c"));
    EXPECT_FALSE(migration_status(connection, std::vector{first, broken})[1].applied_at);
}

TEST_F(PostgresMigrations, RefusesAStepWhoseTextHasChanged) {
    Migration changed = first;
    changed.text = "CREATE TABLE a (x int, y int)";
    migrate(connection, std::vector{first});

    const std::string refusal = refusal_of({changed, second});

    EXPECT_NE(refusal.find("0001_first"), std::string::npos) << refusal;
    EXPECT_FALSE(has_table("c"));
}

TEST_F(PostgresMigrations, RefusesADatabaseOfANewerVersion) {
    migrate(connection, std::vector{first, second});

    const std::string refusal = refusal_of({first});

    EXPECT_NE(refusal.find("newer"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("0002_second"), std::string::npos) << refusal;
}

TEST_F(PostgresMigrations, OnlyReadsWhereNothingIsMissing) {
    migrate(connection, std::vector{first});
    connection.execute("SET default_transaction_read_only = on");

    EXPECT_NO_THROW(migrate(connection, std::vector{first}));
    EXPECT_THROW(migrate(connection, std::vector{first, second}), StoreUnavailable);
}

}  // namespace migrations_test
}  // namespace sluice::postgres
