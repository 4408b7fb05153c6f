#include "infrastructure/postgres/watch/watch.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "support/pooler.hpp"
#include "support/watch_nodes.hpp"

namespace sluice::postgres {
namespace watch_test {

using namespace std::chrono_literals;
using namespace watch_nodes;

TEST_F(PostgresWatch, TellsOtherNodesWhatBecameReady) {
    Node here(url), there(url);
    ASSERT_TRUE(eventually(5s, [&] { return here.watch.nodes() == 2; }));
    ASSERT_TRUE(eventually(5s, [&] { return there.watch.is_listening(); }));

    Duration quickest = Duration::max();
    for (int told = 3; told <= 15; told += 3) {
        const Duration start = since_boot();
        here.watch.announce(news(3));
        EXPECT_EQ(here.hints.wait_for(mail, told, 0ms), told);  // at once, on this thread
        EXPECT_EQ(there.hints.wait_for(mail, told, 1s), told);
        quickest = std::min(quickest, since_boot() - start);
    }
    EXPECT_LT(quickest, 100ms);
}

TEST_F(PostgresWatch, LosesNothingWhenItTellsManyThingsAsOne) {
    Node here(url), there(url);
    ASSERT_TRUE(eventually(5s, [&] { return here.watch.nodes() == 2; }));
    ASSERT_TRUE(eventually(5s, [&] { return there.watch.is_listening(); }));

    for (int i = 0; i < 2000; ++i) here.watch.announce(news(1));

    EXPECT_EQ(there.hints.wait_for(mail, 2000, 2s), 2000);
    EXPECT_EQ(here.hints.wait_for(mail, 2000, 0ms), 2000);
}

TEST_F(PostgresWatch, TellsWhatIsDueSoon) {
    Node here(url), there(url);
    ASSERT_TRUE(eventually(5s, [&] { return here.watch.nodes() == 2; }));
    ASSERT_TRUE(eventually(5s, [&] { return there.watch.is_listening(); }));
    const Timestamp soon = here.time.now() + 1s;

    here.watch.announce({.due = here.time.now() + 1h});
    here.watch.announce({.due = soon});

    EXPECT_EQ(there.hints.wait_for_due(1s), soon);
    EXPECT_LE(there.cluster.timed_due.get(), soon);
    EXPECT_LE(there.cluster.lease_due.get(), soon);
}

TEST_F(PostgresWatch, CountsANewNodeAtOnce) {
    Node here(url);
    ASSERT_TRUE(eventually(5s, [&] { return here.watch.has_duty(); }));
    EXPECT_EQ(here.watch.nodes(), 1);

    Node there(url);

    EXPECT_TRUE(eventually(500ms, [&] { return here.watch.nodes() == 2; }));
}

TEST_F(PostgresWatch, FindsWhatNobodyHasToldWhileClaimsWait) {
    Node node(url);
    node.watch.announce({.waiting_claims = 1});

    connection.execute("INSERT INTO ready VALUES (" + std::to_string(lane_id(mail)) +
                       ", 0, 1, NULL)");

    EXPECT_GE(node.hints.wait_for(mail, 1, 4s), 1);
}

TEST_F(PostgresWatch, LooksAtWhatIsDueWhenItHasTheDuty) {
    Node node(url);
    ASSERT_TRUE(eventually(5s, [&] { return node.watch.has_duty(); }));
    const Timestamp soon = node.time.now() + 1s;

    connection.execute("INSERT INTO timed VALUES (" + std::to_string(to_micros(soon)) +
                       ", 1, 1, 0, NULL)");

    EXPECT_EQ(node.hints.wait_for_due(4s), soon);
    EXPECT_EQ(node.cluster.timed_due.get(), soon);
    EXPECT_EQ(node.cluster.lease_due.get(), never);
}

TEST_F(PostgresWatch, RenewsItsSeats) {
    Node node(url);
    connection.execute("UPDATE seat SET until = now() + interval '50 seconds'");

    EXPECT_TRUE(eventually(4s, [&] {
        return ask("SELECT count(*) FROM seat WHERE until > now() + interval '1 minute'") == 1;
    }));
}

// A committer that signs holds its seat's row until its commit is on disk.
TEST_F(PostgresWatch, DoesNotWaitForACommitterThatSigns) {
    Node node(url);
    ASSERT_TRUE(eventually(5s, [&] { return node.watch.has_duty(); }));
    connection.execute("BEGIN; UPDATE seat SET commits = 1");

    Connection other({.url = url});
    const Timestamp soon = node.time.now() + 1s;
    other.execute("INSERT INTO timed VALUES (" + std::to_string(to_micros(soon)) +
                  ", 1, 1, 0, NULL)");

    EXPECT_EQ(node.hints.wait_for_due(4s), soon);
    connection.execute("COMMIT");
}

TEST_F(PostgresWatch, ComesBackWhenItsConnectionIsEnded) {
    Node here(url), there(url);
    ASSERT_TRUE(eventually(5s, [&] { return here.watch.nodes() == 2; }));
    ASSERT_TRUE(eventually(5s, [&] { return there.watch.is_listening(); }));

    end_backends_of("sluice watch");

    ASSERT_TRUE(eventually(1s, [&] { return !there.watch.is_listening(); }));
    ASSERT_TRUE(
        eventually(5s, [&] { return here.watch.is_listening() && there.watch.is_listening(); }));
    here.watch.announce(news(1));
    EXPECT_EQ(there.hints.wait_for(mail, 1, 1s), 1);
}

TEST_F(PostgresWatch, TakesTheCommonWayWhenTheDirectOneIsClosed) {
    Node node(url, "postgres://sluice@127.0.0.1:1/closed");

    EXPECT_TRUE(eventually(5s, [&] { return node.watch.is_listening(); }));
}

TEST_F(PostgresWatch, LooksOftenWhileClaimsWaitBehindAPooler) {
    Pooler pooler;
    Node node(pooler.url_for(url));
    node.watch.announce({.waiting_claims = 1});
    ASSERT_TRUE(eventually(5s, [&] { return node.watch.has_duty(); }));
    EXPECT_FALSE(node.watch.is_listening());

    const Duration start = since_boot();
    for (int i = 1; i <= 4; ++i) {
        connection.execute("INSERT INTO ready VALUES (" + std::to_string(lane_id(mail)) + ", 0, " +
                           std::to_string(i) + ", NULL)");
        ASSERT_GE(node.hints.wait_for(mail, i, 4s), i);
    }
    EXPECT_LT(since_boot() - start, 4s);
}

TEST_F(PostgresWatch, ReachesOthersFromBehindAPooler) {
    Pooler pooler;
    Node here(pooler.url_for(url)), there(url);
    ASSERT_TRUE(eventually(5s, [&] { return here.watch.nodes() == 2; }));
    ASSERT_TRUE(eventually(5s, [&] { return there.watch.is_listening(); }));

    here.watch.announce(news(1));

    EXPECT_EQ(there.hints.wait_for(mail, 1, 1s), 1);
}

TEST_F(PostgresWatch, GivesTheDutyUpWhenItStops) {
    Node here(url);
    ASSERT_TRUE(eventually(5s, [&] { return here.watch.has_duty(); }));
    Node there(url);
    ASSERT_TRUE(eventually(15s, [&] { return there.time.is_settled(); }));

    here.watch.stop();

    EXPECT_FALSE(here.watch.has_duty());
    EXPECT_TRUE(eventually(4s, [&] { return there.watch.has_duty(); }));
}

TEST_F(PostgresWatch, SaysThatTheClockWasSetBeforeItStops) {
    Node node(url);
    ASSERT_TRUE(eventually(5s, [&] { return node.watch.has_duty(); }));
    connection.execute("UPDATE clock SET ahead = 3600000000");  // as if it was set

    node.watch.stop();

    EXPECT_EQ(ask("SELECT corrections FROM clock"), 1);
    EXPECT_LT(ask("SELECT ahead FROM clock"), 1'000'000);
}

TEST_F(PostgresWatch, InheritsTheDutyOfANodeThatDies) {
    // A process of its own, which is killed and cannot leave in order.
    const pid_t child = fork();
    if (child == 0) {
        const Node node(url);
        for (;;) pause();
    }
    const bool has_begun = eventually(5s, [&] { return duty_holder() != 0; });
    Node here(url);
    const bool other_has_it = eventually(5s, [&] { return here.watch.nodes() == 2; }) &&
                              duty_holder() != here.cluster.owner && !here.watch.has_duty();

    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);

