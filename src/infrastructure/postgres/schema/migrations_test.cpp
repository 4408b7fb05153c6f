#include "infrastructure/postgres/schema/migrations.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

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
