#include "infrastructure/postgres/statements/job_queries.hpp"

#include <gtest/gtest.h>

#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/postgres/statements/list_query.hpp"
#include "infrastructure/postgres/statements/postgres_reader.hpp"
#include "tests/support/postgres.hpp"

// How PostgreSQL plans lists in a deep archive; their results are also in tests/contract.
namespace sluice::postgres {
namespace job_queries_test {

// Jobs 1 to 5000 have ended, each hundredth of them badly; all but the first seven. The worker of
// one job has not stopped yet.
constexpr const char* deep_archive = R"sql(
INSERT INTO job
SELECT n, CASE n % 1000 WHEN 0 THEN 'acme' ELSE 'default' END, 'q', 't', 0, n, NULL,
    CASE n % 1000 WHEN 1 THEN '3:gpu' END, CASE n % 1000 WHEN 2 THEN 's' END, NULL, NULL, NULL,
    1, 0, NULL, false, false, CASE n % 1000 WHEN 6 THEN 'p' END, NULL,
    CASE n % 1000 WHEN 3 THEN 'e' END, NULL,
    CASE n % 1000 WHEN 4 THEN 'c' END, CASE n % 1000 WHEN 5 THEN 1 END, sha256(''), sha256(''), '1'
FROM generate_series(1, 5000) n;
INSERT INTO done SELECT id, CASE id % 100 WHEN 0 THEN 3 ELSE 2 END, 1, 1, 1, NULL, NULL,
    NULL, NULL, NULL, NULL, 0, 2, sha256(''), project,
    CASE WHEN project IS NOT NULL OR entity_id IS NOT NULL THEN type END, NULL,
    CASE WHEN id % 100 <> 0 THEN '7:default0:1:' || entity_id END FROM job WHERE id > 7;
INSERT INTO lane (id, tenant, queue, type) VALUES (1, 'default', 'q', 't');
INSERT INTO ready VALUES (1, 0, 1), (1, 0, 2);
INSERT INTO timed VALUES (9, 3, 1, 0);
INSERT INTO parked VALUES ('default', 'k', 1, 0, 4, '1:k');
INSERT INTO blocker VALUES (3, 5, 1, 0), (4, 5, 1, 1);
INSERT INTO lease SELECT n, n, 'w', 1, 1, 1, false, 0, 0, 1, NULL, NULL, NULL, NULL, NULL,
    NULL, 0, 2, sha256(''), NULL, n > 7 FROM unnest('{6,7,4001}'::int8[]) n;
ANALYZE;
)sql";

class PostgresJobQueries : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        options.url = fresh_database();
        Connection connection(options);
        migrate(connection);
        connection.execute(deep_archive);
    }

    std::vector<std::int64_t> list(const JobFilter& filter, std::int64_t before = 9999,
                                   int limit = 50) {
        std::vector<std::int64_t> ids;
        for (const Job& job : reader.list(filter, JobId{before}, limit)) {
            ids.push_back(job.spec->id.value);
        }
        return ids;
    }

    // The plan of the list's first page, without nodes that found nothing.
    std::string plan(const JobFilter& filter, ListDriver driver) {
        return plan_of(list_query(filter, driver, {newest, JobId{}}, 50));
    }

    std::string plan_of(const ListQuery& query) {
        const std::string text = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + query.text;
        const Result rows = connection.ask({"", text}, query.params);
        connection.sync();
        std::string steps;
        for (int i = 0; i < rows.rows(); ++i) {
            const std::string step = Row(rows, i).text();
            if (step.find("actual rows=0 ") == std::string::npos &&
                step.find("never executed") == std::string::npos) {
                steps += step + '\n';
            }
        }
        return steps;
    }

    static inline ConnectOptions options;  // one database for all
    Connection connection{options};
    PostgresReader reader{options};
};

using Ids = std::vector<std::int64_t>;