    ASSERT_TRUE(has_begun);
    ASSERT_TRUE(other_has_it);
    EXPECT_TRUE(eventually(10s, [&] { return here.watch.has_duty(); }));
    EXPECT_EQ(duty_holder(), here.cluster.owner);
}

TEST_F(PostgresWatch, LooksEveryOtherSecondOnlyWhileClaimsWait) {
    Node node(url);
    node.watch.announce({.waiting_claims = 100});
    ASSERT_TRUE(eventually(5s, [&] { return node.watch.has_duty(); }));
    // The housekeeper adds windows once.
    ASSERT_TRUE(eventually(5s, [&] {
        return ask("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sluice "
                   "housekeeper' AND datname = current_database() AND state = 'idle'") == 1;
    }));

    // Each statement has another start; sampled often enough that none is missed.
    std::set<std::int64_t> starts;
    eventually(5s, [&] {
        starts.insert(
            ask("SELECT (extract(epoch FROM max(query_start)) * 1000000)::int8 "
                "FROM pg_stat_activity WHERE application_name LIKE 'sluice %' "
                "AND datname = current_database() AND state = 'idle'"));
        return false;
    });

    // The statement before, and up to three looks, each at the clock, at silent nodes and then at
    // all else.
    EXPECT_GE(starts.size(), 2u);
    EXPECT_LE(starts.size(), 1u + 3 * 3);
}

}  // namespace watch_test
}  // namespace sluice::postgres
