#include <gtest/gtest.h>

#include "domain/jobs/ids.hpp"
#include "infrastructure/postgres/schema/migrations.hpp"
#include "tests/support/postgres.hpp"

// jobs and job_history, which people read with SQL.
namespace sluice::postgres {
namespace views_test {

constexpr JobId some{910777000807890945};  // 2026-11-18T06:22:38.411Z

// One job in each state, from `some` on: queued, running, and then the ended ones.
constexpr const char* six_jobs = R"sql(
INSERT INTO job SELECT 910777000807890945 + n, 'default', 'q', 't', 3, 1794982958410637, NULL, NULL,
    NULL, NULL, NULL, CASE n WHEN 1 THEN '910777000807890945' END, 4, 60000000, NULL, false, false,
    NULL, NULL, NULL, NULL, NULL, NULL, sha256(''), sha256(''), '{"password":"hush"}'
FROM generate_series(0, 5) n;
INSERT INTO lease SELECT id, 10, 'worker-1', 1794982958500000, 1794982999000000, 1, false, 0, 0, 2,
    NULL, 50, 'half', 'OLD', 'of the lease', NULL, 0, 2, sha256(''), NULL, id > 910777000807890946
FROM job WHERE id IN (910777000807890946, 910777000807890948);
INSERT INTO done (id, state, started_at, completed_at, attempt, error_code, error_message, log_seq,
    event_seq, head_hash)
SELECT id, id - 910777000807890945, 1794982958500000, 1794982960000001, 1,
    CASE id WHEN 910777000807890950 THEN 'JOB_TIMEOUT' END, NULL, 0, 3, sha256('')
FROM job WHERE id > 910777000807890946;
INSERT INTO event SELECT id, n, n - 1, CASE n WHEN 2 THEN 0 END, CASE n WHEN 1 THEN 0 ELSE 1 END, 1,
    CASE n WHEN 2 THEN 255 END, 1794982958410637, 0, 'worker:w', NULL, sha256('')
FROM job, generate_series(1, 2) n;
)sql";

class PostgresViews : public testing::Test {
  protected:
    PostgresViews() { connection.execute(six_jobs); }

    // Each row as text, in the order of jobs.
    std::vector<std::string> ask(const std::string& columns, const std::string& rest) {
        const std::string text = "SELECT concat_ws(' ', " + columns + ") " + rest;
        const Result result = connection.ask({"", text});
        connection.sync();
        std::vector<std::string> rows;
        for (int i = 0; i < result.rows(); ++i) rows.push_back(Row(result, i).text());
        return rows;
    }
    std::vector<std::string> jobs(const std::string& columns) {
        return ask(columns, "FROM jobs ORDER BY number");
    }

    std::string plan_of(const std::string& query) {
        const std::string text = "EXPLAIN " + query;
        const Result result = connection.ask({"", text});
        connection.sync();
        std::string plan;
        for (int i = 0; i < result.rows(); ++i) plan += Row(result, i).text() + "\n";
        return plan;
    }

