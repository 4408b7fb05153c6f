// The database goes away, fails over, or kills backends in the middle of commits. Clients wait a
// little or get 503, their answers are true, and all goes on by itself afterwards.
#include <gtest/gtest.h>

#include <functional>
#include <future>

#include "e2e/cli.hpp"
#include "e2e/fault_proxy.hpp"
#include "e2e/outage_load.hpp"
#include "e2e/postgres_server.hpp"
#include "infrastructure/postgres/connection/connection.hpp"

namespace sluice::e2e {
namespace postgres_outage_test {

constexpr Millis soon(5000);
constexpr Millis longest_answer(10'000);
// Each connection finds out for itself that a host is silent.
constexpr Millis all_have_moved(60'000);

class PostgresOutage : public testing::Test {
  protected:
    // Takes the database away for a while, with clients at work.
    void ride_out(const std::function<void()>& take_away, Millis time,
                  const std::function<void()>& bring_back);

    // Makes each commit, or each insert of a job, take a moment.
    void slow_down(const std::string& event, const std::string& table, const std::string& when) {
        server.execute(
            "CREATE FUNCTION public.dawdle() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN PERFORM pg_sleep(0.3); RETURN NEW; END $$; CREATE TRIGGER dawdle BEFORE " +
            event + " ON " + table + " FOR EACH ROW " + when + " EXECUTE FUNCTION public.dawdle()");
    }
    void slow_down_commits() {
        slow_down("UPDATE", "seat", "WHEN (NEW.commits = OLD.commits + 1)");
    }
    void slow_down_inserts() { slow_down("INSERT", "job", ""); }
    bool has_slow_one() const {
        return server.ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") > 0;
    }
    std::int64_t jobs() const { return server.ask("SELECT count(*) FROM job"); }

    // Submits a job and calls `meanwhile` while its commit is under way.
    Response submit_during(const Engine& engine, const std::function<void()>& meanwhile) {
        auto answer = std::async(std::launch::async,
                                 [port = engine.port()] { return Api(port, "q").try_submit({}); });
        EXPECT_TRUE(eventually([&] { return has_slow_one(); }));
        meanwhile();
        return answer.get();
    }

    PostgresServer server;
};

bool submits(std::uint16_t port) {
    return Api(port, "probe").try_submit({}).status == 202;
}

void expect_not_available(std::uint16_t port, const std::string& path) {
    const auto start = std::chrono::steady_clock::now();
    const Response response = Client(port).get(path);
    EXPECT_LT(since(start), longest_answer) << path;
    EXPECT_EQ(response.status, 503) << path << response.body;
    EXPECT_NE(response.header("Retry-After"), "") << path;
}

void PostgresOutage::ride_out(const std::function<void()>& take_away, Millis time,
                              const std::function<void()>& bring_back) {
    Engine engine(server.url());
    Api api(engine.port(), "parked");
    const std::string id = api.submit_id({{"queue", "probe"}});
    api.http.send(request_text("POST", "/api/v1/leases", api.claim_text({{"wait_ms", 30'000}})));
    OutageLoad load(engine.port(), {.with_keys = 8, .workers = 8});
    ASSERT_TRUE(eventually([&] { return load.accepted() > 500; }));

    const auto start = std::chrono::steady_clock::now();
    take_away();
    const std::vector<std::string> paths{"/readyz", "/api/v1/jobs/" + id, "/api/v1/jobs?limit=5"};
    in_parallel(
        3, [&](int i) { expect_not_available(engine.port(), paths[static_cast<std::size_t>(i)]); });
    EXPECT_EQ(Client(engine.port()).get("/healthz").status, 200);
    std::this_thread::sleep_for(std::max(Millis(0), time - since(start)));
    EXPECT_GT(load.refused(), 0);
    bring_back();

    EXPECT_TRUE(eventually([&] { return submits(engine.port()); }, soon));
    EXPECT_TRUE(
        eventually([&] { return Client(engine.port()).get("/readyz").status == 200; }, soon));
    Api(engine.port(), "parked").submit();
    const auto parked = api.http.receive(soon);
    ASSERT_TRUE(parked);
    EXPECT_EQ(list(expect_ok(*parked), "leases").size(), 1u);
    const int before = load.accepted();
    EXPECT_TRUE(eventually([&] { return load.accepted() > before + 100; }, soon));
    load.stop();
    EXPECT_EQ(engine.stop(), 0) << engine.process().errors();
    load.expect_all_kept(server);
}

TEST_F(PostgresOutage, OfACrashedServerIsRiddenOut) {
    ride_out([&] { server.halt(); }, Millis(4000), [&] { server.resume(); });
}

TEST_F(PostgresOutage, OfAFrozenServerIsRiddenOut) {
    ride_out([&] { server.freeze(); }, Millis(8000), [&] { server.thaw(); });
}

TEST_F(PostgresOutage, OfBackendsAtRandomIsHardlyNoticed) {
    Engine engine(server.url());
    OutageLoad load(engine.port(), {.with_keys = 4, .without_keys = 8, .workers = 4});
    ASSERT_TRUE(eventually([&] { return load.accepted() > 100; }));
    int killed = 0;
    const auto start = std::chrono::steady_clock::now();
    while (since(start) < Millis(5000)) {
        killed += static_cast<int>(
            server.ask("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                       "WHERE application_name LIKE 'sluice%'"));
        std::this_thread::sleep_for(Millis(20));
    }
    const int before = load.accepted();
    EXPECT_TRUE(eventually([&] { return load.accepted() > before + 100; }, soon));
    load.stop();

    std::printf("%d backends killed\n", killed);
    EXPECT_GT(killed, 100);
    EXPECT_GT(load.accepted(), 10 * load.refused());
    EXPECT_EQ(engine.stop(), 0) << engine.process().errors();
    load.expect_all_kept(server);
}

TEST_F(PostgresOutage, BeforeACommitHasItRunAgain) {
    const Engine engine(server.url());
    slow_down_commits();

    const Response answer = submit_during(engine, [&] {
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
    });

    EXPECT_EQ(answer.status, 202) << answer.body;
    EXPECT_EQ(jobs(), 1);
}

TEST_F(PostgresOutage, AfterACommitIsSeenThrough) {
    FaultProxy proxy(server.port());
    const Engine engine(PostgresServer::url_through({proxy.port()}));
    slow_down_commits();

    const Response answer = submit_during(engine, [&] {
        proxy.swallow_answers();
        EXPECT_TRUE(eventually([&] { return jobs() == 1; }));
        proxy.cut();
    });

    EXPECT_EQ(answer.status, 202) << answer.body;
    EXPECT_EQ(jobs(), 1);
}

// The client has lost the connection, and the server does not know.
TEST_F(PostgresOutage, DuringACommitWaitsForItsEnd) {
    FaultProxy proxy(server.port());
    const Engine engine(PostgresServer::url_through({proxy.port()}));
    slow_down_commits();

    const Response answer = submit_during(engine, [&] { proxy.abandon(); });

    EXPECT_EQ(answer.status, 202) << answer.body;
    EXPECT_EQ(jobs(), 1);
}

TEST_F(PostgresOutage, LongBeforeACommitShutsItOutForGood) {
    FaultProxy proxy(server.port());
    const Engine engine(PostgresServer::url_through({proxy.port()}));
    Api(engine.port(), "q").submit();  // from now on a submit reads nothing before its commit
    slow_down_inserts();

    const Response answer = submit_during(engine, [&] { proxy.abandon(); });

    EXPECT_EQ(answer.status, 202) << answer.body;
    EXPECT_TRUE(eventually([&] { return !has_slow_one(); }));
    EXPECT_EQ(jobs(), 2);
}

// The server accepts connections and then sends nothing: each answer must come before two such
// waits are over.
TEST_F(PostgresOutage, OfAServerThatTakesConnectionsOnlyIsNotWaitedForTwice) {
    const Engine engine(server.url());
    slow_down_inserts();
    server.execute(
        "CREATE OR REPLACE FUNCTION public.dawdle() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN LOOP BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END; "
        "END LOOP; END $$");

    OutageLoad load(engine.port(), {.without_keys = 4});
    EXPECT_TRUE(eventually([&] { return load.refused() >= 16; }, Millis(40'000)));
    server.execute(
        "CREATE OR REPLACE FUNCTION public.dawdle() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RETURN NEW; END $$; "
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
    EXPECT_TRUE(eventually([&] { return submits(engine.port()); }, longest_answer));
}

TEST_F(PostgresOutage, OfOneHostIsLeftBehind) {
    FaultProxy first(server.port());
    FaultProxy second(server.port());
    Engine engine(PostgresServer::url_through({first.port(), second.port()}));
    OutageLoad load(engine.port(), {.with_keys = 4, .workers = 4});
    ASSERT_TRUE(eventually([&] { return load.accepted() > 100; }));

    first.close_down();
    first.cut();

    EXPECT_TRUE(eventually([&] { return submits(engine.port()); }, soon));
    const int before = load.accepted();
    EXPECT_TRUE(eventually([&] { return load.accepted() > before + 100; }, soon));
    load.stop();
    EXPECT_EQ(engine.stop(), 0) << engine.process().errors();
    load.expect_all_kept(server);
}

TEST_F(PostgresOutage, IsNotRiskedOnAServerThatMayForget) {
    for (const char* setting : {"full_page_writes", "synchronous_commit"}) {
        server.execute(std::string("ALTER SYSTEM SET ") + setting + " = off");
        server.execute("SELECT pg_reload_conf()");
        ASSERT_TRUE(eventually([&] {
            return server.ask("SELECT count(*) FROM pg_settings WHERE name = '" +
                              std::string(setting) + "' AND setting = 'off'") == 1;
        }));

        const Ended refused =
            run_sluice({"serve", "--no-auth", "--listen", "127.0.0.1:0", "--store", server.url()});

        EXPECT_EQ(refused.code, 1) << setting;
        EXPECT_NE(refused.errors.find(setting), std::string::npos) << refused.errors;
        server.execute(std::string("ALTER SYSTEM RESET ") + setting);
        server.execute("SELECT pg_reload_conf()");
    }
}

TEST_F(PostgresOutage, OfOneHostThatFallsSilentIsLeftBehind) {
    FaultProxy first(server.port());
    FaultProxy second(server.port());
    Engine engine(PostgresServer::url_through({first.port(), second.port()}));
    OutageLoad load(engine.port(), {.with_keys = 4, .workers = 4});
    ASSERT_TRUE(eventually([&] { return load.accepted() > 100; }));

    first.freeze();

    EXPECT_TRUE(eventually([&] { return submits(engine.port()); }, longest_answer));
    const int before = load.accepted();
    EXPECT_TRUE(eventually([&] { return load.accepted() > before + 100; }, all_have_moved));
    first.thaw();  // late bytes arrive after all
    load.stop();
    EXPECT_EQ(engine.stop(), 0) << engine.process().errors();
    load.expect_all_kept(server);
}

TEST_F(PostgresOutage, ThatLooksHopelessIsRiddenOut) {
    Engine engine(server.url());
    postgres::Connection administrator({.url = server.url(), .application_name = "test"});
    administrator.execute(
        "ALTER ROLE sluice NOLOGIN; SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name LIKE 'sluice%'");

    expect_not_available(engine.port(), "/readyz");
    expect_not_available(engine.port(), "/api/v1/jobs?limit=5");
    EXPECT_TRUE(engine.is_running());
    administrator.execute("ALTER ROLE sluice LOGIN");
    EXPECT_TRUE(eventually([&] { return submits(engine.port()); }, soon));
}

TEST_F(PostgresOutage, AtTheStartIsWaitedFor) {
    server.halt();
    Process engine(
        {SLUICE_BINARY, "serve", "--no-auth", "--listen", "127.0.0.1:0", "--store", server.url()});
    const auto first = engine.read_line(soon);
    ASSERT_TRUE(first) << engine.errors();
    EXPECT_TRUE(has(*first, "the database does not answer yet")) << *first;
    EXPECT_TRUE(has(*first, "Connection refused")) << *first;

    server.resume();

    const auto second = engine.read_line(soon);
    ASSERT_TRUE(second) << engine.errors();
    EXPECT_TRUE(has(*second, "serving")) << *second;
    engine.send_signal(SIGTERM);
    EXPECT_EQ(engine.wait(Millis(15'000)), 0);
}

TEST_F(PostgresOutage, ThatCanNeverEndIsNotWaitedFor) {
    const std::string url = server.url();
    const auto start = std::chrono::steady_clock::now();
    const Ended ended =
        run_sluice({"serve", "--no-auth", "--store", url.substr(0, url.rfind('/')) + "/nowhere"});
    EXPECT_LT(since(start), soon);
    EXPECT_EQ(ended.code, 1);
    EXPECT_TRUE(has(ended.errors, "database \"nowhere\" does not exist")) << ended.errors;
}

}  // namespace postgres_outage_test
}  // namespace sluice::e2e
