#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>

#include "domain/jobs/ids.hpp"
#include "infrastructure/sqlite/database/connection.hpp"
#include "infrastructure/sqlite/database/migrations.hpp"
#include "infrastructure/sqlite/database/statement.hpp"
#include "tests/support/builders.hpp"

// jobs and job_history, which people read with SQL.
namespace sluice::sqlite {
namespace views_test {

namespace fs = std::filesystem;

constexpr JobId some{910777000807890945};  // 2026-11-18T06:22:38.411Z

// One job in each state, from `some` on: queued, running, and then the ended ones.
constexpr const char* six_jobs = R"sql(
WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 5)
INSERT INTO job (id, tenant, queue, type, priority, created_at, dependencies, max_attempts, timeout,
    retry_on_timeout, run_despite_failure, payload_digest, head_hash, payload)
SELECT 910777000807890945 + n, 'default', 'q', 't', 3, 1794982958410637, 0, 4, 60000000, 0, 0,
    x'ab', x'ab', '{"password":"hush"}' FROM n;
INSERT INTO dependency VALUES (910777000807890946, 910777000807890945);
INSERT INTO lease SELECT id, 10, 'worker-1', 1794982958500000, 1794982999000000, 1, 0, 0, 0, 2,
    NULL, 50, 'half', 'OLD', 'of the lease', NULL, 0, 2, x'ab', NULL
FROM job WHERE id IN (910777000807890946, 910777000807890948);
INSERT INTO done (id, state, started_at, completed_at, attempt, error_code, log_seq, event_seq,
    head_hash)
SELECT id, id - 910777000807890945, 1794982958500000, 1794982960000001, 1,
    CASE id WHEN 910777000807890950 THEN 'JOB_TIMEOUT' END, 0, 3, x'ab'
FROM job WHERE id > 910777000807890946;
INSERT INTO event VALUES
    (910777000807890945, 1, 0, NULL, 0, 1, NULL, 1794982958410637, 0, 'user:ada', NULL, x'ab'),
    (910777000807890945, 2, 1, 0, 1, 1, 255, 1794982958410637, 0, 'worker:w', NULL, x'ab');
)sql";

class SqliteViews : public testing::Test {
  protected:
    SqliteViews() {
        fs::remove_all(folder);
        fs::create_directories(folder);
        writer = open_writer(folder / "jobs.db", 0);
        migrate(writer.get(), embedded_migrations(), at(0));
        execute(writer.get(), six_jobs);
    }
    ~SqliteViews() override {
        writer.reset();
        fs::remove_all(folder);
    }

    std::vector<std::string> ask(const std::string& query) {
        Statement statement(writer.get(), query);
        std::vector<std::string> rows;
        while (statement.next_row()) rows.emplace_back(statement.text(0));
        return rows;
    }
    std::vector<std::string> jobs(const std::string& column) {
        return ask("SELECT coalesce(" + column + ", '-') FROM jobs ORDER BY number");
    }

    std::string plan_of(const std::string& query) {
        Statement statement(writer.get(), "EXPLAIN QUERY PLAN " + query);
        std::string steps;
        while (statement.next_row()) steps += std::string(statement.text(3)) + '\n';
        return steps;
    }

    fs::path folder = fs::temp_directory_path() / ("sluice-views-" + std::to_string(getpid()));
    Connection writer;
};

using Rows = std::vector<std::string>;

TEST_F(SqliteViews, ShowLiveAndEndedJobsInBothVocabularies) {
    EXPECT_EQ(jobs("status"),
              (Rows{"pending", "running", "succeeded", "failed", "canceled", "timed_out"}));
    EXPECT_EQ(jobs("state"),
              (Rows{"queued", "running", "succeeded", "failed", "cancelled", "failed"}));
}

TEST_F(SqliteViews, ShowHowAJobStands) {
    EXPECT_EQ(jobs("attempt"), (Rows{"0", "2", "1", "1", "1", "1"}));
    EXPECT_EQ(jobs("error_code"), (Rows{"-", "OLD", "-", "-", "-", "JOB_TIMEOUT"}))
        << "what a lease says of a job that has ended is not how the job stands";
    EXPECT_EQ(jobs("locked_by"), (Rows{"-", "worker-1", "-", "worker-1", "-", "-"}));
    EXPECT_EQ(jobs("depends_on")[1], to_text(some));
}

TEST_F(SqliteViews, HaveTimesAsTheApiWritesThem) {
    EXPECT_EQ(jobs("created_at")[2], "2026-11-18T06:22:38.410Z");
    EXPECT_EQ(jobs("started_at")[1], "2026-11-18T06:22:38.500Z");
    EXPECT_EQ(jobs("run_after")[0], "2026-11-18T06:22:38.410Z");
    EXPECT_EQ(jobs("completed_at"),
              (Rows{"-", "-", "2026-11-18T06:22:40.000Z", "2026-11-18T06:22:40.000Z",
                    "2026-11-18T06:22:40.000Z", "2026-11-18T06:22:40.000Z"}));
}

TEST_F(SqliteViews, NameJobsAsTheApiDoes) {
    EXPECT_EQ(jobs("id")[0], to_text(some));
    EXPECT_EQ(jobs("lease_id")[1], to_text(LeaseId{JobId{some.value + 1}, LeaseToken{10}}));
}

TEST_F(SqliteViews, TellAJobsHistoryInWords) {
    EXPECT_EQ(
        ask("SELECT seq || ' ' || event || ' ' || coalesce(from_status, '-') || ' ' || "
            "to_status || ' ' || actor || ' ' || coalesce(lease_id, '-') "
            "FROM job_history WHERE job_id = '" +
            to_text(some) + "' ORDER BY seq"),
        (Rows{"1 submitted - pending user:ada -",
              "2 claimed pending running worker:w " + to_text(LeaseId{some, LeaseToken{255}})}));
}

TEST_F(SqliteViews, CannotBeWrittenThrough) {
    for (const char* change : {"UPDATE jobs SET queue = 'x'", "DELETE FROM job_history"}) {
        EXPECT_NE(sqlite3_exec(writer.get(), change, nullptr, nullptr, nullptr), SQLITE_OK)
            << change;
    }
}

TEST_F(SqliteViews, FindAJobAndTheNewestOnesByTheirIndexes) {
    for (const char* query : {"SELECT * FROM jobs WHERE number = 5",
                              "SELECT id FROM jobs WHERE number >= 5 ORDER BY number DESC LIMIT 20",
                              "SELECT * FROM job_history WHERE number = 5 ORDER BY seq"}) {
        const std::string plan = plan_of(query);
        for (const char* dear : {"SCAN j", "SCAN e", "SCAN d", "SCAN l", "SCAN r", "TEMP B-TREE"}) {
            EXPECT_EQ(plan.find(dear), std::string::npos) << plan;
        }
    }
    EXPECT_EQ(plan_of("SELECT id FROM jobs ORDER BY number DESC LIMIT 20").find("TEMP B-TREE"),
              std::string::npos);
}

}  // namespace views_test
}  // namespace sluice::sqlite
