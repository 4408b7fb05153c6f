#include "infrastructure/postgres/connection/wire.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "tests/support/postgres.hpp"

// How connections begin, which settings they have, and which notifications they receive.
namespace sluice::postgres {
namespace wire_test {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Accepts connections and never answers.
class SilentServer {
  public:
    SilentServer() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
            listen(socket_, 10) != 0 ||
            getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
            throw std::runtime_error("cannot listen");
        }
        port_ = ntohs(address.sin_port);
    }
    ~SilentServer() { stop(); }
    void stop() {
        if (socket_ >= 0) close(socket_);
        socket_ = -1;
    }
    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  private:
    int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int port_ = 0;
};

struct Failure {
    bool is_lost = false;
    std::string text;
};

Failure failure_of(const std::string& url) {
    try {
        Connection connection({.url = url, .connect_patience = 300ms});
    } catch (const ConnectionLost& lost) {
        return {true, lost.what()};
    } catch (const std::runtime_error& error) {
        return {false, error.what()};
    }
    return {false, "nothing"};
}

// The test server's URL with one part replaced by another.
std::string url_with(const std::string& part, const std::string& other) {
    std::string url = test_server_url();
    return url.replace(url.find(part), part.size(), other);
}

std::string server_address() {
    const std::string url = test_server_url();
    const std::size_t begin = url.find('@') + 1;
    return url.substr(begin, url.rfind('/') - begin);
}

std::string setting(Connection& connection, const std::string& name) {
    const Result result = connection.ask({"", "SELECT current_setting($1::text)"}, Params(name));
    connection.sync();
    return Row(result, 0).text();
}

TEST(PostgresConnect, SaysWhatCanNeverWork) {
    Connection connection({.url = test_server_url()});
    const std::string name = "nobody_" + std::to_string(getpid());
    connection.execute("DROP ROLE IF EXISTS " + name + "; CREATE ROLE " + name);

    const Failure no_database = failure_of(url_with("/postgres", "/nowhere"));
    const Failure no_entry = failure_of(url_with("sluice@", name + "@"));

    EXPECT_FALSE(no_database.is_lost);
    EXPECT_EQ(no_database.text,
              "PostgreSQL refuses the connection: database \"nowhere\" does not exist (3D000); "
              "create it: createdb");
    EXPECT_FALSE(no_entry.is_lost);
    EXPECT_EQ(no_entry.text, "PostgreSQL refuses the connection: role \"" + name +
                                 "\" is not permitted to log in (28000)");
    connection.execute("DROP ROLE " + name);
}

TEST(PostgresConnect, RefusesADatabaseWithAnotherEncoding) {
    const std::string url = fresh_database();
    const std::string name = "latin_" + url.substr(url.rfind('/') + 1);
    Connection connection({.url = url});
    connection.execute("CREATE DATABASE " + name +
                       " TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'");

    const Failure failure = failure_of(url_with("/postgres", "/" + name));

    EXPECT_FALSE(failure.is_lost);
    EXPECT_NE(failure.text.find("keeps text as LATIN1"), std::string::npos) << failure.text;
}

TEST(PostgresConnect, RefusesAMalformedUrlWithoutShowingThePassword) {
    for (const char* url :
         {"postgres://ada:secret%zz@127.0.0.1/db", "postgres://ada:se/cret@host/db",
          "postgres://ada@host/db?secret", "secret", "postgres://[secret/db",
          "postgres://ada@host/db?password=x&secret=1"}) {
        const Failure failure = failure_of(url);
        EXPECT_FALSE(failure.is_lost) << url;
        EXPECT_NE(failure.text.find("malformed"), std::string::npos) << url << failure.text;
        EXPECT_EQ(failure.text.find("cret"), std::string::npos) << failure.text;
    }
}

TEST(PostgresConnect, TriesAgainLaterWhenNobodyListens) {
    SilentServer server;
    const std::string address = server.address();
    server.stop();

    const Failure failure = failure_of("postgres://ada:secret@" + address + "/db");

    EXPECT_TRUE(failure.is_lost) << failure.text;
    EXPECT_NE(failure.text.find("Connection refused"), std::string::npos) << failure.text;
    EXPECT_EQ(failure.text.find("secret"), std::string::npos) << failure.text;
}

TEST(PostgresConnect, GivesUpOnASilentServer) {
    const SilentServer server;
    const auto start = Clock::now();
    const Failure failure = failure_of("postgres://ada:secret@" + server.address() + "/db");
    EXPECT_LT(Clock::now() - start, 1s);
    EXPECT_TRUE(failure.is_lost);
    EXPECT_EQ(failure.text, "PostgreSQL at " + server.address() + " has not answered for 300 ms");
}

TEST(PostgresConnect, FindsTheHostThatAnswers) {
    const SilentServer silent;
    SilentServer gone;
    const std::string servers = gone.address() + "," + silent.address() + "," + server_address();
    gone.stop();
    EXPECT_EQ(failure_of(url_with(server_address(), servers)).text, "nothing");
}

