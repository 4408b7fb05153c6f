#include "infrastructure/postgres/schema/windows.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "infrastructure/postgres/cluster/clock_row.hpp"
#include "infrastructure/postgres/schema/migrations.hpp"
#include "tests/support/postgres.hpp"

namespace sluice::postgres {
namespace windows_test {

using namespace std::chrono_literals;

constexpr Timestamp first_week = from_micros(1'577'836'800'000'000);
constexpr Duration week = std::chrono::weeks(1);

JobId id_at(Timestamp time) {
    return {to_millis(time - first_week) << 22};
}

std::string date_of(Timestamp time) {
    return to_rfc3339(time).substr(0, 10);
}

// A fresh database has the windows of this week and of the two after it. Noon is far from the
// border between two.
class PostgresWindows : public testing::Test {
  protected:
    PostgresWindows() { migrate(connection); }

    std::vector<std::int64_t> ask(const std::string& text) {
        const Result result = connection.ask({"", text});
        connection.sync();
        std::vector<std::int64_t> numbers;
        for (int i = 0; i < result.rows(); ++i) numbers.push_back(Row(result, i).integer());
        return numbers;
    }

    std::vector<std::int64_t> windows_of(const std::string& table) {
        return ask(
            "SELECT split_part(c.relname, '_', 2)::int8 FROM pg_inherits "
            "JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = '" +
            table + "'::regclass ORDER BY 1");
    }

    void add_job(JobId id) {
        connection.execute(
            "INSERT INTO job (id, tenant, queue, type, priority, created_at, max_attempts, "
            "timeout, retry_on_timeout, run_despite_failure, payload_digest, head_hash, payload) "
            "VALUES (" +
            std::to_string(id.value) + ", 't', 'q', 'x', 0, 0, 1, 0, false, false, '', '', '1')");
    }

    void end_job(JobId id, Timestamp at) {
        connection.execute(
            "INSERT INTO done (id, state, completed_at, attempt, log_seq, event_seq, "
            "head_hash) VALUES (" +
            std::to_string(id.value) + ", 2, " + std::to_string(to_micros(at)) + ", 1, 0, 3, '')");
    }

    bool is_refused(JobId id) {
        try {
            add_job(id);
        } catch (const Refused& refused) {
            connection.roll_back();
            return refused.sqlstate() == "23514";
        }
        return false;
    }

    std::vector<std::string> drop_after(Duration passed, Duration retention = 10 * week) {
        return drop_ended_windows(connection, noon + passed, Retention(retention)).dates;
    }

    const std::string url = fresh_database();
    Connection connection{{.url = url}};
    const Timestamp noon =
        first_week + std::chrono::floor<std::chrono::weeks>(server_now(connection) - first_week) +
        12h;
    const std::int64_t this_week = window_of(id_at(noon));
    const std::vector<std::string> all{date_of(noon), date_of(noon + week),
                                       date_of(noon + 2 * week)};
    const std::vector<std::string> all_but_first{all[1], all[2]};
};

TEST_F(PostgresWindows, AreAddedForTheNextDaysInEveryTable) {
    ensure_windows(connection, noon + 2 * week);
    ensure_windows(connection, noon + 2 * week);

    const std::vector<std::int64_t> expected{this_week, this_week + 1, this_week + 2, this_week + 3,
                                             this_week + 4};
    for (const char* table : {"job", "done", "event", "log"}) {
        EXPECT_EQ(windows_of(table), expected) << table;
    }
}

TEST_F(PostgresWindows, AreAddedOnceWhenFourNodesAddThemAtOnce) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            Connection own({.url = url});
            ensure_windows(own, noon + 3 * week);
        });
    }
    for (std::thread& thread : threads) thread.join();

    EXPECT_EQ(windows_of("log").size(), 6u);
}

TEST_F(PostgresWindows, AreAddedWhileOthersReadAndWrite) {
    Connection other({.url = url});
    other.execute(
        "BEGIN; SELECT count(*) FROM job; DELETE FROM done;"
        "DELETE FROM event; DELETE FROM log; DELETE FROM job");

    ensure_windows(connection, noon + week);

    EXPECT_EQ(windows_of("job").size(), 4u);
    other.execute("COMMIT");
}

