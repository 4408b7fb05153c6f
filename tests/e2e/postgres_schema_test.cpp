// The schema of a store on PostgreSQL: under another name, behind PgBouncer, beside others, and of
// an earlier version.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "e2e/cli.hpp"
#include "e2e/pgbouncer.hpp"
#include "infrastructure/postgres/connection/connection.hpp"
#include "support/postgres.hpp"

namespace sluice::e2e {
namespace postgres_schema_test {

class PostgresSchema : public testing::Test {
  protected:
    const std::string database = fresh_database();
    const TempFolder folder;
    const std::string file = "sqlite:" + (folder.path() / "store.db").string();
    const Words in_team_b{"--store-schema", "team_b"};

    Ended on_database(Words words, const std::string& schema = "team_b") const {
        words.insert(words.end(), {"--store", database, "--store-schema", schema});
        return run_sluice(words, Millis(60'000));
    }

    std::int64_t ask(const std::string& text) const {
        postgres::Connection connection({.url = database});
        const postgres::Result answer = connection.ask({"", text});
        connection.sync();
        return postgres::Row(answer, 0).integer();
    }
    bool has_schema(const std::string& name) const {
        return ask("SELECT count(*) FROM pg_namespace WHERE nspname = '" + name + "'") == 1;
    }
};

// A job from its submission to its end, by way of this engine.
std::string run_job(Api& api) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    expect_ok(api.log(lease, {Fields{{"message", "one"}}}));
    expect_ok(api.succeed(lease));
    return id;
}

TEST_F(PostgresSchema, EveryCommandWorksOnAnotherName) {
    EXPECT_EQ(on_database({"migrate", "status"}).code, 6);
    EXPECT_EQ(on_database({"migrate", "up"}).code, 0);
    EXPECT_EQ(on_database({"migrate", "status"}).code, 0);
    std::string id;
    {
        Engine engine(database, in_team_b);
        Api api(engine.port(), "q");
        id = run_job(api);
        EXPECT_TRUE(eventually([&] {
            return has(on_database({"doctor"}).output, "2 committers, and has the duty");
        })) << on_database({"doctor"}).output;
        EXPECT_EQ(engine.stop(), 0);
    }
    const Ended verified = on_database({"audit", "verify"});
    EXPECT_EQ(verified.code, 0) << verified.errors;
    EXPECT_TRUE(has(verified.output, "1 jobs, 3 events")) << verified.output;
    EXPECT_TRUE(has(on_database({"audit", "export"}).output, id));
    EXPECT_TRUE(has(on_database({"config", "show"}).output, "store_schema\t\"team_b\""));
    EXPECT_EQ(on_database({"token", "create", "ada"}).code, 0);

    EXPECT_EQ(
        ask("SELECT count(*) FROM team_b.jobs WHERE status = 'succeeded' AND id = '" + id + "'"),
        1);
    EXPECT_FALSE(has_schema("orchestrator") || has_schema("sluice"));
    const Ended elsewhere = on_database({"audit", "verify"}, "team_c");
    EXPECT_EQ(elsewhere.code, 1);
    EXPECT_TRUE(has(elsewhere.errors, "has no schema \"team_c\"")) << elsewhere.errors;
}

TEST_F(PostgresSchema, StoreCopyFillsTheOneThatIsAskedFor) {
    {
        Engine engine(file);
        Api api(engine.port(), "q");
        run_job(api);
        EXPECT_EQ(engine.stop(), 0);
    }

    const Ended copied =
        run_sluice({"store", "copy", file, database, "--store-schema", "Team_B"}, Millis(60'000));

    ASSERT_EQ(copied.code, 0) << copied.errors;
    EXPECT_EQ(ask("SELECT count(*) FROM team_b.job"), 1);
    EXPECT_FALSE(has_schema("orchestrator"));
    EXPECT_EQ(on_database({"audit", "verify"}).code, 0);
}

TEST_F(PostgresSchema, ANameThatIsNoneIsRefusedWithWhatIsAllowed) {
    for (const char* name : {"pg_jobs", "public", "a-b", "1st"}) {
        const Ended refused = on_database({"migrate", "up"}, name);

        EXPECT_EQ(refused.code, 1);
        EXPECT_TRUE(has(refused.errors, "--store-schema: must be the name of a PostgreSQL schema"))
            << refused.errors;
    }
}

TEST_F(PostgresSchema, AStoreOfTheEarlierVersionIsRenamedVerifiedAndGoesOn) {
    std::ifstream stored(SLUICE_SOURCE_DIR "/tests/fixtures/postgres_step7.sql");
    postgres::Connection({.url = database})
        .execute(std::string(std::istreambuf_iterator<char>(stored), {}));
    const std::string schema = "orchestrator";
    const Ended status = on_database({"migrate", "status"}, schema);
    EXPECT_EQ(status.code, 6);
    EXPECT_TRUE(has(status.output, "0004_jobs_by_type     applied")) << status.output;
    EXPECT_TRUE(has(on_database({"doctor"}, schema).output, "is of an earlier version"));
    const Ended early = on_database({"audit", "verify"}, schema);
    EXPECT_EQ(early.code, 1);
    EXPECT_TRUE(has(early.errors, "sluice migrate up renames it")) << early.errors;

    {
        Engine engine(database);
        Api api(engine.port(), "q");
        run_job(api);
        EXPECT_EQ(engine.stop(), 0);
    }

    const Ended verified = on_database({"audit", "verify"}, schema);
    EXPECT_EQ(verified.code, 0) << verified.errors;
    EXPECT_TRUE(has(verified.output, "13 jobs")) << verified.output;
    EXPECT_EQ(ask("SELECT count(*) FROM jobs"), 13);
    EXPECT_EQ(on_database({"migrate", "status"}, schema).code, 0);
}

TEST_F(PostgresSchema, EnginesOfTwoSchemasShareADatabaseBehindPgBouncer) {
    const PgBouncer pooler;
    const std::string pooled = pooler.url_for(database);
    Engine here(pooled);
    Engine there(pooled, in_team_b);
    Api api_here(here.port(), "q"), api_there(there.port(), "q");

    for (int i = 0; i < 20; ++i) {
        run_job(api_here);
        if (i % 2 == 0) run_job(api_there);
    }

    EXPECT_EQ(ask("SELECT count(*) FROM orchestrator.jobs WHERE status = 'succeeded'"), 20);
    EXPECT_EQ(ask("SELECT count(*) FROM team_b.jobs WHERE status = 'succeeded'"), 10);
    EXPECT_EQ(here.stop(), 0);
    EXPECT_EQ(there.stop(), 0);
    const Ended verified = run_sluice({"audit", "verify", "--store", pooled}, Millis(60'000));
    EXPECT_EQ(verified.code, 0) << verified.errors;
    EXPECT_TRUE(has(verified.output, "20 jobs")) << verified.output;
}

}  // namespace postgres_schema_test
}  // namespace sluice::e2e