TEST_F(PostgresJobQueries, FindsUnfinishedJobsWhereverTheyWait) {
    EXPECT_EQ(list({.states = {JobState::queued}}), (Ids{5, 4, 3, 2, 1}));
    EXPECT_EQ(list({.states = {JobState::queued}}, 9999, 2), (Ids{5, 4}));
    EXPECT_EQ(list({.states = {JobState::queued}}, 4), (Ids{3, 2, 1}));
    EXPECT_EQ(list({.states = {JobState::queued}, .from = JobId{3}}), (Ids{5, 4, 3}));
    EXPECT_EQ(list({.states = {JobState::queued, JobState::running}}), (Ids{7, 6, 5, 4, 3, 2, 1}));
    EXPECT_EQ(list({.states = {JobState::running}}), (Ids{7, 6}));
    EXPECT_EQ(list({.worker_id = "w"}), (Ids{4001, 7, 6}));
    EXPECT_EQ(list({.worker_id = "x"}), Ids{});
}

TEST_F(PostgresJobQueries, FindsUnfinishedJobsByWhatTheyAre) {
    const std::vector<JobState> queued{JobState::queued};

    EXPECT_EQ(list({.tenant = "", .states = queued}), (Ids{5, 4, 3, 2, 1}));
    EXPECT_EQ(list({.tenant = "acme", .states = queued}), Ids{});
    EXPECT_EQ(list({.states = queued, .type = "t", .queue = "q"}), (Ids{5, 4, 3, 2, 1}));
    EXPECT_EQ(list({.states = queued, .type = "other"}), Ids{});
    EXPECT_EQ(list({.states = queued, .label = "gpu"}), Ids{1});
    EXPECT_EQ(list({.states = queued, .site_id = "s"}), Ids{2});
    EXPECT_EQ(list({.states = queued, .entity_id = "e"}), Ids{3});
    EXPECT_EQ(list({.states = queued, .correlation_id = "c"}), Ids{4});
    EXPECT_EQ(list({.states = queued, .replay_of = JobId{1}}), Ids{5});
    EXPECT_EQ(list({.states = queued, .created_from = from_micros(2)}), (Ids{5, 4, 3, 2}));
    EXPECT_EQ(list({.states = queued, .created_before = from_micros(2)}), Ids{1});
}

TEST_F(PostgresJobQueries, FindsEndedJobs) {
    EXPECT_EQ(list({.states = {JobState::failed}}, 9999, 3),
              (Ids{4900, 4800, 4700}));  // 5000 is of acme
    EXPECT_EQ(list({.states = {JobState::succeeded}}, 9999, 3), (Ids{4999, 4998, 4997}));
    EXPECT_EQ(list({.states = {JobState::timed_out}}), Ids{});
    EXPECT_EQ(list({.tenant = "acme", .states = {JobState::failed}}, 9999, 2), (Ids{5000, 4000}));
    EXPECT_EQ(list({.tenant = "acme", .states = {JobState::succeeded}}), Ids{});
    EXPECT_EQ(list({.states = {JobState::succeeded}, .site_id = "s"}, 9999, 2), (Ids{4002, 3002}));
    EXPECT_EQ(list({}, 9999, 3), (Ids{4999, 4998, 4997}));
}

TEST_F(PostgresJobQueries, FindsJobsInTheOrderOfTheirIdsAndMoreThanOnce) {
    const std::vector<JobId> ids{JobId{4001}, JobId{77777}, JobId{1}, JobId{4001}, JobId{6}};

    const std::vector<std::optional<Job>> jobs = reader.find(ids);

    ASSERT_EQ(jobs.size(), ids.size());
    EXPECT_FALSE(jobs[1]);
    for (const std::size_t i : {0, 2, 3, 4}) EXPECT_EQ(jobs[i]->spec->id, ids[i]);
    EXPECT_EQ(jobs[0]->now.state, JobState::succeeded);
    EXPECT_TRUE(jobs[0]->lease);
    EXPECT_EQ(jobs[2]->now.state, JobState::queued);
    EXPECT_EQ(jobs[4]->now.state, JobState::running);
    EXPECT_TRUE(reader.find({}).empty());
}

struct Listing {
    JobFilter filter;
    ListDriver driver;
    std::string expected;  // part of the plan
};

