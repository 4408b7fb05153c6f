// The database's clock is set while nodes run, and others start afterwards. No lease and no
// deadline ends early on any of them, and all end in time.
#include <thread>

#include "e2e/api.hpp"
#include "e2e/postgres_server.hpp"

namespace sluice::e2e {
namespace postgres_clock_test {

using std::chrono::hours;
using Steady = std::chrono::steady_clock;

constexpr Millis term(12'000);
// Leases end at the next look of the node with the duty.
constexpr Millis late_max(5000);
// Nodes follow cluster time by a hundredth, that follows the database's clock by a two-hundredth,
// and a claim takes a moment.
constexpr Millis early_max = term / 20;
// The second look of a node corrects the row, and a busy machine is slow.
constexpr Millis correction_max(30'000);

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

    static void expect_no_early_end(Engine& node, const std::vector<std::string>& jobs,
                                    Steady::time_point start) {
        Api api(node.port(), "any");
        while (since(start) < term - early_max) {
            for (const std::string& job : jobs) {
                const std::string state = api.state(job);
                if (since(start) >= term - early_max) return;
                ASSERT_EQ(state, "running") << "after " << since(start).count() << " ms";
            }
            std::this_thread::sleep_for(Millis(100));
        }
    }

    // Leases get the time back in which none could be renewed; deadlines do not.
    static void expect_deadline_in_time(Engine& node, const Held& held) {
        expect_no_early_end(node, {held.timed}, held.since);
        Api api(node.port(), "any");
        EXPECT_TRUE(eventually([&] { return api.state(held.timed) == "timed_out"; }, late_max * 3));
    }

    static void expect_to_last(Engine& node, const Held& held) {
        expect_no_early_end(node, {held.leased, held.timed}, held.since);
        Api api(node.port(), "any");
        const auto ends = [&](const std::string& id) {
            return eventually([&] { return api.state(id) != "running"; },
                              term + late_max - since(held.since));
        };
        EXPECT_TRUE(ends(held.leased));
        EXPECT_TRUE(ends(held.timed));
        EXPECT_EQ(api.state(held.timed), "timed_out");
    }

    std::int64_t corrections() const { return server.ask("SELECT corrections FROM clock"); }
    bool is_corrected() const {
        return eventually([&] { return corrections() == 1; }, correction_max);
    }
    bool is_written() const {
        return eventually([&] { return server.ask("SELECT latest FROM clock") > 0; });
    }

    PostgresServer server{PostgresServer::Clock::own};
    Engine running{server.url()};
};

TEST_P(PostgresSetClock, EndsNoLeaseAndNoDeadlineEarly) {
    ASSERT_TRUE(is_written());
    const Held before = hold_jobs(running, "before");

    server.set_clock(GetParam());
    Engine late(server.url());  // knows nothing of the time before

    EXPECT_TRUE(is_corrected());
    const Held after = hold_jobs(late, "after");
    expect_to_last(late, before);
    expect_to_last(running, after);
    EXPECT_EQ(corrections(), 1) << "one node has seen to it, and all go by it";
    EXPECT_EQ(running.stop(), 0);
    EXPECT_EQ(late.stop(), 0);
    EXPECT_EQ(running.process().errors().find("fell silent"), std::string::npos);
    EXPECT_EQ(late.process().errors().find("fell silent"), std::string::npos);
}

// No node is left that has seen the clock jump.
TEST_P(PostgresSetClock, IsRememberedWhenTheNodesThatHaveMeasuredItAreGone) {
    ASSERT_TRUE(is_written());
    const Held held = hold_jobs(running, "before");
    server.set_clock(GetParam());
    ASSERT_TRUE(is_corrected());

    running.kill();
    Engine next(server.url());

    expect_deadline_in_time(next, held);
}

TEST_P(PostgresSetClock, IsRememberedByTheOnlyNodeThatStopsAtOnce) {
    ASSERT_TRUE(is_written());
    const Held held = hold_jobs(running, "before");

    server.set_clock(GetParam());
    EXPECT_EQ(running.stop(), 0);
    EXPECT_EQ(corrections(), 1);
    Engine next(server.url());

    expect_deadline_in_time(next, held);
}

// As when a standby takes over. The sessions of the node that knows the time are gone for a moment.
TEST_P(PostgresSetClock, IsNotBelievedByANodeThatStartsWithTheDatabase) {
    ASSERT_TRUE(is_written());
    const Held held = hold_jobs(running, "before");

    server.halt();
    server.set_clock(GetParam());
    server.resume();
    Engine late(server.url());

    EXPECT_TRUE(is_corrected());
    expect_deadline_in_time(late, held);
    EXPECT_EQ(corrections(), 1);
}

INSTANTIATE_TEST_SUITE_P(By, PostgresSetClock, testing::Values(hours(2), hours(-2)),
                         [](const auto& tested) {
                             return tested.param > hours(0) ? "TwoHoursForward" : "TwoHoursBack";
                         });

}  // namespace postgres_clock_test
}  // namespace sluice::e2e
