// The operator's side of PostgreSQL: migrate, audit, doctor, config and store copy.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "e2e/change_store.hpp"
#include "e2e/cli.hpp"
#include "infrastructure/postgres/connection/connection.hpp"
#include "support/postgres.hpp"

namespace sluice::e2e {
namespace postgres_commands_test {

// The test server accepts every user, with any password.
std::string with_password(std::string url) {
    return url.insert(url.find('@'), ":hush");
}

class PostgresCommands : public testing::Test {
  protected:
    const std::string database = with_password(fresh_database());
    const TempFolder folder;
    const std::string file = "sqlite:" + (folder.path() / "store.db").string();

    Ended on_database(Words words) const {
        words.insert(words.end(), {"--store", database});
        return run_sluice(words);
    }
    Ended copy() const { return run_sluice({"store", "copy", file, database}, Millis(60'000)); }
    void execute(const std::string& text) const {
        postgres::Connection({.url = database}).execute(text);
    }
    std::int64_t ask(const std::string& text) const {
        postgres::Connection connection({.url = database});
        const postgres::Result answer = connection.ask({"", text});
        connection.sync();
        return postgres::Row(answer, 0).integer();
    }
};

void expect_no_password(const Ended& ended) {
    EXPECT_FALSE(has(ended.output, "hush")) << ended.output;
    EXPECT_FALSE(has(ended.errors, "hush")) << ended.errors;
}

TEST_F(PostgresCommands, MigrateADatabaseThatMayBeInUse) {
    const Ended none = on_database({"migrate", "status"});
    EXPECT_EQ(none.code, 6);
    EXPECT_TRUE(has(none.output, "pending")) << none.output;
    EXPECT_TRUE(has(none.errors, "there is no store yet")) << none.errors;

    const Ended up = on_database({"migrate", "up"});
    EXPECT_EQ(up.code, 0) << up.errors;
    expect_no_password(up);
    const Ended status = on_database({"migrate", "status"});
    EXPECT_EQ(status.code, 0);
    EXPECT_TRUE(has(status.output, "0001_jobs")) << status.output;
    EXPECT_FALSE(has(status.output, "pending")) << status.output;

    const Engine engine(database);
    EXPECT_EQ(on_database({"migrate", "up"}).code, 0);
    execute("UPDATE migration SET checksum = 'another'");
    EXPECT_TRUE(has(on_database({"migrate", "status"}).output, "differs"));
    EXPECT_EQ(on_database({"migrate", "up"}).code, 1);
}

TEST_F(PostgresCommands, AuditWhatEnginesHaveWritten) {
    const Ended none = on_database({"audit", "verify"});
    EXPECT_EQ(none.code, 1);
    EXPECT_TRUE(has(none.errors, "has no schema")) << none.errors;
    expect_no_password(none);

    Engine engine(database);
    Api api(engine.port(), "q");
    const Json lease = (api.submit(), api.claim_one());
    expect_ok(api.log(lease, {Fields{{"message", "one"}}}));
    expect_ok(api.succeed(lease));

    const Ended verified = on_database({"audit", "verify"});
    EXPECT_EQ(verified.code, 0) << verified.errors;
    EXPECT_TRUE(has(verified.output, "1 jobs, 3 events")) << verified.output;
    const Ended exported = on_database({"audit", "export", "--logs"});
    EXPECT_EQ(lines_of(exported.output).size(), 1u + 3u + 1u + 1u) << exported.output;

    execute("UPDATE event SET actor = 'somebody else' WHERE seq = 2");
    EXPECT_EQ(on_database({"audit", "verify"}).code, 6);
}

TEST_F(PostgresCommands, SaysWhereJobsAreWithoutThePassword) {
    for (const bool is_new : {true, false}) {
        Process engine(
            {SLUICE_BINARY, "serve", "--no-auth", "--listen", "127.0.0.1:0", "--store", database});
        const auto line = engine.read_line(Millis(20'000));
        ASSERT_TRUE(line) << engine.errors();
        EXPECT_EQ(flag(parse(*line), "new_store"), is_new);
        EXPECT_FALSE(has(*line, "hush")) << *line;
        EXPECT_TRUE(has(*line, "postgres://127.0.0.1:")) << *line;
        engine.send_signal(SIGTERM);
        EXPECT_EQ(engine.wait(Millis(20'000)), 0);
        EXPECT_FALSE(has(engine.output() + engine.errors(), "hush"));
    }
    const Ended shown = on_database({"config", "show"});
    EXPECT_TRUE(has(shown.output, "store\t\"postgres://127.0.0.1:")) << shown.output;
    expect_no_password(shown);
    const std::string other = "mysql://ada:hush@host/d";
    const Ended unknown = run_sluice({"serve", "--no-auth", "--store", other});
    EXPECT_EQ(unknown.code, 1);
    for (const char* form : {"memory:", "sqlite:PATH", "postgres://"}) {
        EXPECT_TRUE(has(unknown.errors, form)) << unknown.errors;
    }
    expect_no_password(unknown);
}

TEST_F(PostgresCommands, DoctorLooksAtTheDatabaseAndItsNodes) {
    const Ended early = on_database({"doctor", "--listen", "127.0.0.1:1"});
    EXPECT_EQ(early.code, 0) << early.output;
    EXPECT_TRUE(has(early.output, "will be made at the first start")) << early.output;
    expect_no_password(early);

    Engine engine(database);
    const auto has_duty = [&] {
        return has(on_database({"doctor", "--json"}).output, "2 committers, and has the duty");
    };
    EXPECT_TRUE(eventually(has_duty)) << on_database({"doctor"}).output;
    const Ended seen = on_database({"doctor"});
    EXPECT_EQ(seen.code, 0) << seen.output;
    for (const char* what : {"PostgreSQL 1", "durability", "autovacuum is on", "in use",
                             "the database's differs by"}) {
        EXPECT_TRUE(has(seen.output, what)) << what << "\n" << seen.output;
    }
}

TEST_F(PostgresCommands, DoctorFindsWhatIsWrongWithTheDatabase) {
    const std::string name = database.substr(database.rfind('/') + 1);
    execute("ALTER DATABASE " + name + " SET synchronous_commit = off");
    const Ended hasty = on_database({"doctor"});
    EXPECT_EQ(hasty.code, 1);
    EXPECT_TRUE(has(hasty.output, "synchronous_commit = off")) << hasty.output;

    const Ended silent = run_sluice({"doctor", "--store", "postgres://ada:hush@127.0.0.1:1/d"});
    EXPECT_EQ(silent.code, 1);
    EXPECT_TRUE(has(silent.output, "postgres://127.0.0.1:1/d")) << silent.output;
    expect_no_password(silent);
    EXPECT_EQ(run_sluice({"doctor", "--store", "mysql://h/d"}).code, 1);
}

TEST_F(PostgresCommands, DoctorFindsSessionsThatItsRoleCouldNotEnd) {
    const Engine engine(database);
    const std::string guest = "guest_of_" + database.substr(database.rfind('/') + 1);
    execute("CREATE ROLE " + guest + " LOGIN; GRANT USAGE ON SCHEMA orchestrator TO " + guest +
            "; GRANT SELECT ON ALL TABLES IN SCHEMA orchestrator TO " + guest);
    const std::string theirs = "postgres://" + guest + database.substr(database.find('@'));

    const Ended seen = run_sluice({"doctor", "--store", theirs});
    EXPECT_TRUE(has(seen.output, "grant them pg_signal_backend")) << seen.output;
    execute("GRANT pg_signal_backend TO " + guest);
    const Ended granted = run_sluice({"doctor", "--store", theirs});
    EXPECT_FALSE(has(granted.output, "pg_signal_backend")) << granted.output;
    execute("DROP OWNED BY " + guest + "; DROP ROLE " + guest);
}

TEST_F(PostgresCommands, StoreCopyMovesAnEngine) {
    std::string waiting;
    Json lease;
    {
        Engine engine(file);
        Api api(engine.port(), "q");
        lease = (api.submit({{"exclusive_keys", {"door"}}}), api.claim_one());
        expect_ok(api.log(lease, {Fields{{"message", "before"}}}));
        waiting = api.submit_id({{"exclusive_keys", {"door"}}});
        const Ended busy = copy();
        EXPECT_EQ(busy.code, 1);
        EXPECT_TRUE(has(busy.errors, "in use by another process")) << busy.errors;
        EXPECT_EQ(engine.stop(), 0);
    }

    const Ended copied = copy();

    ASSERT_EQ(copied.code, 0) << copied.errors;
    EXPECT_TRUE(has(copied.output, "2 jobs, 3 events, 1 log lines")) << copied.output;
    EXPECT_EQ(copied.errors, "") << "no talk where there is no terminal";
    expect_no_password(copied);
    {
        Engine engine(database);
        Api api(engine.port(), "q");
        EXPECT_TRUE(api.claim().empty()) << "the key is held";
        expect_ok(api.log(lease, {Fields{{"message", "after"}}}));
        expect_ok(api.succeed(lease));
        EXPECT_EQ(job_of(api.claim_one()), waiting);
        EXPECT_EQ(api.logs(job_of(lease)).size(), 2u);
        EXPECT_EQ(engine.stop(), 0);
    }
    EXPECT_EQ(on_database({"audit", "verify"}).code, 0);
    const Ended again = copy();
    EXPECT_EQ(again.code, 1);
    EXPECT_TRUE(has(again.errors, "the target has jobs")) << again.errors;
}

TEST_F(PostgresCommands, StoreCopyThatIsKilledLeavesNothing) {
    {
        Engine engine(file);
        Api api(engine.port(), "q");
        const Json lease = (api.submit(), api.claim_one());
        expect_ok(api.log(lease, {Fields{{"message", "one"}}}));
        EXPECT_EQ(engine.stop(), 0);
    }
    ASSERT_EQ(on_database({"migrate", "up"}).code, 0);
    {
        postgres::Connection obstacle({.url = database});
        obstacle.begin();
        obstacle.execute("LOCK TABLE log IN ACCESS EXCLUSIVE MODE");
        Process copying({SLUICE_BINARY, "store", "copy", file, database});
        const char* const count_waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted";
        ASSERT_TRUE(eventually([&] { return ask(count_waiting) > 0; }));
        copying.send_signal(SIGKILL);
        ASSERT_TRUE(copying.wait(Millis(10'000)));
    }
    EXPECT_EQ(ask("SELECT count(*) FROM job"), 0);
    EXPECT_TRUE(eventually([&] { return copy().code == 0; })) << copy().errors;
    EXPECT_EQ(ask("SELECT count(*) FROM job"), 1);
}

TEST_F(PostgresCommands, StoreCopyBlamesADamagedSource) {
    {
        Engine engine(file);
        Api api(engine.port(), "q");
        api.submit();
        expect_ok(api.succeed(api.claim_one()));
        EXPECT_EQ(engine.stop(), 0);
    }
    change_store(file, "UPDATE event SET actor = 'somebody else' WHERE seq = 2");

    const Ended refused = copy();

    EXPECT_EQ(refused.code, 1);
    EXPECT_TRUE(has(refused.errors, "the source is damaged")) << refused.errors;
    EXPECT_TRUE(has(refused.errors, "sluice audit verify")) << refused.errors;
    EXPECT_EQ(ask("SELECT count(*) FROM job"), 0);
}

TEST_F(PostgresCommands, StoreCopyRefusesWhatItCannotCopy) {
    const Ended no_source = copy();
    EXPECT_EQ(no_source.code, 1);
    EXPECT_TRUE(has(no_source.errors, "there is no store at")) << no_source.errors;
    for (const Words& way : {Words{database, file}, Words{file, "sqlite:other.db"},
                             Words{"memory:", database}, Words{database, database}}) {
        const Ended refused = run_sluice({"store", "copy", way.at(0), way.at(1)});
        EXPECT_EQ(refused.code, 1) << way.at(0);
        expect_no_password(refused);
    }
    EXPECT_EQ(run_sluice({"store", "copy", file}).code, 2);
    ASSERT_EQ(run_sluice({"migrate", "up", "--store", file}).code, 0);
    const Ended silent = run_sluice({"store", "copy", file, "postgres://ada:hush@127.0.0.1:1/d"});
    EXPECT_EQ(silent.code, 1);
    expect_no_password(silent);
}

}  // namespace postgres_commands_test
}  // namespace sluice::e2e
