// Retention on a database: jobs that go with their window, and jobs that are removed one by one.
#include <gtest/gtest.h>

#include "infrastructure/postgres/cluster/clock_row.hpp"
#include "infrastructure/postgres/maintenance/backlog.hpp"
#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/postgres/schema/windows.hpp"
#include "infrastructure/postgres/store/postgres_archive.hpp"
#include "support/postgres.hpp"

namespace sluice::postgres {
namespace retention_test {

using namespace std::chrono_literals;

constexpr Duration week = 24h * 7;

class PostgresRetention : public testing::Test {
  protected:
    PostgresRetention() { migrate(connection); }

    struct Made {
        std::string entity{};
        std::string depends_on{};
        int state = 2;
        bool open = false;
    };
    JobId add(JobId id, const Made& made) {
        const auto text = [](const std::string& value) {
            return value.empty() ? "NULL" : "'" + value + "'";
        };
        connection.execute(
            "INSERT INTO job (id, tenant, queue, type, priority, created_at, max_attempts, "
            "timeout, retry_on_timeout, run_despite_failure, payload_digest, head_hash, payload, "
            "entity_type, entity_id, depends_on) VALUES (" +
            std::to_string(id.value) +
            ", 't', 'q', 'x', 0, 0, 1, 0, false, false, '', '', '1', 'site', " + text(made.entity) +
            ", " + text(made.depends_on) + ")");
        if (made.open) {
            connection.execute("INSERT INTO open_dependency SELECT job_number_in(needed), " +
                               std::to_string(id.value) + " FROM unnest(string_to_array(" +
                               text(made.depends_on) + ", ',')) needed");
            return id;
        }
        connection.execute(
            "INSERT INTO done (id, state, completed_at, attempt, log_seq, event_seq, "
            "head_hash) VALUES (" +
            std::to_string(id.value) + ", " + std::to_string(made.state) + ", " +
            std::to_string(to_micros(noon)) + ", 1, 0, 3, '')");
        return id;
    }
    JobId add(const Made& made) { return add({first_id_at(noon).value + ++added}, made); }

    // Drops windows twenty weeks later, when jobs are kept for ten.
    DroppedWindows drop(const Retention& retention = Retention(10 * week)) {
        return drop_ended_windows(connection, noon + 20 * week, retention);
    }

