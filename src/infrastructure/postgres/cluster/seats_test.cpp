#include "infrastructure/postgres/cluster/seats.hpp"
#include "infrastructure/postgres/schema/write_queries.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <thread>

#include "infrastructure/postgres/cluster/clock_row.hpp"
#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/postgres/schema/windows.hpp"
#include "tests/support/postgres.hpp"

namespace sluice::postgres {
namespace seats_test {

class PostgresSeats : public testing::Test {
  protected:
    PostgresSeats() {
        migrate(connection);
        know_time(connection, cluster.time);
    }

    // All 1024 are taken, by owner 1; the seat n was left n minutes ago, or is taken until then.
    void fill(const std::string& until) {
        connection.execute("INSERT INTO seat SELECT n, 1, 'old', now() " + until +
                           " n * interval '1 minute' - interval '1 second', 9, n + 1000 "
                           "FROM generate_series(0, 1023) n");
    }

    std::int64_t ask(const std::string& text) {
        const Result result = connection.ask({"", text});
        connection.sync();
        return Row(result, 0).integer();
    }

    void sign(const Seat& seat, std::int64_t count) {
        connection.ask(sql::sign, Params(seat.number, cluster.owner, count, std::int64_t{5},
                                         cluster.time.now(), std::int64_t{0}));
        connection.sync();
    }

    std::int64_t settle(const Seat& seat, std::int64_t count) {
        const Result settled =
            connection.ask(sql::settle, Params(seat.number, cluster.owner, count));
        connection.sync();
        return Row(settled, 0).integer();
    }

    const std::string url = fresh_database();
    Connection connection{{.url = url, .works_on_queue = true}};
    Cluster cluster{{url}, "node"};
};

TEST_F(PostgresSeats, AreAllDifferentWhenTwentySitDownAtOnce) {
    std::vector<int> numbers(20);
    std::vector<std::thread> threads;
    for (int& number : numbers) {
        threads.emplace_back([&] {
            Connection own({.url = url, .works_on_queue = true});
            number = take_seat(own, cluster).number;
        });
    }
    for (std::thread& thread : threads) thread.join();

    const std::set<int> different(numbers.begin(), numbers.end());
    EXPECT_EQ(different.size(), 20u);
    EXPECT_EQ(*different.begin(), 0);
    EXPECT_EQ(*different.rbegin(), 19);
    EXPECT_EQ(ask("SELECT count(*) FROM seat WHERE until > now() + interval '1 minute'"), 20);
}

TEST_F(PostgresSeats, AreTakenOverFromWhoLeftLongestAgoWhenNoneIsNew) {
    fill("-");

    const Seat seat = take_seat(connection, cluster);

    EXPECT_EQ(seat.number, 1023);
    EXPECT_EQ(seat.last_id, 2023);
    EXPECT_EQ(ask("SELECT commits FROM seat WHERE number = 1023"), 0);
    EXPECT_EQ(ask("SELECT owner FROM seat WHERE number = 1023"), cluster.owner);
    EXPECT_EQ(take_seat(connection, cluster).number, 1022);
}

TEST_F(PostgresSeats, AreRefusedWhileAllAreTaken) {
    fill("+ interval '1 minute' +");

    EXPECT_THROW(take_seat(connection, cluster), std::runtime_error);
}

TEST_F(PostgresSeats, CanBeTakenByOthersOnceTheirOwnerHasLeft) {
    fill("+ interval '1 minute' +");
    connection.execute("UPDATE seat SET owner = 2 WHERE number = 700");

    leave_seat(connection, 700, 3, cluster.time.now());
    EXPECT_THROW(take_seat(connection, cluster), std::runtime_error);
    leave_seat(connection, 700, 2, cluster.time.now());

    EXPECT_EQ(take_seat(connection, cluster).number, 700);
    EXPECT_THROW(take_seat(connection, cluster), std::runtime_error);
}

TEST_F(PostgresSeats, EndTheCommitsOfWhoLostThem) {
    const Seat seat = take_seat(connection, cluster);
    sign(seat, 1);
    connection.execute("UPDATE seat SET owner = 7");

    EXPECT_THROW(sign(seat, 2), StoreUnavailable);
}

TEST_F(PostgresSeats, TellWhetherACommitHasHappened) {
    const Seat seat = take_seat(connection, cluster);
    sign(seat, 1);

    EXPECT_EQ(settle(seat, 0), 1);
    EXPECT_EQ(settle(seat, 0), 1);
    sign(seat, 2);
}

TEST_F(PostgresSeats, ShutOutACommitThatHasNotHappened) {
    const Seat seat = take_seat(connection, cluster);
    sign(seat, 1);

    EXPECT_EQ(settle(seat, 1), 3);
    EXPECT_EQ(settle(seat, 1), 3) << "as often as one asks";
    EXPECT_THROW(sign(seat, 2), StoreUnavailable);
    connection.roll_back();
    sign(seat, 4);
}

TEST(Cluster, HasAnotherOwnerEachTime) {
    std::set<std::int64_t> owners;
    for (int i = 0; i < 100; ++i) owners.insert(Cluster({}, "").owner);

    EXPECT_EQ(owners.size(), 100u);
    EXPECT_GT(*owners.begin(), 0);
}

// Engines in two schemas of a database have nothing in common: a session that holds all locks by
// which one engine takes its turn does not stop the other.
TEST(PostgresSchemas, DoNotWaitForEachOther) {
    const std::string url = fresh_database();
    Connection first({.url = url});
    migrate(first);
    first.execute(
        "BEGIN; SELECT pg_advisory_xact_lock(number, hashtext('orchestrator')) "
        "FROM generate_series(7310001, 7310003) number");
    const Database second{url, *SchemaName::resolve("team_b")};
    Connection connection({.url = url, .schema = second.schema});
    Cluster cluster(second, "node");

    migrate(connection);
    know_time(connection, cluster.time);
    connection.execute("SET lock_timeout = '100ms'");
    ensure_windows(connection, cluster.time.now() + std::chrono::weeks(9));
    EXPECT_EQ(take_seat(connection, cluster).number, 0);

    first.execute("COMMIT");
}

}  // namespace seats_test
}  // namespace sluice::postgres
