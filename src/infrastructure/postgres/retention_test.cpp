// Retention on a database: what goes with its window, and what is left to be removed job by job.
#include <gtest/gtest.h>

#include "infrastructure/postgres/backlog.hpp"
#include "infrastructure/postgres/clock_row.hpp"
#include "infrastructure/postgres/migrations.hpp"
#include "infrastructure/postgres/windows.hpp"
#include "support/postgres.hpp"

namespace sluice::postgres {
namespace {

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
        if (made.open) return id;
        connection.execute(
            "INSERT INTO done (id, state, completed_at, attempt, log_seq, event_seq, "
            "head_hash) VALUES (" +
            std::to_string(id.value) + ", " + std::to_string(made.state) + ", " +
            std::to_string(to_micros(noon)) + ", 1, 0, 3, '')");
        return id;
    }
    JobId add(const Made& made) { return add({first_id_at(noon).value + ++added}, made); }

    // Twenty weeks later, when jobs are kept for ten.
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
    connection.execute("DELETE FROM job WHERE id = " + std::to_string(later.value));
    EXPECT_TRUE(is_dropped(drop()));
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

}  // namespace
}  // namespace sluice::postgres