    const std::string url = fresh_database();
    Connection connection{{.url = url}};
    const Timestamp noon = server_now(connection);
    const std::string date =
        to_rfc3339(from_micros(1'577'836'800'000'000) + window_of(first_id_at(noon)) * week)
            .substr(0, 10);
    int added = 0;

    bool is_dropped(const DroppedWindows& dropped) const {
        return std::find(dropped.dates.begin(), dropped.dates.end(), date) != dropped.dates.end();
    }
};

TEST_F(PostgresRetention, DropsAWindowInWhichNothingIsNeeded) {
    add({});

    const DroppedWindows dropped = drop();

    EXPECT_TRUE(is_dropped(dropped));
    EXPECT_EQ(dropped.past_below, JobId{}) << "nothing is left to be removed job by job";
}

TEST_F(PostgresRetention, LeavesAWindowThatAGateMayAskFor) {
    const JobId id = add({.entity = "e1"});

    const DroppedWindows dropped = drop();

    EXPECT_FALSE(is_dropped(dropped));
    EXPECT_GT(dropped.past_below, id) << "what can go of it goes job by job";
}

TEST_F(PostgresRetention, DropsAWindowWithFailuresOfAnEntity) {
    add({.entity = "e1", .state = 3});

    EXPECT_TRUE(is_dropped(drop()));
}

TEST_F(PostgresRetention, LeavesAWindowThatAnOpenJobDependsOn) {
    const JobId needed = add({});
    const JobId later = first_id_at(noon + week);
    add(later, {.depends_on = std::to_string(needed.value), .open = true});

    EXPECT_FALSE(is_dropped(drop()));
    connection.execute("DELETE FROM open_dependency");
    EXPECT_TRUE(is_dropped(drop()));
}

TEST_F(PostgresRetention, LeavesAWindowWithAnOutcomeThatIsNone) {
    add({.state = 9});

    EXPECT_FALSE(is_dropped(drop())) << "the row is damaged";
}

TEST_F(PostgresRetention, LeavesAWindowAsLongAsItsKeysAreRemembered) {
    add({});
    connection.execute("INSERT INTO idempotency VALUES ('t', 'k', " +
                       std::to_string(to_micros(noon)) + ", '', '1')");

    EXPECT_FALSE(is_dropped(drop()));
    connection.execute("DELETE FROM idempotency");
    EXPECT_TRUE(is_dropped(drop()));
}

TEST_F(PostgresRetention, LeavesAWindowWithAnOutcomeThatIsKeptForLonger) {
    add({.state = 2});
    add({.state = 3});
    Retention retention(10 * week);
    retention.set(JobState::failed, 30 * week);

    EXPECT_FALSE(is_dropped(drop(retention)));
    retention.set(JobState::failed, 11 * week);
    EXPECT_TRUE(is_dropped(drop(retention)));
}

// With the settings of a committer, and with statistics of an empty queue as with those of a full
// one. A few rows are read for each of ten jobs, and no others.
TEST_F(PostgresRetention, ReadsNoMoreOfTheTablesThanItAsksFor) {
    const std::int64_t first = first_id_at(noon).value;
    connection.execute(
        "INSERT INTO job (id, tenant, queue, type, priority, created_at, max_attempts, timeout, "
        "retry_on_timeout, run_despite_failure, payload_digest, head_hash, payload, depends_on, "
        "idempotency_key) SELECT " +
        std::to_string(first) +
        " + n, 't', 'q', 'x', 0, 0, 1, 0, false, false, '', '', '1', CASE WHEN n > 10000 THEN (" +
        std::to_string(first) +
        " + n - 10000)::text END, 'k' || n FROM generate_series(1, 20000) n;"
        "INSERT INTO done (id, state, completed_at, attempt, log_seq, event_seq, head_hash) "
        "SELECT id, 2, 0, 1, 0, 3, '' FROM job WHERE depends_on IS NULL;"
        "INSERT INTO open_dependency SELECT depends_on::int8, id FROM job "
        "WHERE depends_on IS NOT NULL AND depends_on::int8 > " +
        std::to_string(first) +
        " + 100;"
        "INSERT INTO idempotency SELECT tenant, idempotency_key, 0, '', id FROM job "
        "WHERE depends_on IS NOT NULL;"
        "INSERT INTO event SELECT id, 1, 0, NULL, 0, 0, NULL, 0, 0, 'a', NULL, '' FROM job;"
        "INSERT INTO log SELECT id, 1, 0, 0, 0, 0, 'line', NULL FROM job");
    std::vector<JobId> free;
    std::vector<JobId> needed;
    for (int n = 1; n <= 10; ++n) free.push_back({first + n});
    for (int n = 101; n <= 110; ++n) needed.push_back({first + n});
    const auto step = [&] {
        Connection committer({.url = url, .works_on_queue = true});
        Cluster cluster({url}, "test");
        committer.begin();
        Work work(committer, cluster, 0, {}, noon);
        PostgresArchive archive(work);
        EXPECT_EQ(archive.ended({}, JobId{first + 11}, 500).size(), 10u);
        EXPECT_EQ(archive.unneeded(free), free);
        EXPECT_EQ(archive.unneeded(needed), std::vector<JobId>{});
        archive.remove(free);
        const Result read = committer.ask({"", R"sql(
SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int8 FROM pg_stat_xact_user_tables)sql"});
        const std::int64_t rows = Row(read, 0).integer();
        committer.roll_back();
        return rows;
    };

    EXPECT_LT(step(), 500) << "without statistics";
    connection.execute_alone("ANALYZE");
    EXPECT_LT(step(), 500) << "with statistics";
}

TEST_F(PostgresRetention, IsSeenFromOutside) {
    add({.state = 2});
    add({.state = 3});
    BacklogQuestion question{
        .now = noon + 20 * week, .idempotency_memory = 24h, .retention = Retention(10 * week)};
    question.retention.set(JobState::failed, 0s);

    const DutyBacklog seen = look_at_backlog(connection, question);

    EXPECT_EQ(seen.old_jobs, 1);
    EXPECT_EQ(seen.leases, 0);
    EXPECT_EQ(seen.old_windows, 3);
    EXPECT_EQ(seen.next_windows, 0);
}

}  // namespace retention_test
}  // namespace sluice::postgres
