#include "infrastructure/postgres/cluster/clock_row.hpp"

#include <gtest/gtest.h>

#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/postgres/watch/tick.hpp"
#include "infrastructure/system/system_clock.hpp"
#include "tests/support/postgres.hpp"

namespace sluice::postgres {
namespace clock_row_test {

using namespace std::chrono_literals;

// Other tests use the server's clock, too: so the tests move the row against it.
class PostgresClock : public testing::Test {
  protected:
    std::int64_t ask(const std::string& text) {
        const Result result = connection.ask({"", text});
        connection.sync();
        return Row(result, 0).integer();
    }

    // Adds the seat of another node, taken for two minutes from this time on.
    void add_seat(Timestamp now) {
        connection.execute(
            "INSERT INTO seat (number, owner, node, until, commits, last_id) "
            "VALUES (0, 7, 'other', 'epoch'::timestamptz + interval '2 minutes' + " +
            std::to_string(to_micros(now)) + " * interval '1 microsecond', 0, 0)");
    }

    static Duration apart(Timestamp a, Timestamp b) { return std::chrono::abs(a - b); }

    // Tests tell an hour apart; a busy machine is late by less than this.
    static constexpr Duration close = 5s;
    const std::string url = migrated_database();
    Connection connection{{.url = url}};
    ClusterTime time;
};

// Server and test run on one machine.
TEST_F(PostgresClock, IsThatOfTheServerAtFirst) {
    know_time(connection, time);

    EXPECT_LT(apart(time.now(), SystemClock().now()), close);
    EXPECT_LT(apart(time.now(), server_now(connection)), close);
}

TEST_F(PostgresClock, IsAheadByWhatNodesHaveAgreedOn) {
    connection.execute("UPDATE clock SET ahead = -3600000000");

    know_time(connection, time);

    EXPECT_LT(apart(time.now(), server_now(connection) - 1h), close);
    EXPECT_EQ(read_ahead(connection), -1h);
}

TEST_F(PostgresClock, IsCorrectedOnceByTheNodesThatLookAtIt) {
    ClusterTime other;
    know_time(connection, time);
    know_time(connection, other);
    const Timestamp start = time.now();
    const Duration began = since_boot();
    connection.execute("UPDATE clock SET ahead = 3600000000");  // as if it was set

    EXPECT_FALSE(keep_time(connection, time));
    EXPECT_FALSE(keep_time(connection, other));
    std::this_thread::sleep_for(look_period);
    const std::optional<Duration> jump = keep_time(connection, time);
    EXPECT_FALSE(keep_time(connection, other));

    ASSERT_TRUE(jump);
    EXPECT_LT(std::chrono::abs(*jump - 1h), close);
    EXPECT_LT(std::chrono::abs(read_ahead(connection)), close);
    EXPECT_EQ(ask("SELECT corrections FROM clock"), 1);
    EXPECT_LT(apart(time.now(), start + (since_boot() - began)), close);
    EXPECT_LT(apart(other.now(), time.now()), close);
}

TEST_F(PostgresClock, ComesCloserToTheServersWithEveryTick) {
    connection.execute("UPDATE clock SET ahead = 3600000000, latest = 1800000000000000");
    const Timestamp latest = from_micros(1'800'000'000'000'000);

    tick(connection, {.owner = 7, .now = latest + 2s});

    EXPECT_EQ(read_ahead(connection), 1h - 10ms);
    EXPECT_EQ(ask("SELECT latest FROM clock"), to_micros(latest + 2s));
    connection.execute("UPDATE clock SET ahead = -5");
    tick(connection, {.owner = 7, .now = latest + 4s});
    EXPECT_EQ(read_ahead(connection), 0s);
}

TEST_F(PostgresClock, GetsNoWordOnItselfFromANodeThatHasJustStarted) {
    connection.execute("UPDATE clock SET ahead = 3600000000, latest = 5");
    const Timestamp now = server_now(connection) + 1h;
    const Ticking started{.owner = 7, .now = now, .is_settled = false, .agrees = false};

    EXPECT_FALSE(tick(connection, started).has_duty);

    EXPECT_EQ(ask("SELECT agreements FROM clock"), 0);
    EXPECT_EQ(ask("SELECT latest FROM clock"), 5);
    EXPECT_EQ(ask("SELECT owner FROM duty"), 0);
    EXPECT_EQ(read_ahead(connection), 1h);
}

TEST_F(PostgresClock, HearsTheTimeOfANodeInDoubtAndNothingElse) {
    connection.execute("UPDATE clock SET ahead = 3600000000");
    const Timestamp now = server_now(connection) + 1h;

    EXPECT_TRUE(tick(connection, {.owner = 7, .now = now, .agrees = false}).has_duty);

    EXPECT_EQ(ask("SELECT agreements FROM clock"), 0);
    EXPECT_EQ(ask("SELECT latest FROM clock"), to_micros(now));
    EXPECT_EQ(read_ahead(connection), 1h);
}

TEST_F(PostgresClock, IsWaitedForWhileAnotherNodeHasASeatAndASession) {
    const Timestamp right = server_now(connection) - 1h;
    add_seat(right);
    tick(connection, {.owner = 7, .now = right});
    Connection its({.url = url, .node_mark = 7});
    std::thread other([&] {
        std::this_thread::sleep_for(1s);
        its.execute("UPDATE clock SET ahead = -3600000000, corrections = corrections + 1");
        tick(its, {.owner = 7, .now = right + 1s});
    });

    know_time(connection, time);
    other.join();

    EXPECT_LT(apart(time.now(), server_now(connection) - 1h), close);
    EXPECT_FALSE(time.is_settled());
}

// The database was started before the other nodes last wrote their time, so that their sessions
// would show.
TEST_F(PostgresClock, IsNotWaitedForWhenTheOthersWereKilled) {
    while (ask("SELECT (now() < pg_postmaster_start_time() + interval '6 seconds')::int::int8")) {
        std::this_thread::sleep_for(200ms);
    }
    const Timestamp killed = server_now(connection) - 4s;
    add_seat(killed);
    tick(connection, {.owner = 7, .now = killed});
    const Duration began = since_boot();

    know_time(connection, time);

    EXPECT_LT(since_boot() - began, ClusterTime::silent_start);
    EXPECT_TRUE(time.is_settled());
}

// As after a start of the database with another clock: no other node has a session yet.
TEST_F(PostgresClock, IsWaitedForAfterAStartOfTheDatabase) {
    const Timestamp right = server_now(connection) - 24h;
    add_seat(right);
    tick(connection, {.owner = 7, .now = right});
    const Duration began = since_boot();

    know_time(connection, time);

    EXPECT_GE(since_boot() - began, ClusterTime::silent_start);
}

TEST_F(PostgresClock, IsNotWaitedForWhenAllHaveLeft) {
    connection.execute("UPDATE clock SET latest = 1800000000");
    const Duration began = since_boot();

    know_time(connection, time);

    EXPECT_LT(since_boot() - began, ClusterTime::silent_start);
    EXPECT_LT(apart(time.now(), server_now(connection)), close);
    EXPECT_TRUE(time.is_settled());
}

TEST_F(PostgresClock, IsCorrectedAtOnceByANodeThatLeaves) {
    know_time(connection, time);
    connection.execute("UPDATE clock SET ahead = 3600000000");  // as if it was set

    EXPECT_TRUE(keep_time(connection, time, true));

    EXPECT_LT(std::chrono::abs(read_ahead(connection)), close);
}

TEST_F(PostgresClock, SaysWhatIsWrongWhenItsRowIsGone) {
    connection.execute("DELETE FROM clock");

    EXPECT_THROW(know_time(connection, time), std::runtime_error);
}

TEST_F(PostgresClock, LeavesNoDutyWithANodeThatWasAheadOfTime) {
    const Timestamp now = server_now(connection);
    EXPECT_TRUE(tick(connection, {.owner = 7, .now = now + 2h}).has_duty);

    EXPECT_TRUE(tick(connection, {.owner = 8, .now = now}).has_duty);
    EXPECT_FALSE(tick(connection, {.owner = 9, .now = now}).has_duty);
}

}  // namespace clock_row_test
}  // namespace sluice::postgres