TEST_F(PostgresJobQueries, ListsAreDrivenByTheTableOrIndexThatIsShortest) {
    const std::vector<Listing> listings{
        {{}, ListDriver::jobs, "Index Scan Backward using job_"},
        {{.tenant = ""}, ListDriver::jobs, "Index Only Scan Backward using job_"},
        {{.tenant = "acme"}, ListDriver::jobs, "tenant_id_idx"},
        {{.states = {JobState::queued}}, ListDriver::queue, "Seq Scan on ready"},
        {{.states = {JobState::running}}, ListDriver::leases, " on lease l"},
        {{.worker_id = "w"}, ListDriver::leases, " on lease l"},
        {{.states = {JobState::succeeded}}, ListDriver::done, "Scan Backward using done_"},
        {{.states = {JobState::failed, JobState::timed_out}},
         ListDriver::unsuccessful,
         "Scan Backward using done_"},
        {{.tenant = "acme", .states = {JobState::succeeded, JobState::failed}},
         ListDriver::jobs,
         "tenant_id_idx"},
        {{.entity_id = "e"}, ListDriver::jobs, "entity_id_id_idx"},
        {{.states = {JobState::succeeded}, .entity_id = "e"}, ListDriver::jobs, "entity_id_id_idx"},
        {{.states = {JobState::queued}, .site_id = "s"}, ListDriver::jobs, "site_id_id_idx"},
        {{.project = "p"}, ListDriver::jobs, "project_id_idx"},
        {{.states = {JobState::succeeded}, .project = "p"}, ListDriver::jobs, "project_id_idx"},
        {{.type = "t", .project = "p"}, ListDriver::jobs, "project_type_id_idx"},
        {{.states = {JobState::succeeded}, .type = "t", .project = "p"},
         ListDriver::ended_of_type,
         "project_type_state_id_idx"},
        {{.states = {JobState::succeeded, JobState::failed}, .type = "t", .project = "p"},
         ListDriver::ended_of_type,
         "project_type_state_id_idx"},
        {{.states = {JobState::queued}, .type = "t", .project = "p"},
         ListDriver::queue,
         "Seq Scan on ready"},
        {{.correlation_id = "c"}, ListDriver::jobs, "correlation_id_id_idx"},
        {{.replay_of = JobId{1}}, ListDriver::jobs, "replay_of_id_idx"},
    };

    for (const Listing& listing : listings) {
        EXPECT_EQ(driver_of(listing.filter), listing.driver);
        const std::string steps = plan(listing.filter, listing.driver);
        EXPECT_NE(steps.find(listing.expected), std::string::npos) << steps;
        EXPECT_EQ(steps.find("Hash"), std::string::npos) << steps;
        EXPECT_EQ(steps.find("Seq Scan on job"), std::string::npos) << steps;
        EXPECT_EQ(steps.find("Seq Scan on done"), std::string::npos) << steps;
    }
}

