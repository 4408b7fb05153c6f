#include "infrastructure/postgres/watch/housekeeper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "infrastructure/postgres/cluster/clock_row.hpp"
#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/system/boot_clock.hpp"
#include "tests/support/postgres.hpp"

namespace sluice::postgres {
namespace housekeeper_test {

using namespace std::chrono_literals;

class PostgresHousekeeper : public testing::Test {
  protected:
    PostgresHousekeeper() {
        migrate(connection);
        know_time(connection, time);
    }

    std::int64_t ask(const std::string& text) {
        const Result result = connection.ask({"", text});
        connection.sync();
        return Row(result, 0).integer();
    }

    static bool eventually(const std::function<bool()>& holds) {
        for (const Duration end = since_boot() + 30s; since_boot() < end;) {
            if (holds()) return true;
            std::this_thread::sleep_for(10ms);
        }
        return false;
    }

    bool eventually_one(
        const std::string& text, const std::function<void()>& meanwhile = [] {}) {
        return eventually([&] {
            if (ask(text) == 1) return true;
            meanwhile();
            return false;
        });
    }

    Housekeeper::Options options(Duration retention) const {
        return {.urls = {.direct = url, .common = url}, .retention = Retention(retention)};
    }

    const std::string url = fresh_database();
    Connection connection{{.url = url}};
    Cluster cluster{{url}, "test"};
    ClusterTime& time = cluster.time;
};

TEST_F(PostgresHousekeeper, AddsWindowsAndDropsThoseThatAreOver) {
    time.set(time.now() + 100 * 24h);
    Housekeeper housekeeper(options(30 * 24h), cluster);

    housekeeper.run_due(false);

    const std::string weeks =
        "SELECT count(*) = 3 AND (min(substr(relname, 5)::int8) + 1) * 604800 > "
        "extract(epoch FROM now()) - 1577836800 + 99 * 86400 "
        "FROM pg_class JOIN pg_inherits ON inhrelid = oid "
        "WHERE inhparent = 'job'::regclass";
    EXPECT_TRUE(eventually_one(weeks));
}

TEST_F(PostgresHousekeeper, FillsInWhatNodesOfAnOlderVersionLeaveOut) {
    connection.execute(R"sql(
INSERT INTO job
SELECT n, 'default', 'q', 't', 0, n, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, false, false,
    CASE n WHEN 1 THEN 'p' END, CASE WHEN n > 2 THEN 'site' END, CASE WHEN n > 2 THEN 's' END, NULL,
    NULL, NULL, sha256(''), sha256(''), '1'
FROM generate_series(1, 4) n;
INSERT INTO done (id, state, completed_at, attempt, log_seq, event_seq, head_hash)
SELECT id, CASE id WHEN 3 THEN 2 ELSE 3 END, 1, 1, 0, 2, sha256('') FROM job)sql");
    Housekeeper housekeeper(options(0s), cluster);

    housekeeper.run_due(false);

    EXPECT_TRUE(
        eventually_one("SELECT count(*) FROM done WHERE id = 1 AND project = 'p' AND type = 't'"));
    EXPECT_TRUE(
        eventually_one("SELECT count(*) FROM done WHERE id = 3 AND type = 't' "
                       "AND success_for = '7:default4:site1:s'"))
        << "what the success was about";
    EXPECT_EQ(ask("SELECT count(*) FROM done WHERE project IS NULL AND type IS NULL"), 2);
}

// One key is held, the other one is not.
TEST_F(PostgresHousekeeper, LetsJobsForwardThatWereLeftBehindAtAFreeKey) {
    connection.execute(R"sql(
INSERT INTO job
SELECT n, 'default', 'q', 't', 0, n, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, false, false,
    NULL, NULL, NULL, NULL, NULL, NULL, sha256(''), sha256(''), '1'
FROM generate_series(1, 3) n;
INSERT INTO lane (id, tenant, queue, type) VALUES (1, 'default', 'q', 't');
INSERT INTO held VALUES ('default', 'held', 9);
INSERT INTO parked VALUES ('default', 'held', 1, 0, 1, '4:held'),
    ('default', 'free', 1, 0, 2, '4:free'), ('default', 'free', 1, 0, 3, '4:free'))sql");
    Housekeeper housekeeper(options(0s), cluster);

    housekeeper.run_due(false);

    EXPECT_TRUE(eventually_one("SELECT count(*) FROM ready WHERE id = 2 AND keys = '4:free'"));
    EXPECT_EQ(ask("SELECT count(*) FROM ready"), 1) << "one is enough";
    EXPECT_EQ(ask("SELECT count(*) FROM parked WHERE key = 'held'"), 1);
}

TEST_F(PostgresHousekeeper, KeepsEverythingWhenNothingIsSaid) {
    time.set(time.now() + 100 * 24h);
    Housekeeper housekeeper(options(0s), cluster);

    housekeeper.run_due(false);

    EXPECT_TRUE(
        eventually_one("SELECT count(*) = 6 FROM pg_inherits "
                       "WHERE inhparent = 'job'::regclass"));
}

TEST_F(PostgresHousekeeper, VacuumsWhatIsLittered) {
    connection.execute("ALTER TABLE ready SET (autovacuum_enabled = off)");
    {
        Connection other({.url = url});  // its counts are visible once it is closed
        other.execute("INSERT INTO ready SELECT 1, 0, n FROM generate_series(1, 30000) n");
        other.execute("DELETE FROM ready");
    }
    const std::string counts = " FROM pg_stat_user_tables WHERE relname = 'ready'";
    ASSERT_TRUE(eventually_one("SELECT n_dead_tup > 20000" + counts));
    Housekeeper housekeeper(options(0s), cluster);

    // A snapshot of the server's own, such as for statistics, may keep a first vacuum from
    // cleaning.
    EXPECT_TRUE(eventually_one("SELECT vacuum_count > 0 AND n_dead_tup = 0" + counts,
                               [&] { housekeeper.run_due(true); }));
}

TEST_F(PostgresHousekeeper, MakesThatEntitiesAreFoundByTheirKeys) {
    connection.execute("ALTER TABLE entity SET (autovacuum_enabled = off)");
    {
        Connection other({.url = url});  // its counts are visible once it is closed
        other.execute(
            "INSERT INTO entity (tenant, kind, id, number, state, revision, created_at, "
            "updated_at, attributes) "
            "SELECT 't', 'app', 'app-' || n, n, 'idle', 1, 0, 0, '{}' "
            "FROM generate_series(1, 2000) n");
    }
    Housekeeper housekeeper(options(0s), cluster);

    ASSERT_TRUE(
        eventually_one("SELECT analyze_count > 0 FROM pg_stat_user_tables WHERE relname = 'entity'",
                       [&] { housekeeper.run_due(true); }));

    const Result plan = connection.ask(
        {"",
         "EXPLAIN SELECT FROM unnest('{t}'::text[], '{app}'::text[], '{app-7}'::text[]) "
         "u(tenant, kind, id) CROSS JOIN LATERAL (SELECT FROM entity x WHERE x.tenant = u.tenant "
         "AND x.kind = u.kind AND x.id = u.id OFFSET 0) y"});
    connection.sync();
    std::string lines;
    for (int i = 0; i < plan.rows(); ++i) lines += Row(plan, i).text() + "\n";
    EXPECT_NE(lines.find("using entity_pkey"), std::string::npos) << lines;
}

TEST_F(PostgresHousekeeper, GoesOnWithTheOthersWhenOneDutyFails) {
    time.set(time.now() + 100 * 24h);
    connection.execute("ALTER FUNCTION add_window RENAME TO hidden");
    std::mutex mutex;
    std::map<std::string_view, int> failed;
    std::set<std::string_view> good;
    Housekeeper::Options with_ears = options(30 * 24h);
    with_ears.on_duty = [&](const DutyRun& run) {
        const std::lock_guard lock(mutex);
        if (run.failed) ++failed[run.duty];
        if (!run.failed) good.insert(run.duty);
    };
    const std::set<std::string_view> others{"older_nodes", "old_windows", "vacuum"};
    Housekeeper housekeeper(with_ears, cluster);

    EXPECT_TRUE(eventually([&] {
        housekeeper.run_due(true);
        const std::lock_guard lock(mutex);
        return std::includes(good.begin(), good.end(), others.begin(), others.end());
    }));
    const std::lock_guard lock(mutex);
    EXPECT_EQ(failed, (std::map<std::string_view, int>{{"windows", 1}}));
}

TEST_F(PostgresHousekeeper, StopsInTheMiddleOfAStatement) {
    time.set(time.now() + 100 * 24h);
    connection.execute("BEGIN; LOCK TABLE lease");
    auto housekeeper = std::make_unique<Housekeeper>(options(30 * 24h), cluster);
    housekeeper->run_due(false);
    ASSERT_TRUE(
        eventually_one("SELECT count(*) FROM pg_locks WHERE NOT granted "
                       "AND relation = 'lease'::regclass"));

    const Duration start = since_boot();
    housekeeper.reset();

    EXPECT_LT(since_boot() - start, 1s);
}

}  // namespace housekeeper_test
}  // namespace sluice::postgres
