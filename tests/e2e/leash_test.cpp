// No process that a job started outlives the job's lease, whatever happens to the worker.
#include <signal.h>

#include "e2e/work_process.hpp"

namespace sluice::e2e {
namespace leash_test {

class LeashE2e : public testing::Test {
  protected:
    // A script that ignores SIGTERM, as does its child, which it does not wait for. Both write
    // their process ids.
    std::string stubborn() const {
        const std::string file = pids.string();
        return "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ >> " + file +
               "; while :; do sleep 0.05; done' & echo $$ >> " + file +
               "; while :; do sleep 0.05; done";
    }

    std::string submit() { return api.submit_id({{"timeout_ms", 60'000}, {"max_attempts", 1}}); }

    static bool all_over(const std::vector<pid_t>& processes) {
        for (const pid_t pid : processes) {
            if (!is_over(pid)) return false;
        }
        return true;
    }

    Api api{shared_engine("memory").port(), fresh_name("queue")};
    TempFolder folder{};
    std::filesystem::path pids = folder.path() / "pids";
};

TEST_F(LeashE2e, EndsTheGroupWhenTheWorkerIsKilled) {
    WorkProcess worker(api, stubborn());
    submit();
    const auto running = pids_in(pids, 2);
    ASSERT_EQ(running.size(), 2u);
    const pid_t leash = worker.leash();
    const auto start = std::chrono::steady_clock::now();
    worker.process().send_signal(SIGKILL);

    EXPECT_TRUE(eventually([&] { return all_over(running); }, Millis(2000)));
    EXPECT_LT(since(start), Millis(1500));
    EXPECT_TRUE(eventually([&] { return is_over(leash); }));
}

TEST_F(LeashE2e, EndsTheGroupBeforeTheLeaseOfAPausedWorkerEnds) {
    WorkProcess worker(api, stubborn(), {"--lease", "1s"});
    const std::string id = submit();
    const auto running = pids_in(pids, 2);
    ASSERT_EQ(running.size(), 2u);
    worker.process().send_signal(SIGSTOP);

    // The engine takes the job back when its lease has ended.
    bool still_held = true;
    EXPECT_TRUE(eventually([&] {
        still_held = api.state(id) == "running";
        return all_over(running) || !still_held;
    }));
    EXPECT_TRUE(still_held);
    EXPECT_TRUE(all_over(running));

    worker.process().send_signal(SIGCONT);
    EXPECT_EQ(worker.stop(), 0);
}

TEST_F(LeashE2e, EndsTheGroupWhenTheEngineIsAway) {
    auto engine = std::make_unique<Engine>("memory:");
    Api its_api(engine->port(), "away");
    WorkProcess worker(its_api, stubborn(), {"--lease", "1s"});
    its_api.submit_id({{"max_attempts", 1}});
    const auto running = pids_in(pids, 2);
    ASSERT_EQ(running.size(), 2u);
    engine->kill();

    EXPECT_TRUE(eventually([&] { return all_over(running); }, Millis(1500)));
    worker.process().send_signal(SIGKILL);
}

TEST_F(LeashE2e, RunsTheNextJobWhenTheLeashItselfWasKilled) {
    WorkProcess worker(api, stubborn());
    const std::string first = submit();
    const auto running = pids_in(pids, 2);
    ASSERT_EQ(running.size(), 2u);
    ::kill(worker.leash(), SIGKILL);

    EXPECT_TRUE(eventually([&] { return all_over(running); }, Millis(2000)));
    EXPECT_TRUE(api.reaches(first, "failed"));
    EXPECT_EQ(text(api.job(first), "error_code"), "SIGNAL_KILL");
    submit();
    EXPECT_EQ(pids_in(pids, 4).size(), 4u);
    worker.process().send_signal(SIGKILL);
}

TEST_F(LeashE2e, RenewsTheLeaseOfACommandThatTakesLonger) {
    WorkProcess worker(api, "sleep 1.6; echo '{\"attempt\":'$SLUICE_ATTEMPT'}'", {"--lease", "1s"});
    const std::string id = api.submit_id({});

    EXPECT_TRUE(api.reaches(id, "succeeded"));
    EXPECT_EQ(number(at(api.job(id), "result"), "attempt"), 1);
    EXPECT_EQ(worker.stop(), 0);
}

TEST_F(LeashE2e, KillsACommandThatIgnoresACancel) {
    WorkProcess worker(api, stubborn(), {"--stop-grace", "200ms", "--lease", "1s"});
    const std::string id = submit();
    const auto running = pids_in(pids, 2);
    ASSERT_EQ(running.size(), 2u);
    expect_ok(api.cancel(id));

    EXPECT_TRUE(eventually([&] { return all_over(running); }, Millis(3000)));
    EXPECT_EQ(worker.stop(), 0);
}

}  // namespace leash_test
}  // namespace sluice::e2e
