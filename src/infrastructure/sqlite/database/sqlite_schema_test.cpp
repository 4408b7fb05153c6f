#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include "infrastructure/sqlite/database/connection.hpp"
#include "infrastructure/sqlite/database/insert.hpp"
#include "infrastructure/sqlite/database/migrations.hpp"
#include "infrastructure/sqlite/database/queries.hpp"
#include "infrastructure/sqlite/database/statement.hpp"
#include "infrastructure/sqlite/reading/entity_queries.hpp"
#include "infrastructure/sqlite/reading/list_query.hpp"
#include "infrastructure/sqlite/store/sqlite_store.hpp"
#include "tests/support/builders.hpp"

// Settings, migrations, and the plans of every query.
namespace sluice::sqlite {
namespace sqlite_schema_test {

namespace fs = std::filesystem;

class SqliteSchemaTest : public testing::Test {
  protected:
    SqliteSchemaTest() {
        fs::remove_all(folder);
        fs::create_directories(folder);
        writer = open_writer(path, 0);
    }
    ~SqliteSchemaTest() override {
        writer.reset();
        fs::remove_all(folder);
    }

    void migrate_all() { migrate(writer.get(), embedded_migrations(), at(0)); }

    static std::string read(const Connection& connection, const std::string& sql) {
        Statement query(connection.get(), sql);
        return query.next_row() ? std::string(query.text(0)) : "";
    }

    // One line per step of the plan.
    std::string plan(std::string_view sql) {
        Statement query(writer.get(), "EXPLAIN QUERY PLAN " + std::string(sql));
        std::string steps;
        while (query.next_row()) steps += std::string(query.text(3)) + '\n';
        return steps;
    }

