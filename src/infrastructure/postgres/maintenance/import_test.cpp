#include "infrastructure/postgres/maintenance/import.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "application/audit/verify_history.hpp"
#include "infrastructure/postgres/cluster/clock_row.hpp"
#include "infrastructure/postgres/schema/former_schema.hpp"
#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/sqlite/reading/stopped_store.hpp"
#include "infrastructure/sqlite/store/sqlite_store.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/test_database.hpp"
#include "tests/support/test_engine.hpp"

namespace sluice::postgres {
namespace import_test {

using namespace std::chrono_literals;

namespace fs = std::filesystem;

const std::string odd_text = std::string("\0\1z 3:abc2:de, ", 15) + unusual_text;

class ImportTest : public testing::Test {
  protected:
    ImportTest() {
        fs::remove_all(folder);
        fs::create_directories(folder);
    }
    ~ImportTest() override { fs::remove_all(folder); }

    std::unique_ptr<Store> open_source() const {
        return std::make_unique<SqliteStore>(path, at(0));
    }

    Imported import() {
        sqlite::StoppedStore source(path);
        return import_store(source, {target.url()}, on_import);
    }

    // The message of the exception that the import throws; "" when it throws none.
    std::string refusal() {
        try {
            import();
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return {};
    }

    std::int64_t count(const std::string& table) {
        Connection connection({.url = target.url()});
        const std::string text = "SELECT count(*) FROM " + table;
        const Result counted = connection.ask({"", text});
        connection.sync();
        return Row(counted, 0).integer();
    }

    std::string source_bytes() const {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    const fs::path folder =
        fs::temp_directory_path() / ("sluice-import-" + std::to_string(getpid()));
    const fs::path path = folder / "jobs.db";
    TestDatabase target;
    OnImport on_import = [](ImportStage, const Imported&) {};
};

JobSpec with_keys(const char* type, std::vector<std::string> keys) {
    JobSpec made = spec(type);
    made.exclusive_keys = std::move(keys);
    return made;
}

JobSpec after(const Job& job, const char* type) {
    JobSpec made = spec(type);
    made.depends_on = {job.spec->id};
    return made;
}

// Submits, and claims this one and no other.
Job start(TestEngine& engine, JobSpec spec) {
    const std::string type = spec.type;
    const std::string tenant = spec.tenant;
    const std::vector<std::string> labels = spec.labels;
    engine.submit(std::move(spec));
    return engine.claim_one({.tenant = tenant, .types = {type}, .labels = labels});
}

void append(TestEngine& engine, const Job& job, const std::string& message) {
    AppendLogs lines{.lease = lease_of(job)};
    lines.entries.push_back({.message = message, .data = R"({"n":1})"});
    lines.entries.push_back({.level = LogLevel::error, .message = "", .line = 7});
    ASSERT_TRUE(engine.ask(std::move(lines)));
}

// A store with jobs at every point of their lives.
struct Life {
    Job running, canceled_under_worker, retried, handed_back, blocked, at_key, timed, odd;
    SubmitJobs once;
    Submitted submitted_once;
};

JobSpec odd_spec() {
    JobSpec made = spec(odd_text);
    made.tenant = made.project = made.queue = made.entity_id = made.site_id = odd_text;
    made.exclusive_keys = {odd_text, "1:a,"};
    made.labels = {"1:a,", odd_text};
    std::sort(made.labels.begin(), made.labels.end());
    made.payload = R"({"text":"\u0000"})";
    made.payload_digest = sha256(made.payload);
    return made;
}

// Most of these changes happened a moment before `now`.
Life live(TestEngine& engine, Timestamp now) {
    Life life;
    engine.submit(spec("old"));
    engine.sleep(now - 10s - engine.now());
    JobSpec retried = spec("retried");
    retried.max_attempts = 3;
    life.retried = start(engine, retried);
    append(engine, life.retried, "first try");
    engine.report(life.retried, Outcome::failed, "E_BROKEN");
    life.handed_back = start(engine, spec("handed_back"));
    engine.hand_back(life.handed_back);
    life.running = start(engine, with_keys("running", {"door"}));
    append(engine, life.running, odd_text);
    life.at_key = engine.submit(with_keys("at_key", {"door"}));
    life.blocked = engine.submit(after(life.running, "blocked"));
    life.canceled_under_worker = start(engine, with_keys("canceled", {"window"}));
    engine.cancel(life.canceled_under_worker.spec->id, "no longer needed");
    JobSpec timed = spec("timed");
    timed.run_after = now + 1h;
    life.timed = engine.submit(timed);
    life.odd = start(engine, odd_spec());
    append(engine, life.odd, odd_text);

    const Job failed = start(engine, spec("failed"));
    engine.report(failed, Outcome::failed, "E_BROKEN");
    Report success = report_of(start(engine, spec("succeeded")), Outcome::succeeded);
    success.result = R"({"sum":42})";
    engine.ask(success);
    engine.replay(success.lease.job);
    engine.cancel(engine.submit(spec("canceled_in_queue")).spec->id);
    engine.submit(after(failed, "after_failed"));
    life.once = submission({spec("once"), spec("once")});
    life.once.idempotency_key = odd_text;
    life.submitted_once = *engine.ask(life.once);
    return life;
}

bool has_all_ended(JobReader& reader) {
    for (const auto& job : reader.find(reader.ids_after({}, 1000))) {
        if (!is_final(job->now.state) || job->lease) return false;
    }
    return true;
}

TEST_F(ImportTest, CopiesEveryKindOfJobAndAnEngineGoesOnWithThem) {
    Connection connection({.url = target.url()});
    const Timestamp now = server_now(connection);
    Life life;
    std::int64_t last_id = 0;
    {
        const auto store = open_source();
        TestEngine engine(*store);
        life = live(engine, now);
        last_id = store->last_id();
    }
    const std::string before = source_bytes();

    const Imported copied = import();

    EXPECT_EQ(copied.jobs, 16);
    EXPECT_EQ(copied.lines, 6);
    EXPECT_EQ(copied.requests, 1);
    EXPECT_EQ(copied.events, count("event"));
    EXPECT_EQ(count("held"), 1 + 1 + 3) << "door, window, and those of the odd one";
    EXPECT_EQ(count("blocker"), 1);
    EXPECT_GE(count("open_dependency"), 1) << "what open jobs depend on is needed";
    EXPECT_EQ(count("timed"), 1);
    EXPECT_EQ(source_bytes(), before);

    const auto store = target.open();
    TestEngine engine(*store);
    engine.sleep(now - engine.now() + 1s);
    const auto reader = store->reader();
    const Job running = engine.find(life.running.spec->id);
    EXPECT_GE(running.lease->until, now + TestEngine::term) << "a fresh term";

    EXPECT_TRUE(engine.claim({.types = {"at_key"}}).empty()) << "the key is held";
    EXPECT_TRUE(engine.claim({.types = {"blocked"}}).empty());
    EXPECT_TRUE(engine.claim({.types = {"timed"}}).empty());
    EXPECT_TRUE(engine.report(life.running, Outcome::succeeded)) << "its worker goes on";
    EXPECT_EQ(engine.claim_one({.types = {"blocked"}}).spec->id, life.blocked.spec->id);
    const Job next = engine.claim_one({.types = {"at_key"}});
    EXPECT_EQ(next.spec->id, life.at_key.spec->id);
    EXPECT_GT(next.lease->token.value, last_id);
    const Job again = engine.claim_one({.types = {"retried"}});
    EXPECT_EQ(again.now.attempt, 2);
    EXPECT_GT(again.lease->token, life.retried.lease->token);
    EXPECT_EQ(engine.find(life.odd.spec->id).spec, life.odd.spec);
    EXPECT_EQ(engine.logs(life.odd.spec->id).at(0).message, odd_text);
    EXPECT_TRUE(engine.report(life.odd, Outcome::succeeded));
    EXPECT_EQ(engine.claim_one({.types = {"handed_back"}}).now.attempt, 1);

    const auto repeated = engine.ask(life.once);
    ASSERT_TRUE(repeated);
    EXPECT_TRUE(repeated->repeated);
    EXPECT_EQ(ids_of(repeated->jobs), ids_of(life.submitted_once.jobs));
    EXPECT_GT(engine.submit(spec("new")).spec->id.value, last_id);

    engine.advance(2h);  // leases run out, and timed jobs are due
    for (int round = 0; round < 20 && !has_all_ended(*reader); ++round) {
        for (const Job& job :
             engine.claim({.any_tenant = true, .labels = life.odd.spec->labels}, 100)) {
            engine.report(job, Outcome::succeeded);
        }
        engine.advance(1h);
    }
    EXPECT_TRUE(has_all_ended(*reader));
    const Verification verified = verify_history(*reader);
    EXPECT_FALSE(verified.first_break()) << verified.first_break()->what;
    EXPECT_EQ(verified.jobs, 17);
}

TEST_F(ImportTest, CopiesMoreThanOnePage) {
    {
        const auto store = open_source();
        TestEngine engine(*store);
        for (int i = 0; i < 3; ++i) engine.submit_all(std::vector<JobSpec>(400, spec("many")));
        const Job job = engine.claim_one();
        AppendLogs lines{.lease = lease_of(job)};
        lines.entries.resize(700, {.message = std::string(9000, 'x')});
        ASSERT_TRUE(engine.ask(std::move(lines)));
    }
    std::int64_t checked = 0;
    on_import = [&](ImportStage stage, const Imported& sums) {
        if (stage == ImportStage::checking) checked = sums.jobs;
    };

    const Imported copied = import();

    EXPECT_EQ(copied.jobs, 1200);
    EXPECT_EQ(copied.lines, 700);
    EXPECT_EQ(checked, 1200);
    EXPECT_EQ(count("ready"), 1199);
}

TEST_F(ImportTest, NoticesWhateverDiffersFromTheSource) {
    {
        const auto store = open_source();
        TestEngine engine(*store);
        SubmitJobs once = submission({spec("work")});
        once.idempotency_key = "key";
        ASSERT_TRUE(engine.ask(once));
        const Job job = engine.claim_one();
        append(engine, job, "line");
        engine.report(job, Outcome::succeeded);
    }
    const Imported copied = import();
    sqlite::StoppedStore source(path);
    Connection connection({.url = target.url()});
    const auto check_after = [&](const std::string& change) {
        connection.begin();
        connection.execute(change);
        check_import(source, connection, copied, [](const Imported&) {});
    };

    EXPECT_NO_THROW(check_after("SELECT 1"));
    connection.roll_back();
    for (const char* change :
         {"UPDATE job SET priority = 5", "UPDATE done SET state = 3",
          "UPDATE done SET result = 'x'", "UPDATE event SET actor = 'x' WHERE seq = 2",
          "UPDATE log SET message = 'x' WHERE seq = 1", "DELETE FROM log WHERE seq = 1",
          "DELETE FROM event WHERE seq = 3", "DELETE FROM idempotency"}) {
        EXPECT_THROW(check_after(change), std::runtime_error) << change;
        connection.roll_back();
    }
}

TEST_F(ImportTest, CopiesAnEmptyStore) {
    open_source();
    EXPECT_EQ(import(), Imported{});
}

TEST_F(ImportTest, RefusesATargetThatHasJobsOrAnEngine) {
    open_source();
    {
        const auto store = target.open();
        EXPECT_NE(refusal().find("test node runs on the target"), std::string::npos) << refusal();
        TestEngine engine(*store);
        engine.submit(spec());
    }
    EXPECT_NE(refusal().find("the target has jobs"), std::string::npos) << refusal();
    EXPECT_EQ(count("job"), 1);
}

TEST_F(ImportTest, RefusesASourceThatIsInUse) {
    const auto store = open_source();
    EXPECT_NE(refusal().find("in use by another process"), std::string::npos) << refusal();
}

TEST_F(ImportTest, RefusesASourceWhoseHistoryIsBroken) {
    {
        const auto store = open_source();
        const auto session = store->begin();
        const Arrival arrival{queued(spec(std::int64_t{1} << 40)), false};
        session->jobs().put({&arrival, 1});
        session->commit();
    }
    EXPECT_NE(refusal().find("has no history"), std::string::npos) << refusal();
    EXPECT_EQ(count("job"), 0);
}

TEST_F(ImportTest, RefusesASourceThatIsAheadOfTheDatabasesClock) {
    Connection connection({.url = target.url()});
    {
        const auto store = open_source();
        TestEngine engine(*store);
        engine.sleep(server_now(connection) - engine.now() + 1h);
        engine.submit(spec());
    }
    EXPECT_NE(refusal().find("ahead of the database's clock"), std::string::npos) << refusal();
    EXPECT_EQ(count("job"), 0);
}

TEST_F(ImportTest, LeavesNothingBehindWhenItBreaks) {
    {
        const auto store = open_source();
        TestEngine engine(*store);
        engine.submit_all(std::vector<JobSpec>(1000, spec()));
    }
    for (const ImportStage fatal : {ImportStage::copying, ImportStage::checking}) {
        on_import = [&](ImportStage stage, const Imported&) {
            if (stage != fatal) return;
            Connection killer({.url = target.url()});
            killer.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()");
        };
        EXPECT_NE(refusal(), "");
        EXPECT_EQ(count("job"), 0);
        EXPECT_EQ(count("lane"), 0);
    }
    on_import = [](ImportStage, const Imported&) {};
    EXPECT_EQ(import().jobs, 1000);
}

// To migrate the target would rename that store.
TEST_F(ImportTest, LeavesTheStoreOfAnEarlierVersionAlone) {
    open_source();
    const Database database{fresh_database(), *SchemaName::resolve("staging")};
    Connection connection({.url = database.url});
    migrate({.url = database.url, .schema = former_schema()},
            embedded_migrations().first(last_step_in_former_schema));
    sqlite::StoppedStore source(path);

    EXPECT_THROW(import_store(source, database, on_import), std::runtime_error);

    const Result found = connection.ask(
        {"",
         "SELECT to_regclass('sluice.job') IS NOT NULL AND to_regnamespace('staging') IS NULL"});
    EXPECT_TRUE(Row(found, 0).flag());
}

}  // namespace import_test
}  // namespace sluice::postgres
