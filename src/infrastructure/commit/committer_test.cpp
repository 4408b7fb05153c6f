#include "infrastructure/commit/committer.hpp"

#include <gtest/gtest.h>

#include <future>

#include "infrastructure/commit/committer_pool.hpp"
#include "infrastructure/memory/memory_store.hpp"
#include "infrastructure/system/system_clock.hpp"

namespace sluice {
namespace committer_test {

constexpr std::size_t mib = 1024 * 1024;

struct Silent : Telemetry {
    void committed(const CommitRecord&) override {}
};

// A committer that stands still, as while its store does not answer.
class StoppedCommitter : public testing::Test {
  protected:
    StoppedCommitter() {
        committer.post_one<Heartbeat>({}, [](auto) {});
        stands.get_future().wait();
    }
    ~StoppedCommitter() override { go_on.set_value(); }

    // Sends the report of an unknown worker, of this size.
    bool is_refused(std::size_t bytes) {
        bool refused = false;
        Report report;
        report.result.assign(bytes, 'x');
        // Called at once, or never: the answers are not delivered here.
        committer.post_one<Report>(std::move(report),
                                   [&refused](const auto& answer) { refused = !answer; });
        return refused;
    }

    MemoryStore store;
    Engine engine{store, {}};
    SystemClock clock;
    Silent telemetry;
    std::promise<void> stands;
    std::promise<void> go_on;
    std::shared_future<void> goes_on{go_on.get_future()};
    bool stood = false;
    Committer committer{engine, clock, telemetry,
                        [this](const std::shared_ptr<Batch>&, const std::vector<JobId>&) {
                            if (!std::exchange(stood, true)) stands.set_value();
                            goes_on.wait();
                        }};
};

TEST_F(StoppedCommitter, TakesAsManyBytesAsItsLimitAndNotOneMore) {
    for (int i = 0; i < 8; ++i) EXPECT_FALSE(is_refused(32 * mib)) << i;

    EXPECT_TRUE(is_refused(1));
    EXPECT_TRUE(is_refused(mib));
    EXPECT_FALSE(is_refused(0)) << "what carries nothing is let through";
}

TEST_F(StoppedCommitter, RefusesAtOnceWhatIsOverItsLimitAlone) {
    EXPECT_TRUE(is_refused(256 * mib + 1));
    EXPECT_FALSE(is_refused(mib));
}

TEST_F(StoppedCommitter, SaysThatItIsNotReadyOnceACommitTakesSeconds) {
    std::optional<Error> reason;
    const auto ask = [&] {
        committer.ask_ready([&](std::optional<Error> told) { reason = std::move(told); });
    };
    ask();
    EXPECT_FALSE(reason) << "not yet; it is asked when the commit is over";
    int told_early_askers = 0;
    CommitterPool pool({&committer, &committer});
    pool.ask_ready([&](const auto& told) { told_early_askers += told ? 1 : 100; });
    pool.answer_stuck();
    EXPECT_EQ(told_early_askers, 0);

    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    pool.answer_stuck();
    pool.answer_stuck();
    EXPECT_EQ(told_early_askers, 1) << "once, and without waiting for the end of the commit";
    ask();
    ASSERT_TRUE(reason);
    EXPECT_EQ(reason->code, ErrorCode::unavailable);

    reason.reset();
    pool.ask_ready([&](auto told) {
        EXPECT_FALSE(reason) << "once";
        reason = std::move(told);
    });
    EXPECT_TRUE(reason);
}

TEST_F(StoppedCommitter, RefusesHundredsThatComeWhenItIsFull) {
    int refused = 0;
    for (int i = 0; i < 8; ++i) EXPECT_FALSE(is_refused(32 * mib));
    for (int i = 0; i < 800; ++i) refused += is_refused(mib);
    EXPECT_EQ(refused, 800);
}

}  // namespace committer_test
}  // namespace sluice
