// The database's clock is set while nodes run, and others start afterwards. No lease and no
// deadline ends early on any of them, and all end in time.
#include <thread>

#include "e2e/api.hpp"
#include "e2e/postgres_server.hpp"

namespace sluice::e2e {
namespace {

using std::chrono::hours;
using Steady = std::chrono::steady_clock;

constexpr Millis term(12'000);
// Leases end at the next look of the node with the duty.
constexpr Millis late_max(5000);
// Nodes follow the time that they agree on by a hundredth, and a claim takes a moment.
constexpr Millis early_max = term / 50;

class PostgresSetClock : public testing::TestWithParam<hours> {
  protected:
    // One job whose lease ends by itself, and one whose deadline comes.
    struct Held {
        std::string leased{};
        std::string timed{};
        Steady::time_point since{};
    };

    static Held hold_jobs(Engine& node, const std::string& queue) {
        Api api(node.port(), queue);
        Held held;
        held.since = Steady::now();
        held.leased = api.submit_id({{"max_attempts", 1}});
        api.claim_one({{"lease_ms", term.count()}});
        held.timed = api.submit_id({{"timeout_ms", term.count()}, {"max_attempts", 1}});
        api.claim_one({{"lease_ms", 600'000}});
        return held;
    }

    static void expect_to_last(Engine& node, const Held& held) {
        Api api(node.port(), "any");
        while (since(held.since) < term - early_max) {
            const std::string leased = api.state(held.leased);
            const std::string timed = api.state(held.timed);
            if (since(held.since) >= term - early_max) break;
            ASSERT_EQ(leased, "running") << "after " << since(held.since).count() << " ms";
            ASSERT_EQ(timed, "running") << "after " << since(held.since).count() << " ms";
            std::this_thread::sleep_for(Millis(100));
        }
        const auto ends = [&](const std::string& id) {
            return eventually([&] { return api.state(id) != "running"; },
                              term + late_max - since(held.since));
        };
        EXPECT_TRUE(ends(held.leased));
        EXPECT_TRUE(ends(held.timed));
        EXPECT_EQ(api.state(held.timed), "timed_out");
    }

    std::int64_t corrections() const { return server.ask("SELECT corrections FROM clock"); }

    PostgresServer server{PostgresServer::Clock::own};
    Engine running{server.url()};
};

TEST_P(PostgresSetClock, EndsNoLeaseAndNoDeadlineEarly) {
    ASSERT_TRUE(eventually([&] { return server.ask("SELECT latest FROM clock") > 0; }));
    const Held before = hold_jobs(running, "before");

    server.set_clock(GetParam());
    Engine late(server.url());  // knows nothing of the time before

    EXPECT_TRUE(eventually([&] { return corrections() == 1; }));
    const Held after = hold_jobs(late, "after");
    expect_to_last(late, before);
    expect_to_last(running, after);
    EXPECT_EQ(corrections(), 1) << "one node has seen to it, and all go by it";
    EXPECT_EQ(running.stop(), 0);
    EXPECT_EQ(late.stop(), 0);
    EXPECT_EQ(running.process().errors().find("fell silent"), std::string::npos);
    EXPECT_EQ(late.process().errors().find("fell silent"), std::string::npos);
}

// Nobody is there any more who has seen the clock jump.
TEST_P(PostgresSetClock, IsRememberedWhenTheNodesThatHaveMeasuredItAreGone) {
    ASSERT_TRUE(eventually([&] { return server.ask("SELECT latest FROM clock") > 0; }));
    const Held held = hold_jobs(running, "before");
    server.set_clock(GetParam());
    ASSERT_TRUE(eventually([&] { return corrections() == 1; }));

    running.kill();
    Engine next(server.url());

    Api api(next.port(), "any");
    while (since(held.since) < term - early_max) {
        const std::string timed = api.state(held.timed);
        if (since(held.since) >= term - early_max) break;
        ASSERT_EQ(timed, "running") << "after " << since(held.since).count() << " ms";
        std::this_thread::sleep_for(Millis(100));
    }
    EXPECT_TRUE(eventually([&] { return api.state(held.timed) == "timed_out"; }, late_max * 2));
}

INSTANTIATE_TEST_SUITE_P(By, PostgresSetClock, testing::Values(hours(2), hours(-2)),
                         [](const auto& tested) {
                             return tested.param > hours(0) ? "TwoHoursForward" : "TwoHoursBack";
                         });

}  // namespace
}  // namespace sluice::e2e
