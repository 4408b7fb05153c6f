#include "infrastructure/postgres/cluster_time.hpp"

#include <gtest/gtest.h>

namespace sluice::postgres {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp start = from_micros(1'800'000'000'000'000);

// A database with a clock that can be set, and nodes that look at it every other second.
class ClusterTimes : public testing::Test {
  protected:
    struct Node {
        explicit Node(ClusterTimes& around)
            : time([this, &around] { return around.since_start - stood_still; }) {}
        Duration stood_still{};
        ClusterTime time;
    };

    ClockReading read(const Node& node) const {
        ClockReading reading = row;
        reading.server = start + since_start + clock_off;
        reading.at = since_start - node.stood_still;
        return reading;
    }

    void write(const std::optional<ClockCorrection>& correction) {
        if (!correction || correction->after != row.corrections) return;
        row.ahead = correction->ahead;
        ++row.corrections;
    }

    void boot(Node& node) { write(node.time.begin(read(node))); }

    void look(Node& node) {
        write(node.time.look(read(node)));
        row.latest = std::max(row.latest, node.time.now());
        if (node.time.agrees()) ++row.agreements;
    }

    // All look, one after the other, until so much time has passed.
    void pass(Duration time, std::initializer_list<Node*> nodes) {
        for (const Duration end = since_start + time; since_start < end;) {
            for (Node* node : nodes) {
                since_start += 1ms;
                look(*node);
            }
            since_start += look_period - 1ms * nodes.size();
        }
    }

    Timestamp truth() const { return start + since_start; }
    static Duration apart(Timestamp a, Timestamp b) { return std::chrono::abs(a - b); }

    Duration since_start = 1h;
    Duration clock_off{};
    ClockReading row;
    Node first{*this}, second{*this}, third{*this};
};

TEST_F(ClusterTimes, GoOnEvenlyWhenTheServersClockIsSet) {
    boot(first);
    boot(second);
    pass(20s, {&first, &second});

    for (const Duration jump : {7200s, -14400s, 7200s}) {
        clock_off += jump;
        pass(20s, {&first, &second});

        EXPECT_EQ(first.time.now(), truth());
        EXPECT_EQ(second.time.now(), truth());
    }
    EXPECT_EQ(row.corrections, 3) << "each is corrected by one node";
}

TEST_F(ClusterTimes, AreTheSameForANodeThatStartsLater) {
    boot(first);
    pass(20s, {&first});
    clock_off = 2h;
    pass(10s, {&first});

    EXPECT_TRUE(ClusterTime::is_believable(read(second)));
    boot(second);

    EXPECT_EQ(second.time.now(), truth());
}

TEST_F(ClusterTimes, ANodeThatStartsWaitsWhileTheOthersHaveNotYetSeenTheJump) {
    boot(first);
    pass(20s, {&first});
    for (const Duration jump : {7200s, -7200s}) {
        clock_off += jump;
        EXPECT_FALSE(ClusterTime::is_believable(read(second)));

        const Duration began = since_start;
        while (!ClusterTime::is_believable(read(second))) pass(2s, {&first});

        EXPECT_LT(since_start - began, ClusterTime::start_patience);
        EXPECT_EQ(read(second).time(), truth());
    }
}

// No reading can show a jump that is shorter than the time between two looks.
TEST_F(ClusterTimes, ANodeThatStartedWithASmallJumpIsPutRightByTheOthers) {
    boot(first);
    pass(20s, {&first});
    clock_off = 400ms;
    ASSERT_TRUE(ClusterTime::is_believable(read(second)));
    boot(second);
    EXPECT_EQ(second.time.now(), truth() + 400ms);

    pass(8s, {&second, &first});

    EXPECT_EQ(first.time.now(), truth());
    EXPECT_EQ(second.time.now(), truth());
}

TEST_F(ClusterTimes, NeverGoBackBehindWhatWasWritten) {
    boot(first);
    pass(20s, {&first});
    const Timestamp latest = row.latest;
    clock_off = -2h;

    boot(second);

    EXPECT_EQ(second.time.now(), latest);
    EXPECT_EQ(read(third).time(), latest) << "also for those that come after";
}

TEST_F(ClusterTimes, AreTheServersWhenNoNodeCouldMeasure) {
    boot(first);
    pass(20s, {&first});
    since_start += 10min;

    EXPECT_FALSE(ClusterTime::is_believable(read(second))) << "if others live, they tell";
    boot(second);

    EXPECT_EQ(second.time.now(), truth());
}

TEST_F(ClusterTimes, AreNotMovedByANodeThatStoodStill) {
    boot(first);
    boot(second);
    pass(20s, {&first, &second});

    for (const Duration pause : {1s, 3s, 600s}) {
        pass(pause, {&second});
        first.stood_still += pause;
        pass(6s, {&first, &second});

        EXPECT_EQ(first.time.now(), truth());
        EXPECT_EQ(second.time.now(), truth());
    }
    EXPECT_EQ(row.corrections, 0);
}

TEST_F(ClusterTimes, StayRightWhenTheClockIsSetAgainBeforeAllHaveSeenTheCorrection) {
    boot(first);
    boot(second);
    pass(20s, {&first, &second});

    clock_off = -2h;
    pass(4s, {&first});  // which corrects the row
    ASSERT_EQ(row.corrections, 1);
    clock_off = 0s;
    pass(10s, {&second, &first});

    EXPECT_EQ(first.time.now(), truth());
    EXPECT_EQ(second.time.now(), truth());
}

TEST_F(ClusterTimes, FollowAClockThatDrifts) {
    boot(first);
    for (int i = 0; i < 1000; ++i) {
        clock_off += 10ms;
        pass(2s, {&first});
    }

    EXPECT_LE(apart(first.time.now(), truth() + clock_off), 10ms);
    EXPECT_EQ(row.corrections, 0);
}

TEST_F(ClusterTimes, AreNotCorrectedForAReadingThatTookLong) {
    boot(first);
    pass(20s, {&first});
    for (int i = 0; i < 3; ++i) {
        since_start += 2s;
        ClockReading reading = read(first);
        reading.trip = 1s;
        reading.server += 500ms;

        EXPECT_FALSE(first.time.look(reading));
        EXPECT_EQ(first.time.now(), truth());
    }
}

}  // namespace
}  // namespace sluice::postgres
