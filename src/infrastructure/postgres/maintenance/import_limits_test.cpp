// How store copy copies rules, their meters and sources; see import_test.cpp for the rest.
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>
#include "application/limits/change_limits.hpp"

#include "infrastructure/postgres/maintenance/import.hpp"
#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/sqlite/reading/stopped_store.hpp"
#include "infrastructure/sqlite/store/sqlite_store.hpp"
#include "support/commit.hpp"
#include "support/limit_builders.hpp"
#include "support/test_database.hpp"
#include "support/test_engine.hpp"

namespace sluice::postgres {
namespace import_limits_test {

using namespace std::chrono_literals;
using namespace limit_builders;

namespace fs = std::filesystem;

class ImportLimitsTest : public testing::Test {
  protected:
    ImportLimitsTest() {
        fs::remove_all(folder);
        fs::create_directories(folder);
    }
    ~ImportLimitsTest() override { fs::remove_all(folder); }

    static void put(TestEngine& engine, LimitRule rule) {
        rule.id.clear();
        const auto answer = engine.ask(ChangeLimits{.decide = [&](EntityChanges& changes) {
            return put_rule(changes, rule, {.actor = "ops", .reason = "a test"});
        }});
        ASSERT_TRUE(answer) << answer.error().message;
    }
    static std::vector<Job> start(Store& store, std::int64_t token, Timestamp now) {
        return commit(store, [&](Session& session) {
            const LeaseStore::Wanted wanted{&anything, 9};
            std::vector<Job> jobs = session.leases().take({&wanted, 1}, now).front();
            for (Job& job : jobs) job = running(job, {.token = ++token, .now = now});
            session.leases().open(jobs);
            return jobs;
        });
    }
    static void finish(Store& store, JobId id) {
        commit(store, [&](Session& session) {
            session.reserve({.leased = {id}});
            const Job over = ended(session.jobs().find_one(id).value(), JobState::succeeded, at(2));
            session.jobs().finish({&over, 1});
            return 0;
        });
    }

    const fs::path folder =
        fs::temp_directory_path() / ("sluice-import-limits-" + std::to_string(getpid()));
    const fs::path path = folder / "jobs.db";
    TestDatabase target;
};

TEST_F(ImportLimitsTest, RulesHoldInTheCopyAndTheirMetersGoOn) {
    LimitRule quota{.kind = LimitKind::quota, .per = {Dimension::tenant}};
    quota.rate = hourly_rate(1, 1);
    JobId first{};
    {
        SqliteStore source(path, at(0));
        TestEngine engine(source);
        put(engine, at_most_per({Dimension::tenant}, 1));
        put(engine, quota);
        for (int i = 0; i < 6; ++i) {
            JobSpec made = from_source(0, "s");
            made.tenant = i % 2 == 0 ? "acme" : "zeta";
            engine.submit(made);
        }
        const Claimed claimed = engine.claim(anything, 9);
        ASSERT_EQ(claimed.size(), 2u);
        first = claimed.front().spec->id;
    }
    {
        sqlite::StoppedStore source(path);
        import_store(source, {target.url()}, [](ImportStage, const Imported&) {});
    }

    const auto store = target.open();

    EXPECT_EQ(store->reader()->limits().limit_rules()->all().size(), 2u);
    commit(*store, [](Session& session) {
        EXPECT_TRUE(session.limits().check_meters(false).empty());
        const std::vector<SourceCount> sources = session.limits().sources("acme", at(1));
        EXPECT_EQ(sources.size(), 1u);
        EXPECT_EQ(sources.front().submitted, 3);
        return 0;
    });
    EXPECT_TRUE(start(*store, 2000, at(3700)).empty()) << "each tenant runs one";
    finish(*store, first);
    EXPECT_TRUE(start(*store, 3000, at(3500)).empty()) << "one in an hour";
    EXPECT_EQ(start(*store, 4000, at(3700)).size(), 1u);
}

// A committer that goes by no rules, or by older ones, commits nothing.
TEST_F(ImportLimitsTest, TheSeatsOfTheCopyKnowTheVersionOfTheRules) {
    target.open().reset();  // leaves a seat
    {
        SqliteStore source(path, at(0));
        TestEngine engine(source);
        put(engine, at_most(1));
        put(engine, at_most(2, "zz"));
    }
    {
        sqlite::StoppedStore source(path);
        import_store(source, {target.url()}, [](ImportStage, const Imported&) {});
    }

    const auto first = target.open();
    const auto second = target.open();

    Connection connection({.url = target.url()});
    const Result seats = connection.ask({"", "SELECT rules FROM seat"});
    const std::int64_t version = first->reader()->limits().limit_rules()->version();
    EXPECT_GT(version, 0);
    EXPECT_EQ(seats.rows(), 3);
    for (int i = 0; i < seats.rows(); ++i) EXPECT_EQ(Row(seats, i).integer(), version);
}

TEST_F(ImportLimitsTest, ACopyThatLacksABucketOrASourceIsGivenUp) {
    LimitRule quota{.kind = LimitKind::quota, .per = {Dimension::tenant}};
    quota.rate = hourly_rate(9, 9);
    {
        SqliteStore source(path, at(0));
        TestEngine engine(source);
        put(engine, quota);
        engine.submit(from_source(0, "s"));
        ASSERT_EQ(engine.claim(anything, 1).size(), 1u);
    }
    migrate(ConnectOptions{.url = target.url()});
    for (const char* table : {"meter", "source", "source_hour"}) {
        SCOPED_TRACE(table);
        Connection connection({.url = target.url()});
        const std::string name(table);
        connection.execute(
            "CREATE FUNCTION skip_row() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN RETURN NULL; END'; CREATE TRIGGER skip_row BEFORE INSERT ON " +
            name + " FOR EACH ROW EXECUTE FUNCTION skip_row()");
        sqlite::StoppedStore source(path);
        std::string failure;
        try {
            import_store(source, {target.url()}, [](ImportStage, const Imported&) {});
        } catch (const std::runtime_error& error) {
            failure = error.what();
        }
        EXPECT_NE(failure.find("not the same"), std::string::npos) << failure;
        connection.execute("DROP FUNCTION skip_row() CASCADE");
    }
}

}  // namespace import_limits_test
}  // namespace sluice::postgres
