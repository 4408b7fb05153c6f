#include "infrastructure/postgres/watch/silent_nodes.hpp"

#include <gtest/gtest.h>

#include "infrastructure/postgres/cluster/clock_row.hpp"
#include "infrastructure/postgres/cluster/cluster.hpp"
#include "infrastructure/postgres/cluster/seats.hpp"
#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/postgres/schema/write_queries.hpp"
#include "tests/support/pooler.hpp"
#include "tests/support/postgres.hpp"

namespace sluice::postgres {
namespace silent_nodes_test {

using namespace std::chrono_literals;

constexpr Timestamp start = from_micros(1'800'000'000'000'000);

TEST(SteadyLooks, CountOnceTheyWereInTimeForAsLongAsSilenceIsAllowed) {
    SteadyLooks looks;
    Timestamp at = start;
    for (; at < start + silence_allowed + 2s; at += 2s) {
        EXPECT_LT(looks.counts_until(), at);
        looks.add(at);
    }
    EXPECT_GE(looks.counts_until(), at);
    EXPECT_TRUE(looks.is_first());
    looks.add(at);
    EXPECT_FALSE(looks.is_first());
}

TEST(SteadyLooks, BeginAnewAfterOneThatWasLate) {
    SteadyLooks looks;
    Timestamp at = start;
    for (; at < start + 20s; at += 2s) looks.add(at);

    // The node stood still, or the database did. The others, which looked up to two seconds before,
    // seem silent now.
    EXPECT_LT(looks.counts_until() + 2s, at - 2s + silence_allowed);
    at += 2s;
    EXPECT_GT(at, looks.counts_until());
    looks.add(at);
    for (const Timestamp late = at; at < late + silence_allowed; at += 2s) {
        looks.add(at);
        EXPECT_LT(looks.counts_until(), late);
    }
    looks.add(at);
    EXPECT_GT(looks.counts_until(), at);
    EXPECT_TRUE(looks.is_first());
}

TEST(SteadyLooks, BeginAnewWhenTheClockIsSetBack) {
    SteadyLooks looks;
    for (Timestamp at = start; at < start + 20s; at += 2s) looks.add(at);
    looks.add(start);
    EXPECT_EQ(looks.counts_until(), Timestamp{});
}

// A node that has the duty, beside others.
class PostgresSilentNodes : public testing::Test {
  protected:
    PostgresSilentNodes() {
        migrate(connection);
        know_time(connection, own.time);
        know_time(connection, other.time);
        take_seat(connection, own);
        take_seat(connection, other);
        tick(connection, {.owner = own.owner, .now = own.time.now()});
    }

    int end_silent(bool of_all = false) {
        int ended = 0;
        for (const SilentNode& node :
             end_silent_nodes(connection, own.owner, own.time.now(), of_all)) {
            ended += node.sessions;
        }
        if (ended > 0) wait_for_the_end_of(other);
        return ended;
    }

    // A session that is told to end does so a little later.
    void wait_for_the_end_of(const Cluster& node) {
        const std::string mark = "(" + std::to_string(node.owner) + ")";
        connection.execute("SELECT pg_advisory_lock" + mark);
        connection.execute("SELECT pg_advisory_unlock" + mark);
    }

    // Moves the node's last sign of life into the past.
    void fall_silent(const Cluster& node, const std::string& since) {
        connection.execute("UPDATE seat SET until = now() + interval '2 minutes' - interval '" +
                           since + "' WHERE owner = " + std::to_string(node.owner));
    }

    std::unique_ptr<Connection> session_of(const Cluster& node) const {
        return std::make_unique<Connection>(ConnectOptions{.url = url, .node_mark = node.owner});
    }

    static bool is_alive(Connection& session) {
        try {
            session.ask({"", "SELECT 1"});
            session.sync();
            return true;
        } catch (const StoreUnavailable&) {
            return false;
        }
    }

    const std::string url = fresh_database();
    Connection connection{{.url = url}};
    Cluster own{{url}, "own"};
    Cluster other{{url}, "other"};
};

TEST_F(PostgresSilentNodes, LoseTheirSessionsAndNobodyElseDoes) {
    Cluster third{{url}, "third"};
    know_time(connection, third.time);
    take_seat(connection, third);
    const auto first = session_of(other);
    const auto second = session_of(other);
    const auto living = session_of(third);
    const auto mine = session_of(own);
    const auto nobodys = session_of(Cluster{{url}, "without a seat"});
    fall_silent(other, "7 seconds");

    EXPECT_EQ(end_silent(), 2);

    EXPECT_FALSE(is_alive(*first));
    EXPECT_FALSE(is_alive(*second));
    EXPECT_TRUE(is_alive(*living));
    EXPECT_TRUE(is_alive(*mine));
    EXPECT_TRUE(is_alive(*nobodys));
    EXPECT_EQ(end_silent(), 0);
}

TEST_F(PostgresSilentNodes, AreLeftAloneForAsLongAsTheyMayBeSilent) {
    const auto session = session_of(other);
    fall_silent(other, "5 seconds");

    EXPECT_EQ(end_silent(), 0);
    EXPECT_TRUE(is_alive(*session));
}

TEST_F(PostgresSilentNodes, AreThoseOfWhichNoSeatWasRenewed) {
    take_seat(connection, other);
    connection.execute(
        "UPDATE seat SET until = now() + interval '110 seconds' "
        "WHERE number = 1");
    const auto session = session_of(other);

    EXPECT_EQ(end_silent(), 0);
    EXPECT_TRUE(is_alive(*session));
}

TEST_F(PostgresSilentNodes, AreFoundWhileTheyHoldAllLocks) {
    fall_silent(other, "7 seconds");
    const auto session = session_of(other);
    session->begin();
    session->ask({"", "SELECT number FROM seat FOR UPDATE"});
    session->ask({"", "SELECT name FROM duty FOR UPDATE"});

    EXPECT_EQ(end_silent(), 1);
    EXPECT_FALSE(is_alive(*session));
    EXPECT_TRUE(tick(connection, {.owner = own.owner, .now = own.time.now()}).has_duty);
}

TEST_F(PostgresSilentNodes, AreLeftToTheOneThatHasTheDuty) {
    connection.execute("UPDATE duty SET owner = 7");
    fall_silent(other, "7 seconds");
    const auto session = session_of(other);
    EXPECT_EQ(end_silent(), 0);

    connection.execute("UPDATE duty SET until = now() - interval '1 millisecond'");
    EXPECT_EQ(end_silent(), 1) << "none has it";
    EXPECT_FALSE(is_alive(*session));
}

// As when the statement was held up on its way, and those of the others were, too.
TEST_F(PostgresSilentNodes, AreJudgedByTheMomentInWhichTheLookWasSent) {
    fall_silent(other, "7 seconds");
    const auto session = session_of(other);
    const Timestamp earlier = own.time.now() - 3s;

    EXPECT_TRUE(end_silent_nodes(connection, own.owner, earlier, false).empty());
    EXPECT_TRUE(is_alive(*session));
    EXPECT_EQ(end_silent(), 1);
}

TEST_F(PostgresSilentNodes, AreLookedForOnceWhenTheirSeatsAreFreeAlready) {
    fall_silent(other, "3 minutes");
    const auto session = session_of(other);

    EXPECT_EQ(end_silent(false), 0);
    EXPECT_EQ(end_silent(true), 1);
    EXPECT_FALSE(is_alive(*session));
}

// Other nodes use the same session, one transaction after the other.
TEST_F(PostgresSilentNodes, LoseTheirTransactionsBehindAPooler) {
    const Pooler pooler;
    Connection session({.url = pooler.url_for(url), .node_mark = other.owner});
    ASSERT_TRUE(session.is_pooled());
    fall_silent(other, "7 seconds");
    EXPECT_EQ(end_silent(), 0) << "the session is not theirs";

    session.begin();
    session.ask({"", "SELECT name FROM duty FOR UPDATE"});
    EXPECT_EQ(end_silent(), 1);
    EXPECT_FALSE(is_alive(session));
}

TEST_F(PostgresSilentNodes, DoNotIncludeOneWhoseSeatIsSigned) {
    const Seat seat = take_seat(connection, other);
    fall_silent(other, "7 seconds");
    connection.ask(sql::sign, Params(seat.number, other.owner, std::int64_t{1}, std::int64_t{5},
                                     other.time.now(), std::int64_t{0}));
    connection.sync();

    EXPECT_EQ(end_silent(), 0);
}

}  // namespace silent_nodes_test
}  // namespace sluice::postgres
