// A node stands still in the middle of a transaction, with locks that other nodes need, and its
// connections stay open. The other nodes take the locks away from it and go on; when it goes on,
// too, it finds out what became of its work.
#include <gtest/gtest.h>
#include <signal.h>

#include <future>
#include <thread>

#include "e2e/api.hpp"
#include "e2e/fault_proxy.hpp"
#include "e2e/postgres_server.hpp"

namespace sluice::e2e {
namespace postgres_frozen_node_test {

constexpr int jobs = 20;
constexpr Millis lease_time(5000);
constexpr Millis bound(15'000);  // 6 s of silence, a tick, and the delays of a busy machine
constexpr Millis soon(5000);

// Where in its last burst the node stops: before its commit, with its seat and the leases locked;
// or well before that.
struct Stop {
    const char* name;
    std::size_t tail;
    bool has_duty;  // of the node that is going to stop
};

class PostgresFrozenNode : public testing::TestWithParam<Stop> {
  protected:
    PostgresFrozenNode() {
        // The first one gets the duty.
        const auto start_frozen = [this] {
            frozen = std::make_unique<Engine>(PostgresServer::url_through({proxy.port()}));
        };
        if (GetParam().has_duty) start_frozen();
        healthy = std::make_unique<Engine>(server.url());
        if (!GetParam().has_duty) start_frozen();
    }

    // Claims jobs and has one node stop in the middle of the report of all of them.
    void stop_in_the_middle() {
        Api api(healthy->port(), "q");
        api.submit_batch(std::vector<Fields>(jobs));
        leases = api.claim({{"limit", jobs}, {"lease_ms", lease_time.count()}});
        ASSERT_EQ(leases.size(), std::size_t{jobs});
        List reports;
        for (const Json& lease : leases) {
            reports.emplace_back(Fields{{"lease_id", text(lease, "lease_id")},
                                        {"outcome", "succeeded"},
                                        {"result", std::string(10'000, 'x')}});
        }
        proxy.hold_back({.burst = 100'000, .tail = GetParam().tail});
        unanswered = std::async(
            std::launch::async,
            [port = frozen->port(), body = serialize(Fields{{"reports", std::move(reports)}})] {
                return Client(port).request("POST", "/api/v1/leases/report", body, {},
                                            Millis(60'000));
            });
        ASSERT_TRUE(eventually([&] { return proxy.holds() && stuck_sessions() == 1; }));
        frozen->process().send_signal(SIGSTOP);
        stopped_at = std::chrono::steady_clock::now();
    }

    std::int64_t stuck_sessions() const {
        return server.ask(
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND "
            "wait_event = 'ClientRead' AND query NOT LIKE '%stuck%' "
            "AND application_name LIKE 'sluice%'");
    }

    // The other nodes get the locks that they wait for.
    void expect_in_time() const {
        const Millis taken = since(stopped_at);
        RecordProperty("taken_ms", static_cast<int>(taken.count()));
        EXPECT_LT(taken, bound);
    }

    // The node answers, whether its commit happened or not, and works again.
    void go_on() {
        proxy.let_go();
        frozen->process().send_signal(SIGCONT);
        const Response late = unanswered.get();
        EXPECT_TRUE(late.status == 200 || late.status == 503) << late.body;
        EXPECT_TRUE(
            eventually([&] { return Client(frozen->port()).get("/readyz").status == 200; }, soon));
        Api api(frozen->port(), "after");
        const std::string id = api.submit_id();
        EXPECT_EQ(api.succeed(api.claim_one()).status, 200);
        EXPECT_EQ(api.state(id), "succeeded");
        EXPECT_EQ(frozen->stop(), 0) << frozen->process().errors();
        EXPECT_EQ(healthy->stop(), 0) << healthy->process().errors();
        const Ended verified = run_sluice({"audit", "verify", "--store", server.url()});
        EXPECT_EQ(verified.code, 0) << verified.output << verified.errors;
    }

    PostgresServer server;
    FaultProxy proxy{server.port()};
    std::unique_ptr<Engine> frozen;
    std::unique_ptr<Engine> healthy;
    List leases;
    std::future<Response> unanswered;
    std::chrono::steady_clock::time_point stopped_at;
};

// The workers whose reports were not answered send them again to the other node, so that all its
// connections wait for the locks.
TEST_P(PostgresFrozenNode, LosesItsLocksToReportsThatWaitForThem) {
    ASSERT_NO_FATAL_FAILURE(stop_in_the_middle());
    std::atomic<bool> is_over = false;
    std::string reason;
    std::thread health([&] {
        for (Client http(healthy->port()); !is_over; std::this_thread::sleep_for(Millis(50))) {
            const Response ready = http.get("/readyz");
            if (ready.status == 503) reason = text(parse(ready.body), "detail");
        }
    });
    std::atomic<int> accepted = 0;
    in_parallel(4, [&](int worker) {
        Api api(healthy->port(), "q");
        for (int i = worker; i < jobs && since(stopped_at) < 2 * bound; i += 4) {
            Response answer;
            do {
                answer =
                    api.report(leases[static_cast<std::size_t>(i)], {{"outcome", "succeeded"}});
                if (answer.status == 200) ++accepted;
            } while (answer.status == 503 && since(stopped_at) < 2 * bound);
            EXPECT_TRUE(answer.status == 200 || answer.status == 409) << answer.body;
        }
    });
    expect_in_time();
    is_over = true;
    health.join();
    EXPECT_NE(reason, "") << "a node that could not commit called itself ready";
    const auto start = std::chrono::steady_clock::now();
    Api api(healthy->port(), "other");
    api.submit();
    EXPECT_LT(since(start), Millis(1000));
    EXPECT_EQ(Client(healthy->port()).get("/readyz").status, 200);

    go_on();
    EXPECT_EQ(server.ask("SELECT count(*) FROM done WHERE state = 2"), accepted + 1);
}

TEST_P(PostgresFrozenNode, LosesItsLeasesWhenTheirTimeIsOver) {
    ASSERT_NO_FATAL_FAILURE(stop_in_the_middle());
    Api api(healthy->port(), "q");
    int ended = 0;
    while (ended < jobs && since(stopped_at) < 2 * bound) {
        for (const Json& lease : api.claim({{"limit", jobs}, {"wait_ms", 1000}})) {
            EXPECT_EQ(api.succeed(lease).status, 200);
            ++ended;
        }
    }
    expect_in_time();
    EXPECT_EQ(ended, jobs);

    go_on();
    EXPECT_EQ(server.ask("SELECT count(*) FROM done"), jobs + 1);
    EXPECT_EQ(server.ask("SELECT count(*) FROM done WHERE result IS NOT NULL"), 0)
        << "the report that came too late counts";
}

INSTANTIATE_TEST_SUITE_P(Where, PostgresFrozenNode,
                         testing::Values(Stop{"BeforeItsCommit", 40, true},
                                         Stop{"AmongItsWrites", 1500, false}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace postgres_frozen_node_test
}  // namespace sluice::e2e