    static std::string message_of(const std::function<void()>& work) {
        try {
            work();
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    }

    fs::path folder = fs::temp_directory_path() / ("sluice-schema-" + std::to_string(getpid()));
    fs::path path = folder / "jobs.db";
    Connection writer;
};

// ── settings ──

TEST_F(SqliteSchemaTest, TheWriterIsDurable) {
    EXPECT_EQ(read(writer, "PRAGMA journal_mode"), "wal");
    EXPECT_EQ(read(writer, "PRAGMA synchronous"), "2");
    EXPECT_EQ(read(writer, "PRAGMA journal_size_limit"), "67108864");
    EXPECT_EQ(read(writer, "PRAGMA wal_autocheckpoint"), "0");
    EXPECT_EQ(read(writer, "PRAGMA foreign_keys"), "0");
}

TEST_F(SqliteSchemaTest, AReaderCannotWriteOrCheckpoint) {
    migrate_all();
    const Connection reader = open_reader(path);

    EXPECT_EQ(read(reader, "PRAGMA query_only"), "1");
    EXPECT_EQ(read(reader, "PRAGMA wal_autocheckpoint"), "0");
    EXPECT_ANY_THROW(execute(reader.get(), "DELETE FROM meta"));
}

TEST_F(SqliteSchemaTest, RefusesAFileThatDoesNotHonourASetting) {
    const std::string message = message_of([] { open_writer(":memory:", 0); });

    EXPECT_NE(message.find("journal_mode"), std::string::npos) << message;
}

TEST_F(SqliteSchemaTest, NamesAFileThatItCannotOpen) {
    const std::string message = message_of([&] { open_writer(folder, 0); });

    EXPECT_NE(message.find(folder.string()), std::string::npos) << message;
}

// ── migrations ──

constexpr Migration first{1, "0001_first", "CREATE TABLE a (x); CREATE TABLE b (x);"};
constexpr Migration second{2, "0002_second", "CREATE TABLE c (x);"};
constexpr Migration broken{2, "0002_broken", "CREATE TABLE d (x); CREATE TABLE a (x);"};

TEST_F(SqliteSchemaTest, AppliesEachMigrationOnce) {
    const std::vector<Migration> both{first, second};

    migrate(writer.get(), {both.data(), 1}, at(1));
    migrate(writer.get(), both, at(2));
    migrate(writer.get(), both, at(3));

    const std::vector<MigrationStatus> statuses = migration_status(writer.get(), both);
    ASSERT_EQ(statuses.size(), 2u);
    EXPECT_EQ(statuses[0].applied_at, at(1));
    EXPECT_EQ(statuses[1].applied_at, at(2));
    EXPECT_TRUE(statuses[0].matches && statuses[1].matches);
}

TEST_F(SqliteSchemaTest, ShowsWhatIsNotYetApplied) {
    const std::vector<MigrationStatus> statuses = migration_status(path);

    ASSERT_EQ(statuses.size(), embedded_migrations().size());
    EXPECT_EQ(statuses[0].name, "0001_jobs");
    EXPECT_FALSE(statuses[0].applied_at);
}

TEST_F(SqliteSchemaTest, RefusesAMigrationWhoseTextHasChanged) {
    Migration changed = first;
    changed.text = "CREATE TABLE a (x, y);";
    migrate(writer.get(), std::vector{first}, at(0));

    const std::vector<Migration> known{changed, second};
    const std::string message = message_of([&] { migrate(writer.get(), known, at(0)); });

    EXPECT_NE(message.find("0001_first"), std::string::npos) << message;
    EXPECT_EQ(read(writer, "SELECT count(*) FROM sqlite_schema WHERE name = 'c'"), "0");
}

TEST_F(SqliteSchemaTest, RefusesAFileOfANewerVersion) {
    migrate(writer.get(), std::vector{first, second}, at(0));

    const std::string message =
        message_of([&] { migrate(writer.get(), std::vector{first}, at(0)); });

    EXPECT_NE(message.find("newer"), std::string::npos) << message;
    EXPECT_NE(message.find("0002_second"), std::string::npos) << message;
}

TEST_F(SqliteSchemaTest, AFileOfTheFirstVersionGetsEntitiesAndKeepsItsJobs) {
    migrate(writer.get(), embedded_migrations().first(1), at(1));
    execute(writer.get(), "UPDATE meta SET value = 77 WHERE key = 'last_id'");
    writer.reset();

    SqliteStore store(path, at(2));

    EXPECT_EQ(store.last_id(), 77);
    Entity entity;
    entity.key = {"default", "site", "a"};
    entity.number = 78;
    const auto session = store.begin();
    session->entities().put({&entity, 1});
    session->commit();
    EXPECT_EQ(store.reader()->entities().find_one(entity.key), entity);
    for (const MigrationStatus& status : migration_status(path)) {
        EXPECT_EQ(status.applied_at, at(status.number == 1 ? 1 : 2)) << status.name;
    }
}

using SqliteSchemaDeathTest = SqliteSchemaTest;

TEST_F(SqliteSchemaDeathTest, LeavesNothingOfAMigrationThatFails) {
    migrate(writer.get(), std::vector{first}, at(0));

    EXPECT_DEATH(migrate(writer.get(), std::vector{first, broken}, at(0)), "already exists");

    EXPECT_EQ(read(writer, "SELECT count(*) FROM sqlite_schema WHERE name = 'd'"), "0");
}

// ── queries ──

TEST_F(SqliteSchemaTest, EveryQueryPrepares) {
    migrate_all();

    for (const std::string_view query :
         std::initializer_list<std::string_view>{sql::list_dependencies,
                                                 sql::has_open_dependency,
                                                 sql::find_job,
                                                 sql::find_queued_job,
                                                 sql::find_leased_job,
                                                 sql::ids_after,
                                                 sql::delete_requeued,
                                                 sql::insert_unfinished,
                                                 sql::delete_unfinished,
                                                 sql::update_lease,
                                                 sql::delete_lease,
                                                 sql::update_done,
                                                 sql::list_events,
                                                 sql::list_lines,
                                                 sql::find_request,
                                                 sql::put_request,
                                                 sql::forget_requests,
                                                 sql::find_entity,
                                                 sql::put_entity,
                                                 sql::list_entity_events,
                                                 sql::renew_leases,
                                                 sql::list_leases,
                                                 sql::list_unfinished,
                                                 sql::walk_from_low_water,
                                                 sql::read_mark,
                                                 sql::write_mark,
                                                 sql::find_migration_table,
                                                 sql::create_migration_table,
                                                 sql::list_migrations,
                                                 sql::insert_migration}) {
        EXPECT_NO_THROW(Statement(writer.get(), query)) << query;
    }
    for (const std::string_view beginning : std::initializer_list<std::string_view>{
             sql::insert_job, sql::insert_dependency, sql::insert_requeued, sql::insert_lease,
             sql::insert_done, sql::insert_event, sql::insert_line, sql::insert_entity_event}) {
        EXPECT_NO_THROW(Insert(writer.get(), beginning)) << beginning;
    }
}

TEST_F(SqliteSchemaTest, HotQueriesNeverScanOrSort) {
    migrate_all();

    for (const std::string_view query : std::initializer_list<std::string_view>{
             sql::list_dependencies,   sql::has_open_dependency, sql::find_job,
             sql::find_queued_job,     sql::find_leased_job,     sql::ids_after,
             sql::delete_requeued,     sql::delete_unfinished,   sql::update_lease,
             sql::delete_lease,        sql::update_done,         sql::list_events,
             sql::list_lines,          sql::find_request,        sql::forget_requests,
             sql::find_entity,         sql::list_entity_events,  sql::list_unfinished,
             sql::walk_from_low_water, sql::read_mark,           sql::write_mark,
             sql::list_ended,          sql::has_open_dependent,  sql::has_key,
             sql::delete_lines,        sql::delete_events,       sql::delete_dependencies,
             sql::delete_done,         sql::delete_job,          sql::walk_queued_jobs}) {
        const std::string steps = plan(query);
        EXPECT_EQ(steps.find("SCAN"), std::string::npos) << query << '\n' << steps;
        EXPECT_EQ(steps.find("TEMP B-TREE"), std::string::npos) << query << '\n' << steps;
        EXPECT_NE(steps.find("SEARCH"), std::string::npos) << query << '\n' << steps;
    }
}

struct Listing {
    JobFilter filter;
    std::string expected;  // part of the plan
};

TEST_F(SqliteSchemaTest, ListsAreDrivenByTheTableOrIndexThatIsShortest) {
    migrate_all();
    const std::vector<Listing> listings{
        {{}, "SEARCH j USING INTEGER PRIMARY KEY (rowid<?)"},
        {{.tenant = ""}, "SEARCH j USING INTEGER PRIMARY KEY (rowid<?)"},
        {{.tenant = "acme"}, "job_by_tenant (tenant=? AND rowid<?)"},
        {{.states = {JobState::queued}},
         "SEARCH j USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
        {{.states = {JobState::running}}, "SEARCH l USING INTEGER PRIMARY KEY (rowid<?)"},
        {{.worker_id = "w"}, "SEARCH l USING INTEGER PRIMARY KEY (rowid<?)"},
        {{.states = {JobState::succeeded}}, "SEARCH d USING INTEGER PRIMARY KEY (rowid<?)"},
        {{.states = {JobState::failed, JobState::timed_out}},
         "SEARCH d USING COVERING INDEX done_unsuccessful (id<?)"},
        {{.entity_id = "e"}, "job_by_entity (entity_id=? AND rowid<?)"},
        {{.states = {JobState::succeeded}, .entity_type = "t", .entity_id = "e"},
         "job_by_entity (entity_id=? AND rowid<?)"},
        {{.states = {JobState::succeeded}, .type = "t", .entity_type = "k", .entity_id = "e"},
         "done_success (success_for=? AND type=? AND id<?)"},
        {{.tenant = "acme", .type = "t", .entity_type = "k", .entity_id = "e"},
         "job_of_entity (type=? AND entity_id=? AND entity_type=? AND tenant=? AND rowid<?)"},
        {{.project = "p"}, "job_by_project (project=? AND rowid<?)"},
        {{.states = {JobState::queued}, .project = "p"},
         "job_by_project (project=? AND rowid>? AND rowid<?)"},
        {{.states = {JobState::succeeded}, .project = "p"},
         "job_by_project (project=? AND rowid<?)"},
        {{.type = "t", .project = "p"}, "job_by_type (project=? AND type=? AND rowid<?)"},
        {{.states = {JobState::queued}, .type = "t", .project = "p"},
         "SEARCH u USING PRIMARY KEY (project=? AND type=? AND id<?)"},
        {{.states = {JobState::running}, .type = "t", .project = "p"},
         "SEARCH l USING INTEGER PRIMARY KEY (rowid<?)"},
        {{.states = {JobState::succeeded}, .type = "t", .project = "p"},
         "done_by_type (project=? AND type=? AND state=? AND id<?)"},
        {{.states = {JobState::canceled, JobState::timed_out}, .type = "t", .project = "p"},
         "done_by_type (project=? AND type=? AND state=? AND id<?)"},
        {{.states = {JobState::failed}, .type = "t", .project = "p", .entity_id = "e"},
         "job_by_entity (entity_id=? AND rowid<?)"},
        {{.tenant = "acme", .project = "p"}, "job_by_project (project=? AND rowid<?)"},
        {{.project = "p", .entity_id = "e"}, "job_by_entity (entity_id=? AND rowid<?)"},
        {{.project = "p", .site_id = "s"}, "job_by_site (site_id=? AND rowid<?)"},
        {{.site_id = "s"}, "job_by_site (site_id=? AND rowid<?)"},
        {{.correlation_id = "c"}, "job_by_correlation (correlation_id=? AND rowid<?)"},
        {{.replay_of = JobId{1}}, "job_by_replay (replay_of=? AND rowid<?)"},
    };

    for (const Listing& listing : listings) {
        const JobFilter& filter = listing.filter;
        for (const std::string& sql : {list_sql(filter), page_sql(filter), count_sql(filter)}) {
            const std::string steps = plan(sql);
            EXPECT_NE(steps.find(listing.expected), std::string::npos) << sql << '\n' << steps;
            EXPECT_EQ(steps.find("TEMP B-TREE"), std::string::npos) << sql << '\n' << steps;
        }
    }
}

// The steps of a statement are counted, not timed.
TEST_F(SqliteSchemaTest, AListByTypeAndStateDoesNotGrowWithTheProject) {
    migrate_all();
    const auto add_jobs = [&](int from, int to) {
        execute(writer.get(), fmt::format(R"sql(
WITH RECURSIVE n(id) AS (SELECT {} UNION ALL SELECT id + 1 FROM n WHERE id < {})
INSERT INTO job (id, tenant, queue, type, priority, created_at, dependencies, max_attempts, timeout,
    retry_on_timeout, run_despite_failure, project, payload_digest, head_hash, payload)
SELECT id, 'default', 'q', 't', 0, 0, 0, 1, 0, 0, 0, 'p', '', '', '{{}}' FROM n)sql",
                                          from, to)
                                  .c_str());
    };
    // One job waits since the beginning; of the ended ones a few failed.
    const auto end_jobs = [&](int from, int to) {
        execute(writer.get(), fmt::format(R"sql(
INSERT INTO done (id, state, completed_at, attempt, log_seq, event_seq, head_hash, project, type)
SELECT id, CASE WHEN id < 6 THEN 3 ELSE 2 END, 0, 1, 0, 2, '', project, type
FROM job WHERE id BETWEEN {} AND {})sql",
                                          from, to)
                                  .c_str());
    };
    execute(writer.get(), "INSERT INTO unfinished VALUES ('p', 't', 1)");
    const JobFilter queued{.states = {JobState::queued}, .type = "t", .project = "p"};
    const JobFilter failed{.states = {JobState::failed}, .type = "t", .project = "p"};
    const JobFilter canceled{
        .states = {JobState::canceled, JobState::timed_out}, .type = "t", .project = "p"};
    std::int64_t counted = 0;  // steps of SQLite's machine
    const auto steps_of = [&](const JobFilter& filter) {
        counted = 0;
        page_ids(writer.get(), filter, 0, 20);
        count_jobs(writer.get(), filter);
        return counted;
    };
    sqlite3_progress_handler(
        writer.get(), 1,
        [](void* counter) {
            ++*static_cast<std::int64_t*>(counter);
            return 0;
        },
        &counted);
    add_jobs(1, 30);
    end_jobs(2, 30);
    std::vector<std::int64_t> before;
    for (const JobFilter& filter : {queued, failed, canceled}) before.push_back(steps_of(filter));
    add_jobs(31, 30'000);
    end_jobs(31, 30'000);

    EXPECT_EQ(page_ids(writer.get(), queued, 0, 20), (std::vector<JobId>{{1}}));
    EXPECT_EQ(page_ids(writer.get(), failed, 0, 20), (std::vector<JobId>{{5}, {4}, {3}, {2}}));
    std::size_t i = 0;
    for (const JobFilter& filter : {queued, failed, canceled}) {
        EXPECT_EQ(steps_of(filter), before[i++]);
    }
}

TEST_F(SqliteSchemaTest, AFileOfAnOlderVersionListsItsJobsByTypeAndState) {
    migrate(writer.get(), embedded_migrations().first(2), at(1));
    execute(writer.get(), R"sql(
INSERT INTO job (id, tenant, queue, type, priority, created_at, dependencies, max_attempts, timeout,
    retry_on_timeout, run_despite_failure, project, payload_digest, head_hash, payload)
VALUES (1, 'default', 'q', 't', 0, 0, 0, 1, 0, 0, 0, 'p', '', '', '{}'),
       (2, 'default', 'q', 't', 0, 0, 0, 1, 0, 0, 0, 'p', '', '', '{}'),
       (3, 'default', 'q', 't', 0, 0, 0, 1, 0, 0, 0, NULL, '', '', '{}'))sql");
    execute(writer.get(), R"sql(
INSERT INTO done (id, state, completed_at, attempt, log_seq, event_seq, head_hash)
VALUES (2, 3, 0, 1, 0, 2, ''), (3, 3, 0, 1, 0, 2, ''))sql");

    migrate_all();

    const auto listed = [&](JobState state) {
        return page_ids(writer.get(), {.states = {state}, .type = "t", .project = "p"}, 0, 9);
    };
    EXPECT_EQ(listed(JobState::queued), (std::vector<JobId>{{1}}));
    EXPECT_EQ(listed(JobState::failed), (std::vector<JobId>{{2}}));
}

TEST_F(SqliteSchemaTest, ListsOfEntitiesNeverScanOrSort) {
    migrate_all();
    const std::vector<std::pair<EntityFilter, std::string>> listings{
        {{.kind = "k"}, "entity_by_kind (tenant=? AND kind=? AND number<?)"},
        {{.kind = "k", .parent = "p"},
         "entity_by_parent (tenant=? AND kind=? AND parent=? AND number<?)"},
        {{.kind = "k", .parent = "p", .states = {"a", "b"}},
         "entity_by_parent (tenant=? AND kind=? AND parent=? AND number<?)"},
        {{.tenant = ""}, "entity_by_number (number<?)"},
    };

    for (const auto& [filter, expected] : listings) {
        const std::string steps = plan(list_entities_sql(filter));
        EXPECT_NE(steps.find(expected), std::string::npos) << steps;
        EXPECT_EQ(steps.find("TEMP B-TREE"), std::string::npos) << steps;
    }
    const std::string steps = plan(count_entities_sql({.kind = "k", .parent = "p"}));
    EXPECT_NE(steps.find("entity_by_parent (tenant=? AND kind=? AND parent=?)"), std::string::npos)
        << steps;
}

}  // namespace sqlite_schema_test
}  // namespace sluice::sqlite
