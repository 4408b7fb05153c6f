#include "infrastructure/postgres/connection/connection.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "tests/support/postgres.hpp"

namespace sluice::postgres {
namespace connection_test {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr Query one{"one", "SELECT 1"};
constexpr Query pid{"pid", "SELECT pg_backend_pid()"};
constexpr Query fail{"fail", "SELECT 1 / $1::int4"};
constexpr Query add{"add", "INSERT INTO t SELECT * FROM unnest($1::int8[], $2::text[])"};
constexpr Query count{"count", "SELECT count(*) FROM t"};
constexpr Query lock{"lock", "SELECT a FROM t WHERE a = 1 FOR UPDATE"};

class PostgresConnection : public testing::Test {
  protected:
    PostgresConnection() {
        connection.execute(
            "DROP TABLE IF EXISTS t, u;"
            "CREATE TABLE t (a bigint UNIQUE CHECK (a <> -4711), b text)");
    }

    static const std::string& database() {
        static const std::string url = fresh_database();
        return url;
    }

    ConnectOptions options_with(Millis answer_patience) const {
        return {.url = url, .answer_patience = answer_patience};
    }

    static Params row(std::int64_t a) {
        Columns columns{Type::integer, Type::text};
        columns.add(a, "b");
        return Params(columns);
    }

    static std::int64_t number(const Result& result) { return Row(result, 0).integer(); }

    static std::int64_t ask_now(Connection& on, const Query& query) {
        const Result result = on.ask(query);
        on.sync();
        return number(result);
    }

    // The error of a statement that the server refuses.
    static std::string refusal(Connection& on, const Query& query, const Params& params = {}) {
        try {
            on.ask(query, params);
        } catch (const Refused& refused) {
            return refused.sqlstate();
        }
        return "nothing";
    }

