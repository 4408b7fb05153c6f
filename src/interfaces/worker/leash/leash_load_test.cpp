// A busy leash is not taken for a dead one, and no order to it is lost.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "client/link/boot_time.hpp"
#include "interfaces/worker/leash/leash.hpp"

namespace sluice::worker {
namespace leash_load_test {

using namespace std::chrono_literals;
using client::boot_now;

Exit wait_for(Leash::Child& child) {
    pollfd ready{child.descriptor(), POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, 20'000), 1) << "the command does not end";
    return child.ended().value_or(Exit{});
}

std::vector<pid_t> children_of_this_process() {
    std::vector<pid_t> found;
    std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    for (pid_t pid = 0; children >> pid;) found.push_back(pid);
    return found;
}

// Threads that start short commands one after the other, until told to end.
class Starters {
  public:
    Starters(Leash& leash, int count) {
        for (int i = 0; i < count; ++i) {
            threads_.emplace_back([this, &leash] {
                while (!over_) {
                    Leash::Child child = leash.start({.argv = {"/bin/true"}}, boot_now() + 30s, 1s);
                    if (wait_for(child).code != 0) ++failed_;
                    ++ended_;
                }
            });
        }
    }
    ~Starters() { finish(); }
    Starters(const Starters&) = delete;
    Starters& operator=(const Starters&) = delete;

    void finish() {
        over_ = true;
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }
    int failed() const { return failed_; }
    int ended() const { return ended_; }

  private:
    std::atomic<bool> over_ = false;
    std::atomic<int> failed_ = 0;
    std::atomic<int> ended_ = 0;
    std::vector<std::thread> threads_;
};

TEST(LeashLoad, RenewedCommandsLiveAmongManyShortOnes) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "with this sanitizer the test cannot start and renew in time";
#endif
    Leash leash;
    const auto before = children_of_this_process();
    std::vector<Leash::Child> renewed;
    for (int i = 0; i < 20; ++i) {
        renewed.push_back(leash.start({.argv = {"/bin/sleep", "3.5"}}, boot_now() + 1200ms, 300ms));
    }
    Starters starters(leash, 300);
    for (const auto until = boot_now() + 3s; boot_now() < until;) {
        for (Leash::Child& child : renewed) child.must_end_by(boot_now() + 1200ms, 300ms);
        std::this_thread::sleep_for(300ms);
    }
    for (Leash::Child& child : renewed) child.must_end_by(boot_now() + 30s, 1s);
    starters.finish();

    for (Leash::Child& child : renewed) {
        const Exit exit = wait_for(child);
        EXPECT_EQ(exit.code, 0) << "signal " << exit.signal << ' ' << exit.not_started;
    }
    EXPECT_GT(starters.ended(), 300);
    EXPECT_EQ(starters.failed(), 0);
    EXPECT_EQ(children_of_this_process(), before) << "the leash was replaced";
}

TEST(LeashLoad, StopsAndDropsReachABusyLeash) {
    Leash leash;
    std::vector<Leash::Child> stopped;
    for (int i = 0; i < 20; ++i) {
        stopped.push_back(leash.start({.argv = {"/bin/sleep", "60"}}, boot_now() + 60s, 1s));
    }
    std::vector<Leash::Child> held;
    for (int i = 0; i < 500; ++i) {
        held.push_back(leash.start({.argv = {"/bin/sleep", "60"}}, boot_now() + 60s, 1s));
    }
    Starters starters(leash, 100);
    std::this_thread::sleep_for(300ms);
    held.clear();
    for (Leash::Child& child : stopped) child.stop(5s);

    for (Leash::Child& child : stopped) EXPECT_EQ(wait_for(child).signal, SIGTERM);
    starters.finish();
    EXPECT_EQ(starters.failed(), 0);
}

}  // namespace leash_load_test
}  // namespace sluice::worker