    Connection connection{{.url = migrated_database()}};
};

using Rows = std::vector<std::string>;

TEST_F(PostgresViews, ShowLiveAndEndedJobsInBothVocabularies) {
    EXPECT_EQ(jobs("status"),
              (Rows{"pending", "running", "succeeded", "failed", "canceled", "timed_out"}));
    EXPECT_EQ(jobs("state"),
              (Rows{"queued", "running", "succeeded", "failed", "cancelled", "failed"}));
    EXPECT_EQ(ask("count(*)", "FROM jobs WHERE status = 'failed' AND status::text = 'failed'"),
              Rows{"1"});
    EXPECT_EQ(ask("pg_typeof(status)", "FROM jobs LIMIT 1"), Rows{"job_status"});
}

TEST_F(PostgresViews, ShowHowAJobStandsAndNothingOfItsPayload) {
    EXPECT_EQ(
        jobs("attempt, max_attempts, progress, message, error_code, locked_by"),
        (Rows{"0 4", "2 4 50 half OLD worker-1", "1 4", "1 4 worker-1", "1 4", "1 4 JOB_TIMEOUT"}))
        << "what a lease says of a job that has ended is not how the job stands";
    EXPECT_EQ(ask("to_jsonb(jobs)::text LIKE '%hush%'", "FROM jobs LIMIT 1"), Rows{"f"});
    EXPECT_EQ(jobs("depends_on")[1], to_text(some));
}

TEST_F(PostgresViews, HaveTimesAsTimes) {
    connection.execute("SET TimeZone = 'UTC'");

    EXPECT_EQ(jobs("created_at, started_at, completed_at")[2],
              "2026-11-18 06:22:38.410637+00 2026-11-18 06:22:38.5+00 "
              "2026-11-18 06:22:40.000001+00");
    EXPECT_EQ(jobs("lease_until - locked_at")[1], "00:00:40.5");
}

TEST_F(PostgresViews, NameJobsAsTheApiDoes) {
    for (const JobId id : {some, JobId{0}, JobId{INT64_MAX}, JobId{(1LL << 22) - 1}}) {
        const std::string number = std::to_string(id.value) + "::int8";

        EXPECT_EQ(ask("job_id(" + number + ")", ""), Rows{to_text(id)});
        EXPECT_EQ(ask("job_number('" + to_text(id) + "')", ""), Rows{std::to_string(id.value)});
    }
    EXPECT_EQ(ask("job_number_at('2026-11-18T06:22:38.411Z')", ""),
              Rows{std::to_string(some.value - 1)});
    EXPECT_EQ(jobs("id")[0], to_text(some));
    EXPECT_EQ(jobs("lease_id")[1], to_text(LeaseId{JobId{some.value + 1}, LeaseToken{10}}));
}

TEST_F(PostgresViews, TellAJobsHistoryInWords) {
    EXPECT_EQ(
        ask("seq, event, from_status, to_status, actor, lease_id",
            "FROM job_history WHERE number = job_number('" + to_text(some) + "') ORDER BY seq"),
        (Rows{"1 submitted pending worker:w",
              "2 claimed pending running worker:w " + to_text(LeaseId{some, LeaseToken{255}})}));
}

TEST_F(PostgresViews, CannotBeWrittenThrough) {
    for (const char* change :
         {"UPDATE jobs SET queue = 'x'", "DELETE FROM jobs",
          "INSERT INTO jobs (queue) VALUES ('x')", "UPDATE job_history SET actor = 'x'",
          "DELETE FROM job_history", "INSERT INTO job_history (actor) VALUES ('x')"}) {
        EXPECT_THROW(connection.execute(change), StoreUnavailable) << change;
    }
}

TEST_F(PostgresViews, FindAJobAndTheNewestOnesByTheirIndexes) {
    connection.execute(
        "INSERT INTO job SELECT 910777000907890945 + n, 'default', 'q', 't', 0, 1,"
        "NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, false, false, NULL, NULL,"
        "NULL, NULL, NULL, NULL, sha256(''), sha256(''), '1'"
        "FROM generate_series(1, 20000) n; ANALYZE job");
    for (const char* query :
         {"SELECT * FROM jobs WHERE number = job_number('6afd442e019b000000000001')",
          "SELECT id, status FROM jobs ORDER BY number DESC LIMIT 20",
          "SELECT id, status FROM jobs WHERE number >= job_number_at('2026-11-18T06:22:38Z') "
          "ORDER BY number DESC LIMIT 20",
          "SELECT * FROM job_history WHERE number = job_number('6afd442e019b000000000001')"}) {
        EXPECT_EQ(plan_of(query).find("Seq Scan"), std::string::npos) << plan_of(query);
    }
}

TEST_F(PostgresViews, ShowAJobWhoseDependenciesAreDamaged) {
    connection.execute(
        "UPDATE job SET depends_on = '910777000807890945,x,99999999999999999999,' "
        "WHERE id = 910777000807890946");

    EXPECT_EQ(jobs("depends_on")[1], to_text(some));
}

}  // namespace views_test
}  // namespace sluice::postgres
