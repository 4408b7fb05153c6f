#include "infrastructure/postgres/clock_row.hpp"

#include <gtest/gtest.h>

#include "infrastructure/postgres/migrations.hpp"
#include "infrastructure/postgres/tick.hpp"
#include "infrastructure/system_clock.hpp"
#include "tests/support/postgres.hpp"

namespace sluice::postgres {
namespace {

using namespace std::chrono_literals;

// The server's clock is another one's, too: it is the row that the tests move against it.
class PostgresClock : public testing::Test {
  protected:
    std::int64_t ask(const std::string& text) {
        const Result result = connection.ask({"", text});
        connection.sync();
        return Row(result, 0).integer();
    }

    static Duration apart(Timestamp a, Timestamp b) { return std::chrono::abs(a - b); }

    const std::string url = migrated_database();
    Connection connection{{.url = url}};
    ClusterTime time;
};

// Server and test run on one machine.
TEST_F(PostgresClock, IsThatOfTheServerAtFirst) {
    know_time(connection, time);

    EXPECT_LT(apart(time.now(), SystemClock().now()), 50ms);
    EXPECT_LT(apart(time.now(), server_now(connection)), 50ms);
}

TEST_F(PostgresClock, IsAheadByWhatNodesHaveAgreedOn) {
    connection.execute("UPDATE clock SET ahead = -3600000000");

    know_time(connection, time);

    EXPECT_LT(apart(time.now(), server_now(connection) - 1h), 50ms);
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
    EXPECT_LT(std::chrono::abs(*jump - 1h), 50ms);
    EXPECT_LT(std::chrono::abs(read_ahead(connection)), 50ms);
    EXPECT_EQ(ask("SELECT corrections FROM clock"), 1);
    EXPECT_LT(apart(time.now(), start + (since_boot() - began)), 50ms);
    EXPECT_LT(apart(other.now(), time.now()), 50ms);
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
    connection.execute("UPDATE clock SET ahead = 3600000000");
    const Timestamp now = server_now(connection) + 1h;

    tick(connection, {.owner = 7, .now = now, .agrees = false});

    EXPECT_EQ(ask("SELECT agreements FROM clock"), 0);
    EXPECT_EQ(ask("SELECT latest FROM clock"), to_micros(now));
    EXPECT_EQ(read_ahead(connection), 1h);
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

}  // namespace
}  // namespace sluice::postgres