// 30,000 ended jobs of one type, of which four failed: only those four are read.
TEST_F(PostgresJobQueries, AListByTypeAndStateDoesNotGrowWithTheProject) {
    connection.execute(R"sql(
INSERT INTO job
SELECT n, 'default', 'q', 'often', 0, n, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, false,
    false, 'big', NULL, NULL, NULL, NULL, NULL, sha256(''), sha256(''), '1'
FROM generate_series(10001, 40000) n;
INSERT INTO done SELECT id, CASE WHEN id < 10005 THEN 3 ELSE 2 END, 1, 1, 1, NULL, NULL,
    NULL, NULL, NULL, NULL, 0, 2, sha256(''), project, type FROM job WHERE id > 10000;
ANALYZE;
)sql");
    const JobFilter failed{.states = {JobState::failed}, .type = "often", .project = "big"};
    const JobFilter bad{
        .states = {JobState::failed, JobState::canceled}, .type = "often", .project = "big"};

    for (const JobFilter& filter : {failed, bad}) {
        EXPECT_EQ(list(filter, 99'999), (Ids{10004, 10003, 10002, 10001}));
        EXPECT_EQ(reader.count(filter), 4);
        for (const ListQuery& query :
             {list_query(filter, ListDriver::ended_of_type, {newest, JobId{}}, 50),
              page_query(filter, 0, 20), count_query(filter)}) {
            const std::string steps = plan_of(query);
            EXPECT_NE(steps.find("project_type_state_id_idx"), std::string::npos) << steps;
            EXPECT_EQ(steps.find("Rows Removed"), std::string::npos) << steps;
        }
    }
}

// 10,000 checks of one entity, of which two succeeded; 5,000 successes of an entity of the same id
// in another tenant, and as many of another kind; and 5,000 other jobs of this one. Only the two,
// and the latest one, are read.
TEST_F(PostgresJobQueries, AnEntitysChecksCostNoMoreBesideManyOthers) {
    connection.execute(R"sql(
INSERT INTO job
SELECT n, CASE WHEN n BETWEEN 60001 AND 65000 THEN 'acme' ELSE 'default' END, 'q',
    CASE WHEN n > 70000 THEN 'other' ELSE 'check' END, 0, n, NULL, NULL, NULL, NULL, NULL, NULL, 1,
    0, NULL, false, false, NULL,
    CASE WHEN n BETWEEN 65001 AND 70000 THEN 'release' ELSE 'changeset' END, 'c1', NULL, NULL,
    NULL, sha256(''), sha256(''), '1'
FROM generate_series(50001, 75000) n;
INSERT INTO done SELECT id, CASE WHEN id BETWEEN 50003 AND 60000 THEN 3 ELSE 2 END, 1, 1, 1, NULL,
    NULL, NULL, NULL, NULL, NULL, 0, 2, sha256(''), NULL, type,
    NULL, CASE WHEN id NOT BETWEEN 50003 AND 60000 THEN octet_length(tenant) || ':' || tenant
        || octet_length(entity_type) || ':' || entity_type || '2:c1' END FROM job WHERE id > 50000;
ANALYZE;
)sql");
    const JobFilter successes{.states = {JobState::succeeded},
                              .type = "check",
                              .entity_type = "changeset",
                              .entity_id = "c1"};
    JobFilter all = successes;
    all.states.clear();

    EXPECT_EQ(list(successes, 99'999), (Ids{50002, 50001}));
    EXPECT_EQ(reader.count(successes), 2);
    EXPECT_EQ(list(all, 99'999, 1), Ids{60000});
    for (const auto& [query, index] :
         {std::pair(list_query(successes, ListDriver::successes, {newest, JobId{}}, 50),
                    "success_for_type_expr_idx"),
          std::pair(list_query(all, ListDriver::jobs_of_entity, {newest, JobId{}}, 1),
                    "type_entity_id_entity_type_tenant_expr_idx")}) {
        const std::string steps = plan_of(query);
        EXPECT_NE(steps.find(index), std::string::npos) << steps;
        EXPECT_EQ(steps.find("Rows Removed"), std::string::npos) << steps;
        EXPECT_EQ(steps.find("Sort Method"), std::string::npos) << steps;
    }
}

TEST_F(PostgresJobQueries, AReaderGoesOnAfterItsConnectionWasKilled) {
    ASSERT_EQ(list({.worker_id = "w"}).size(), 3u);

    for (int i = 0; i < 3; ++i) {
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()");
        EXPECT_EQ(list({.worker_id = "w"}), (Ids{4001, 7, 6}));
    }
}

TEST_F(PostgresJobQueries, AReaderSaysThatTheStoreIsUnavailable) {
    PostgresReader lost({.url = options.url + "_that_is_not_there"});

    EXPECT_THROW(lost.find_one(JobId{1}), StoreUnavailable);
    connection.execute("ALTER TABLE log RENAME TO gone");
    EXPECT_THROW(reader.logs(JobId{1}, 0, 1), StoreUnavailable);
    connection.execute("ALTER TABLE gone RENAME TO log");
    EXPECT_NO_THROW(reader.logs(JobId{1}, 0, 1));
}

}  // namespace job_queries_test
}  // namespace sluice::postgres