TEST_F(PostgresWindows, AreAddedForIdsThatHaveNone) {
    const JobId far = id_at(noon + 1000 * week);
    ASSERT_TRUE(is_refused(far));

    ensure_window_for(connection, far);

    EXPECT_FALSE(is_refused(far));
    EXPECT_EQ(windows_of("event").back(), this_week + 1000);
}

TEST_F(PostgresWindows, AreNotAddedForOldIdsWhileTheFirstOneTakesThem) {
    const JobId old = id_at(noon - 100 * week);

    ensure_window_for(connection, old);
    ensure_windows(connection, noon - 100 * week);

    EXPECT_FALSE(is_refused(old));
    EXPECT_EQ(windows_of("job").size(), 3u);
}

TEST_F(PostgresWindows, AreAddedForOldIdsOnceTheFirstOneIsGone) {
    ASSERT_EQ(drop_after(11 * week), std::vector{all[0]});
    const JobId old = id_at(noon - 100 * week);
    ASSERT_TRUE(is_refused(old));

    ensure_window_for(connection, old);

    EXPECT_FALSE(is_refused(old));
}

TEST_F(PostgresWindows, EndWithTheLastIdThatThereCanBe) {
    const JobId last{std::numeric_limits<std::int64_t>::max()};

    ensure_window_for(connection, last);

    EXPECT_FALSE(is_refused(last));
}

TEST_F(PostgresWindows, AreDroppedWhenAllInThemEndedLongAgo) {
    for (const JobId id : {id_at(noon), id_at(noon - 100 * week)}) {
        add_job(id);
        end_job(id, noon);
    }

    EXPECT_EQ(drop_after(10 * week), std::vector<std::string>{});
    EXPECT_EQ(drop_after(13 * week), all);

    for (const char* table : {"job", "done", "event", "log"}) {
        EXPECT_TRUE(windows_of(table).empty()) << table;
    }
    EXPECT_TRUE(ask("SELECT 1 FROM pg_class WHERE relname LIKE 'job\\_2%'").empty());
}

TEST_F(PostgresWindows, AreNeverDroppedOnTheirOwnDay) {
    EXPECT_EQ(drop_after(11h, 1s), std::vector<std::string>{});
    EXPECT_EQ(drop_after(week, 1s), std::vector{all[0]});
}

TEST_F(PostgresWindows, StayWhileAJobInThemHasNotEnded) {
    const JobId first = id_at(noon);
    const JobId second = id_at(noon + 1s);
    add_job(first);
    add_job(second);
    end_job(first, noon);

    EXPECT_EQ(drop_after(100 * week), all_but_first);

    end_job(second, noon);
    EXPECT_EQ(drop_after(100 * week), std::vector{all[0]});
}

TEST_F(PostgresWindows, StayWhileAJobInThemEndedLately) {
    add_job(id_at(noon));
    end_job(id_at(noon), noon + 95 * week);

    EXPECT_EQ(drop_after(100 * week), all_but_first);
    EXPECT_EQ(drop_after(106 * week), std::vector{all[0]});
}

TEST_F(PostgresWindows, StayWhileAnotherJobDependsOnOneInThem) {
    const JobId id = id_at(noon);
    add_job(id);
    end_job(id, noon);
    connection.execute("INSERT INTO blocker VALUES (" + std::to_string(id.value) + ", " +
                       std::to_string(id_at(noon + 90 * week).value) + ", 1, 0)");

    EXPECT_EQ(drop_after(100 * week), all_but_first);
}

TEST_F(PostgresWindows, StayWhileAWorkerHasNotLetGoOfAJobInThem) {
    const JobId id = id_at(noon);
    add_job(id);
    end_job(id, noon);
    connection.execute(
        "INSERT INTO lease (id, token, worker_id, since, until, term, stop_requested, "
        "client_seq, batch_mark, attempt, log_seq, event_seq, head_hash, has_ended) VALUES (" +
        std::to_string(id.value) + ", 1, 'w', 0, 0, 0, true, 0, 0, 1, 0, 3, '', true)");

    EXPECT_EQ(drop_after(100 * week), all_but_first);
}

TEST_F(PostgresWindows, StayUntilTheNextTimeWhenSomebodyReadsThem) {
    Connection other({.url = url});
    other.execute("BEGIN; SELECT count(*) FROM log");

    EXPECT_EQ(drop_after(100 * week), std::vector<std::string>{});

    other.execute("COMMIT");
    EXPECT_EQ(drop_after(100 * week), all);
}

}  // namespace windows_test
}  // namespace sluice::postgres