TEST(PostgresConnect, PassesOverAServerThatOnlyReads) {
    const std::string url = fresh_database();
    Connection connection({.url = url});
    const std::string name = url.substr(url.rfind('/') + 1);
    connection.execute("ALTER DATABASE " + name + " SET default_transaction_read_only = on");

    const Failure failure = failure_of(url);

    EXPECT_TRUE(failure.is_lost);
    EXPECT_NE(failure.text.find("read-only"), std::string::npos) << failure.text;
}

TEST(PostgresConnect, SetsWhatTheQueueNeeds) {
    Connection queue({.url = test_server_url(), .works_on_queue = true});
    EXPECT_FALSE(queue.is_pooled());
    for (const char* name :
         {"enable_hashjoin", "enable_mergejoin", "enable_bitmapscan", "enable_seqscan", "jit"}) {
        EXPECT_EQ(setting(queue, name), "off") << name;
    }
    EXPECT_EQ(setting(queue, "plan_cache_mode"), "force_generic_plan");
    EXPECT_EQ(setting(queue, "max_parallel_workers_per_gather"), "0");
    EXPECT_EQ(setting(queue, "lock_timeout"), "500ms");
    EXPECT_EQ(setting(queue, "statement_timeout"), "4s");
    EXPECT_EQ(setting(queue, "idle_in_transaction_session_timeout"), "5s");
    EXPECT_EQ(setting(queue, "client_encoding"), "UTF8");
    EXPECT_EQ(setting(queue, "application_name"), "sluice");
}

TEST(PostgresConnect, LeavesThePlansOfOthersAlone) {
    Connection other({.url = test_server_url() + "?application_name=report"});
    EXPECT_EQ(setting(other, "enable_hashjoin"), "on");
    EXPECT_EQ(setting(other, "lock_timeout"), "0");
    EXPECT_EQ(setting(other, "statement_timeout"), "4s");
    EXPECT_EQ(setting(other, "idle_in_transaction_session_timeout"), "1min");
    EXPECT_EQ(setting(other, "application_name"), "report");
}

// As after a pooler has lent the session to another client.
TEST(PostgresConnect, CountsAsPooledWhenItsStatementsVanish) {
    constexpr Query one{"one", "SELECT 1"};
    Connection connection({.url = test_server_url(), .works_on_queue = true});
    connection.ask(one);
    connection.execute("DISCARD ALL");

    EXPECT_THROW(connection.ask(one), StoreConflict);
    connection.roll_back();

    EXPECT_FALSE(connection.is_lost());
    EXPECT_TRUE(connection.is_pooled());
    connection.begin();
    EXPECT_EQ(Row(connection.ask(one), 0).integer(), 1);
    EXPECT_EQ(Row(connection.ask({"", "SELECT current_setting('enable_hashjoin')"}), 0).text(),
              "off");
    connection.commit();
    EXPECT_EQ(setting(connection, "enable_hashjoin"), "on");
}

class PostgresNotifications : public testing::Test {
  protected:
    PostgresNotifications() { listener.execute("LISTEN wire_test"); }
    ~PostgresNotifications() override { close(wake); }

    const std::string url = test_server_url();
    Connection listener{{.url = url}};
    Connection speaker{{.url = url}};
    const int wake = eventfd(0, EFD_CLOEXEC);
};

TEST_F(PostgresNotifications, AreHeard) {
    std::thread thread([&] {
        std::this_thread::sleep_for(50ms);
        speaker.execute("NOTIFY wire_test, 'one'; NOTIFY wire_test, 'two'; NOTIFY other, 'three'");
    });
    const auto heard = listener.wait_for_notifications(5s, wake);
    thread.join();

    ASSERT_EQ(heard.size(), 2u);
    EXPECT_EQ(heard[0].channel, "wire_test");
    EXPECT_EQ(heard[0].payload, "one");
    EXPECT_EQ(heard[1].payload, "two");
}

TEST_F(PostgresNotifications, AreKeptWhileSomethingElseIsAsked) {
    speaker.execute("NOTIFY wire_test, 'one'");
    listener.ask({"", "SELECT 1"});
    listener.sync();
    EXPECT_EQ(listener.wait_for_notifications(5s, wake).size(), 1u);
}

TEST_F(PostgresNotifications, AreWaitedForNoLongerThanAsked) {
    const auto start = Clock::now();
    EXPECT_TRUE(listener.wait_for_notifications(50ms, wake).empty());
    EXPECT_GE(Clock::now() - start, 50ms);
    EXPECT_LT(Clock::now() - start, 1s);
}

TEST_F(PostgresNotifications, AreWaitedForUntilSomebodyWakes) {
    eventfd_write(wake, 1);
    const auto start = Clock::now();
    EXPECT_TRUE(listener.wait_for_notifications(5s, wake).empty());
    EXPECT_LT(Clock::now() - start, 1s);
}

TEST_F(PostgresNotifications, EndWhenTheServerGoes) {
    const Result pid = listener.ask({"", "SELECT pg_backend_pid()"});
    listener.sync();
    speaker.ask({"", "SELECT pg_terminate_backend($1::int4)"}, Params(Row(pid, 0).small()));

    EXPECT_THROW(listener.wait_for_notifications(5s, wake), ConnectionLost);
    EXPECT_TRUE(listener.is_lost());
}

}  // namespace wire_test
}  // namespace sluice::postgres
