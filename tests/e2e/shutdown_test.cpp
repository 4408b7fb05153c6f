// Stopping and starting again.
#include <signal.h>

#include <atomic>
#include <deque>
#include <thread>

#include "e2e/api.hpp"

namespace sluice::e2e {
namespace shutdown_test {

class Shutdown : public testing::Test {
  protected:
    std::string store() const { return "sqlite:" + (folder.path() / "db").string(); }
    TempFolder folder;
};

TEST_F(Shutdown, AnswersWaitingClaimsWithNothingAtOnce) {
    Engine engine(store());
    Api api(engine.port(), "q");
    std::deque<Client> parked;
    for (int i = 0; i < 10; ++i) {
        parked.emplace_back(engine.port());
        parked.back().send(
            request_text("POST", "/api/v1/leases", api.claim_text({{"wait_ms", 60'000}})));
    }
    EXPECT_TRUE(eventually([&] {
        return api.http.get("/metrics").body.find("sluice_waiting_claims 10") != std::string::npos;
    }));
    const auto start = std::chrono::steady_clock::now();

    engine.process().send_signal(SIGTERM);

    for (Client& client : parked) {
        const auto response = client.receive();
        ASSERT_TRUE(response);
        EXPECT_TRUE(list(expect_ok(*response), "leases").empty());
        EXPECT_EQ(response->header("Connection"), "close");
    }
    EXPECT_EQ(engine.process().wait(Millis(10'000)), 0);
    EXPECT_LT(since(start), Millis(5000));
}

TEST_F(Shutdown, ClosesIdleConnectionsAndTakesNoNewOnes) {
    Engine engine(store());
    Client idle(engine.port());
    idle.get("/healthz");

    EXPECT_EQ(engine.stop(), 0);

    EXPECT_TRUE(idle.is_closed_by_peer(Millis(1000)));
    EXPECT_THROW(Client(engine.port()), std::runtime_error);
}

TEST_F(Shutdown, WorksWithTheInterruptSignalToo) {
    Engine engine(store());
    engine.process().send_signal(SIGINT);

    EXPECT_EQ(engine.process().wait(Millis(10'000)), 0);
}

TEST_F(Shutdown, EveryAnswerUnderLoadIsKept) {
    auto engine = std::make_unique<Engine>(store());
    std::vector<std::vector<std::string>> accepted(8);
    std::atomic<int> total = 0;
    std::thread stopper([&] {
        EXPECT_TRUE(eventually([&] { return total > 200; }));
        engine->process().send_signal(SIGTERM);
    });
    in_parallel(8, [&](int i) {
        try {
            Api mine(engine->port(), "q");
            for (;;) {
                const Response response = mine.try_submit({});
                if (response.status != 202) break;
                accepted[static_cast<std::size_t>(i)].push_back(text(parse(response.body), "id"));
                ++total;
            }
        } catch (const std::runtime_error&) {
            // The engine is gone: that is how this ends.
        }
    });
    stopper.join();
    EXPECT_EQ(engine->process().wait(Millis(15'000)), 0);

    engine = std::make_unique<Engine>(store());
    Api api(engine->port(), "q");
    for (const auto& ids : accepted) {
        for (const std::string& id : ids) EXPECT_EQ(api.state(id), "queued");
    }
}

TEST_F(Shutdown, ARestartFindsEverything) {
    auto engine = std::make_unique<Engine>(store());
    auto api = std::make_unique<Api>(engine->port(), "q");
    const std::string site = "s1";
    const std::string done = api->submit_id({{"payload", "kept"}});
    const Json first = api->claim_one();
    expect_ok(api->log(first, {Fields{{"message", "line"}}}));
    expect_ok(api->report(first, {{"outcome", "succeeded"}, {"result", 5}}));
    const std::string held = api->submit_id({{"site_id", site}});
    const Json lease = api->claim_one({{"lease_ms", 30'000}});
    const std::string waits_for_key = api->submit_id({{"site_id", site}});
    const std::string waits_for_job = api->submit_id({{"depends_on", List{Json(held)}}});
    const std::string later = api->submit_id({{"delay_ms", 3'600'000}});
    const Response keyed = api->try_submit({{"delay_ms", 3'600'000}}, {{"Idempotency-Key", "k"}});
    std::map<std::string, Json> before;
    for (const std::string& id : {done, held, waits_for_key, waits_for_job, later}) {
        before[id] = api->job(id);
    }
    EXPECT_EQ(engine->stop(), 0);

    engine = std::make_unique<Engine>(store());
    api = std::make_unique<Api>(engine->port(), "q");

    for (auto& [id, job] : before) {
        Json now = api->job(id);
        job.as_object().erase("lease_until");  // a live lease gets one fresh term
        now.as_object().erase("lease_until");
        EXPECT_EQ(now, job);
    }
    EXPECT_EQ(text(api->logs(done)[0], "message"), "line");
    EXPECT_EQ(api->try_submit({{"delay_ms", 3'600'000}}, {{"Idempotency-Key", "k"}}).body,
              keyed.body);
    EXPECT_TRUE(api->claim().empty()) << "the key and the dependency still hold";
    expect_ok(api->heartbeat(lease));
    expect_ok(api->succeed(lease));
    EXPECT_EQ(api->claim({{"limit", 9}}).size(), 2u);
    EXPECT_LT(held, api->submit_id()) << "ids go on";
}

// A file has one engine, so no worker could reach any while it was down. Where several nodes share
// a database leases just go on.
class SqliteShutdown : public Shutdown {};

TEST_F(SqliteShutdown, ALeaseThatEndsMeanwhileGetsOneFreshTerm) {
    auto engine = std::make_unique<Engine>(store());
    std::string id;
    Json lease;
    {
        Api api(engine->port(), "q");
        id = api.submit_id({{"max_attempts", 1}});
        lease = api.claim_one({{"lease_ms", 1000}});
    }
    const auto start = std::chrono::steady_clock::now();
    engine->kill();
    EXPECT_TRUE(eventually([&] { return since(start) > Millis(1100); }));

    engine = std::make_unique<Engine>(store());
    Api api(engine->port(), "q");

    expect_ok(api.heartbeat(lease, {{"lease_ms", 30'000}}));
    EXPECT_EQ(api.state(id), "running");
    expect_ok(api.succeed(lease));
}

}  // namespace shutdown_test
}  // namespace sluice::e2e
