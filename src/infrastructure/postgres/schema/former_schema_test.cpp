#include "infrastructure/postgres/schema/former_schema.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/postgres/schema/windows.hpp"
#include "tests/support/postgres.hpp"

namespace sluice::postgres {
namespace former_schema_test {

using namespace std::chrono_literals;

std::span<const Migration> former_steps() {
    return embedded_migrations().first(last_step_in_former_schema);
}

// A database as the earlier version left it: the very text of its steps, with the schema's name in
// the tables and in the function's body.
class PostgresFormerSchema : public testing::Test {
  protected:
    PostgresFormerSchema() {
        connection.execute(
            "CREATE SCHEMA sluice; CREATE TABLE sluice.migration (number integer PRIMARY KEY,"
            "name text NOT NULL, checksum text NOT NULL, applied_at bigint NOT NULL)");
        for (const Migration& step : former_steps()) {
            connection.execute(std::string(step.text));
            connection.send({"",
                             "INSERT INTO sluice.migration VALUES ($1::int4, $2::text,"
                             " $3::text, 1)"},
                            Params(step.number, step.name, checksum_of(step)));
            connection.sync();
        }
        connection.execute(
            "INSERT INTO sluice.lane (id, tenant, queue, type) VALUES (1, 'default', 'q', 't')");
    }

    void add_node(const std::string& renewed_ago) {
        connection.execute(
            "INSERT INTO sluice.seat VALUES (7, 7, 'old@host:7', now() + interval "
            "'2 minutes' - interval '" +
            renewed_ago + "', 0, 0)");
    }

    bool holds(const std::string& condition) {
        const std::string text = "SELECT " + condition;
        const Result result = connection.ask({"", text});
        connection.sync();
        return Row(result, 0).flag();
    }

    static std::string refusal_of(const ConnectOptions& options,
                                  std::span<const Migration> known = embedded_migrations()) {
        try {
            migrate(options, known);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    }

    ConnectOptions in_schema(std::string_view name) const {
        return {.url = options.url, .schema = *SchemaName::resolve(name)};
    }

    const ConnectOptions options{.url = fresh_database()};
    Connection connection{options};
};

TEST_F(PostgresFormerSchema, IsRenamedWithAllThatIsInIt) {
    EXPECT_TRUE(is_in_former_schema(connection));
    connection.sync();

    migrate(connection);

    EXPECT_FALSE(is_in_former_schema(connection));
    connection.sync();
    EXPECT_TRUE(holds("count(*) = 1 FROM orchestrator.lane"));
    EXPECT_TRUE(holds("to_regclass('sluice.job') IS NULL"));
    for (const MigrationStatus& step : migration_status(connection)) {
        EXPECT_TRUE(step.matches && step.applied_at) << step.name;
        EXPECT_EQ(step.applied_at == from_micros(1), step.number <= last_step_in_former_schema);
    }
    ensure_window_for(connection, JobId{(2000LL * 604'800'000) << 22});
    EXPECT_TRUE(holds("to_regclass('orchestrator.job_2000') IS NOT NULL"));
}

TEST_F(PostgresFormerSchema, IsRenamedOnceByFiveNodesThatStartAtOnce) {
    std::vector<std::thread> nodes;
    for (int node = 0; node < 5; ++node) {
        nodes.emplace_back([&] { EXPECT_EQ(refusal_of(options), ""); });
    }
    for (std::thread& node : nodes) node.join();

    EXPECT_TRUE(holds("count(*) = 1 FROM orchestrator.lane"));
}

TEST_F(PostgresFormerSchema, CountsAsAStoreThatLacksTheStepsSince) {
    for (const MigrationStatus& step : migration_status(connection)) {
        EXPECT_TRUE(step.matches) << step.name;
        EXPECT_EQ(step.applied_at.has_value(), step.number <= last_step_in_former_schema);
    }
    EXPECT_TRUE(holds("to_regnamespace('orchestrator') IS NULL"));
}

TEST_F(PostgresFormerSchema, StaysWhileEnginesOfTheEarlierVersionUseIt) {
    add_node("10 seconds");

    const std::string refusal = refusal_of(options);

    EXPECT_NE(refusal.find("old@host:7"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("stop them all"), std::string::npos) << refusal;
    EXPECT_TRUE(holds("to_regnamespace('orchestrator') IS NULL"));
    EXPECT_TRUE(holds("count(*) = 1 FROM sluice.lane"));
}

// A node of the earlier version would go on without the hashes that all events and lines have now.
TEST_F(PostgresFormerSchema, IsNotMigratedBesideSuchEnginesUnderItsOwnNameEither) {
    add_node("10 seconds");

    const std::string refusal = refusal_of(in_schema("sluice"));

    EXPECT_NE(refusal.find("old@host:7"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("stop them all"), std::string::npos) << refusal;
    EXPECT_TRUE(holds("max(number) = 4 FROM sluice.migration"));
    connection.execute("DELETE FROM sluice.seat");
    EXPECT_EQ(refusal_of(in_schema("sluice")), "");
}

TEST_F(PostgresFormerSchema, IsNotHeldByANodeThatDiedAWhileAgo) {
    add_node("20 seconds");

    EXPECT_EQ(refusal_of(options), "");
    EXPECT_TRUE(holds("count(*) = 1 FROM orchestrator.lane"));
}

TEST_F(PostgresFormerSchema, IsNotForgottenBesideAnEmptySchemaOfTheNewName) {
    connection.execute("CREATE SCHEMA orchestrator");

    const std::string refusal = refusal_of(options);

    EXPECT_NE(refusal.find("DROP SCHEMA orchestrator"), std::string::npos) << refusal;
    EXPECT_TRUE(holds("to_regclass('orchestrator.job') IS NULL"));
}

// Otherwise that engine would begin an empty store, beside all jobs.
TEST_F(PostgresFormerSchema, AnEngineOfTheEarlierVersionRefusesToStartAfterTheMove) {
    migrate(connection);

    const std::string refusal = refusal_of(in_schema("sluice"), former_steps());

    EXPECT_NE(refusal.find("newer version"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("moved_to_the_schema_orchestrator"), std::string::npos) << refusal;
}

TEST_F(PostgresFormerSchema, KeepsItsNameWhereThatIsTheSetting) {
    migrate(in_schema("sluice"));

    EXPECT_TRUE(holds("count(*) = 1 FROM sluice.lane"));
    EXPECT_TRUE(holds("to_regclass('sluice.jobs') IS NOT NULL"));
    // That store is there on purpose now: an engine with another setting has its own.
    migrate(in_schema("team_b"));
    EXPECT_TRUE(holds("count(*) = 1 FROM sluice.lane"));
    EXPECT_TRUE(holds("count(*) = 0 FROM team_b.lane"));
}

}  // namespace former_schema_test
}  // namespace sluice::postgres