    const std::string& url = database();
    Connection connection{{.url = url, .works_on_queue = true}};
    Connection other{{.url = url}};
};

TEST_F(PostgresConnection, AnswersInTheOrderOfTheQuestions) {
    connection.begin();
    connection.send(add, row(1));
    const auto first = connection.post(count);
    connection.send(add, row(2));
    const auto second = connection.post(count);

    EXPECT_EQ(number(connection.take(first)), 1);
    EXPECT_EQ(number(connection.take(second)), 2);
    connection.commit();
    EXPECT_EQ(ask_now(other, count), 2);
}

TEST_F(PostgresConnection, KeepsAnswersBeyondTheCommit) {
    connection.begin();
    const auto first = connection.post(count);
    connection.send(add, row(1));
    const auto second = connection.post(count);
    connection.commit();

    EXPECT_EQ(number(connection.take(first)), 0);
    EXPECT_EQ(number(connection.take(second)), 1);
}

TEST_F(PostgresConnection, TellsHowManyRowsAStatementChanged) {
    connection.begin();
    connection.send(add, row(1));
    connection.send(add, row(2));
    EXPECT_EQ(connection.ask({"", "UPDATE t SET b = 'c'"}).affected(), 2);
    connection.commit();
}

TEST_F(PostgresConnection, ShowsOthersNothingBeforeTheCommit) {
    connection.begin();
    connection.send(add, row(1));
    EXPECT_EQ(number(connection.ask(count)), 1);
    EXPECT_EQ(ask_now(other, count), 0);

    connection.roll_back();

    EXPECT_EQ(ask_now(connection, count), 0);
}

TEST_F(PostgresConnection, KeepsStatementsBeforeATransactionOutOfIt) {
    connection.send(add, row(1));
    connection.begin();
    connection.send(add, row(2));
    EXPECT_EQ(number(connection.ask(count)), 2);

    connection.roll_back();

    EXPECT_EQ(ask_now(other, count), 1);
}

TEST_F(PostgresConnection, ReadsOneMomentInASnapshot) {
    other.begin_snapshot();
    EXPECT_EQ(number(other.ask(count)), 0);
    connection.begin();
    connection.send(add, row(1));
    connection.commit();

    EXPECT_EQ(number(other.ask(count)), 0);
    EXPECT_THROW(other.ask(add, row(2)), ConnectionLost);  // read only: not the server we meant
    EXPECT_TRUE(other.is_lost());
}

// Both sides send more than the buffers between them hold.
TEST_F(PostgresConnection, SendsAndReceivesMuchInOnePipeline) {
    constexpr int batches = 100, rows = 1000;
    const std::string text(150, 'x');
    constexpr Query echo{"echo",
                         "INSERT INTO t SELECT * FROM unnest($1::int8[], $2::text[]) RETURNING b"};
    Columns columns{Type::integer, Type::text};
    std::vector<Connection::Ticket> tickets;
    connection.begin();
    for (int batch = 0; batch < batches; ++batch) {
        columns.clear();
        for (int i = 0; i < rows; ++i) columns.add(batch * rows + i, text);
        tickets.push_back(connection.post(echo, Params(columns)));
    }

    for (const auto ticket : tickets) ASSERT_EQ(connection.take(ticket).rows(), rows);
    connection.commit();

    EXPECT_EQ(ask_now(other, count), batches * rows);
}

TEST_F(PostgresConnection, SendsManyStatementsInOnePipeline) {
    constexpr int statements = 100'000;
    connection.begin();
    for (int i = 0; i < statements; ++i) connection.send(one);
    connection.send(add, row(1));
    connection.commit();
    EXPECT_EQ(ask_now(other, count), 1);
}

TEST_F(PostgresConnection, GoesOnAfterAnErrorAndARollBack) {
    connection.begin();
    connection.send(add, row(1));
    connection.send(fail, Params(0));
    connection.send(add, row(2));
    EXPECT_EQ(refusal(connection, count), "22012");

    connection.roll_back();

    EXPECT_FALSE(connection.is_lost());
    connection.begin();
    connection.send(add, row(3));
    connection.commit();
    EXPECT_EQ(ask_now(other, count), 1);
}

TEST_F(PostgresConnection, PreparesAgainWhatAnErrorHasSkipped) {
    connection.begin();
    connection.send(fail, Params(0));
    connection.send(add, row(1));  // its first use, which the server never sees
    EXPECT_THROW(connection.commit(), Refused);
    connection.roll_back();

    connection.begin();
    connection.send(add, row(1));
    connection.commit();

    EXPECT_EQ(ask_now(other, count), 1);
    EXPECT_FALSE(connection.is_pooled());
}

TEST_F(PostgresConnection, RefusesToCommitWhatHasFailed) {
    connection.begin();
    connection.send(add, row(1));
    connection.send(fail, Params(0));
    EXPECT_THROW(connection.commit(), Refused);
    connection.roll_back();

    connection.begin();
    EXPECT_THROW(connection.ask(fail, Params(0)), Refused);
    EXPECT_THROW(connection.commit(), Refused);  // without a roll back before
    connection.roll_back();

    // The server takes this COMMIT, and answers that it has rolled back.
    connection.execute("BEGIN");
    EXPECT_THROW(connection.execute("SELECT 1 / 0"), Refused);
    EXPECT_THROW(connection.commit(), Refused);
    EXPECT_EQ(ask_now(other, count), 0);
}

TEST_F(PostgresConnection, ThrowsErrorsOfStatementsThatNobodyAskedAbout) {
    connection.send(fail, Params(0));
    EXPECT_THROW(connection.sync(), Refused);
    EXPECT_EQ(ask_now(connection, count), 0);
}

TEST_F(PostgresConnection, SaysWhatWentWrongInOneLineWithoutTheValues) {
    connection.begin();
    try {
        connection.ask(add, row(-4711));
        FAIL() << "the check has let it pass";
    } catch (const Refused& refused) {
        EXPECT_EQ(refused.sqlstate(), "23514");
        EXPECT_STREQ(refused.what(),
                     "PostgreSQL: new row for relation \"t\" violates check constraint "
                     "\"t_a_check\" (23514)");
    }
    connection.roll_back();
}

TEST_F(PostgresConnection, CallsARowThatIsThereAlreadyAConflict) {
    connection.begin();
    connection.send(add, row(1));
    EXPECT_THROW(connection.ask(add, row(1)), StoreConflict);
    connection.roll_back();
    EXPECT_FALSE(connection.is_lost());
}

TEST_F(PostgresConnection, CallsAFullDiskOfTheServerAFullStore) {
    const char* const full = "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$";
    EXPECT_THROW(connection.execute(full), StoreFull);
}

TEST_F(PostgresConnection, RunsTextWithManyStatements) {
    connection.execute(
        "CREATE TABLE u (a int); INSERT INTO u VALUES (1); INSERT INTO u VALUES (2)");
    EXPECT_EQ(ask_now(connection, {"", "SELECT count(*) FROM u"}), 2);

    EXPECT_THROW(connection.execute("DROP TABLE u; SELECT nonsense"), Refused);

    EXPECT_EQ(ask_now(connection, {"", "SELECT count(*) FROM u"}), 2);
}

TEST_F(PostgresConnection, RunsTextInsideOfATransaction) {
    connection.begin();
    connection.send(add, row(1));
    connection.execute("INSERT INTO t VALUES (2, ''); INSERT INTO t VALUES (3, '')");
    connection.roll_back();
    EXPECT_EQ(ask_now(other, count), 0);
}

TEST_F(PostgresConnection, LosesARaceForALockSoon) {
    connection.begin();
    connection.send(add, row(1));
    connection.commit();
    other.begin();
    other.ask(lock);

    connection.begin();
    const auto start = Clock::now();
    EXPECT_THROW(connection.ask(lock), StoreConflict);
    EXPECT_LT(Clock::now() - start, 2s);

    connection.roll_back();
    EXPECT_FALSE(connection.is_lost());
    other.commit();
    EXPECT_EQ(ask_now(connection, count), 1);
}

// The node was cut off, or stopped, between two statements.
TEST_F(PostgresConnection, LosesItsLocksWhenItSaysNoMoreInATransaction) {
    other.execute(
        "INSERT INTO t VALUES (1, ''); SET idle_in_transaction_session_timeout = '100ms'");
    other.begin();
    other.ask(lock);

    connection.execute("SET lock_timeout = '10s'");
    connection.begin();
    EXPECT_EQ(number(connection.ask(lock)), 1);
    connection.commit();

    EXPECT_THROW(other.ask(one), ConnectionLost);
}

TEST_F(PostgresConnection, IsGivenUpByAServerThatHearsNothingOfItsMachine) {
    constexpr Query limits{"", R"sql(
SELECT concat_ws(' ',
    current_setting('tcp_keepalives_idle'), current_setting('tcp_keepalives_interval'),
    current_setting('tcp_keepalives_count'), current_setting('tcp_user_timeout')))sql"};
    for (Connection* each : {&connection, &other}) {
        const Result set = each->ask(limits);
        each->sync();
        EXPECT_EQ(Row(set, 0).text(), "5 2 2 5000");
    }
}

TEST_F(PostgresConnection, CallsADeadlockAConflict) {
    other.execute("SET deadlock_timeout = '50ms'; INSERT INTO t VALUES (1, ''), (2, '')");
    Connection third{{.url = url}};
    constexpr Query lock_two{"lock_two", "SELECT a FROM t WHERE a = 2 FOR UPDATE"};
    other.begin();
    other.ask(lock);
    third.begin();
    third.ask(lock_two);
    const auto waits = third.post(lock);
    std::thread thread([&] { third.take(waits); });

    EXPECT_THROW(other.ask(lock_two), StoreConflict);

    other.roll_back();
    thread.join();
    third.roll_back();
}

TEST_F(PostgresConnection, IsLostWhenItsBackendIsKilled) {
    const std::int64_t backend = ask_now(connection, pid);
    connection.begin();
    connection.ask(one);
    other.ask({"", "SELECT pg_terminate_backend($1::int4)"}, Params(static_cast<int>(backend)));
    other.sync();

    EXPECT_THROW(connection.ask(one), ConnectionLost);

    EXPECT_TRUE(connection.is_lost());
    connection.roll_back();
    EXPECT_THROW(connection.begin(), ConnectionLost);
    EXPECT_THROW(connection.sync(), ConnectionLost);
}

TEST_F(PostgresConnection, IsLostWhenItsBackendIsKilledAtWork) {
    const auto backend = static_cast<int>(ask_now(connection, pid));
    connection.begin();
    const auto sleep = connection.post({"", "SELECT pg_sleep(5)"});
    std::thread killer([&] {
        other.ask({"", "SELECT pg_sleep(0.1), pg_terminate_backend($1::int4)"}, Params(backend));
    });
    try {
        connection.take(sleep);
        ADD_FAILURE() << "nobody has killed it";
    } catch (const ConnectionLost& lost) {
        EXPECT_NE(std::string(lost.what()).find("(57P01)"), std::string::npos) << lost.what();
    }
    killer.join();
}

TEST_F(PostgresConnection, IsLostWhenItsBackendIsSilent) {
    Connection impatient(options_with(200ms));
    const auto backend = static_cast<pid_t>(ask_now(impatient, pid));
    ASSERT_EQ(kill(backend, SIGSTOP), 0);

    const auto start = Clock::now();
    EXPECT_THROW(impatient.ask(one), ServerSilent);
    EXPECT_LT(Clock::now() - start, 1s);

    EXPECT_TRUE(impatient.is_lost());
    EXPECT_TRUE(impatient.fell_silent());
    kill(backend, SIGCONT);
}

TEST_F(PostgresConnection, GivesUpARollBackThatIsNotAnswered) {
    const auto backend = static_cast<pid_t>(ask_now(connection, pid));
    connection.begin();
    connection.send(one);
    ASSERT_EQ(kill(backend, SIGSTOP), 0);

    const auto start = Clock::now();
    connection.roll_back();

    EXPECT_LT(Clock::now() - start, 3s);
    EXPECT_TRUE(connection.is_lost());
    kill(backend, SIGCONT);
}

TEST_F(PostgresConnection, HasPatienceWithAServerThatKeepsTalking) {
    Connection impatient(options_with(300ms));
    constexpr Query slow{
        "", "SELECT i, repeat('x', 20000), pg_sleep(0.02) FROM generate_series(1, 30) i"};
    EXPECT_EQ(impatient.ask(slow).rows(), 30);
}

}  // namespace connection_test
}  // namespace sluice::postgres
