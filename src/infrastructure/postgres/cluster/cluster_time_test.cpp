#include "infrastructure/postgres/cluster/cluster_time.hpp"

#include <gtest/gtest.h>

namespace sluice::postgres {
namespace cluster_time_test {

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

    // The node takes the time over as it is, without a wait for others.
    void boot(Node& node) {
        write(node.time.begin(read(node)));
        ++row.seats;
    }

    // The node waits as long as it has to, while others look. Returns for how long.
    Duration wait_and_boot(Node& node, std::initializer_list<Node*> others) {
        const Duration began = since_start;
        while (node.time.waits(read(node))) pass(look_period, others);
        boot(node);
        return since_start - began;
    }

    void look(Node& node) {
        write(node.time.look(read(node)));
        ++row.seats;
        if (node.time.is_settled()) row.latest = std::max(row.latest, node.time.now());
        if (node.time.agrees()) ++row.agreements;
    }

    // All look, one after the other, until so much time has passed.
    void pass(Duration time, std::initializer_list<Node*> nodes) {
        for (const Duration end = since_start + time; since_start < end;) {
            for (Node* node : nodes) {
                since_start += 1ms;
                look(*node);
            }
            since_start += look_period - 1ms * static_cast<int>(nodes.size());
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

    EXPECT_EQ(wait_and_boot(second, {&first}), 0s);

    EXPECT_EQ(second.time.now(), truth());
}

TEST_F(ClusterTimes, ANodeThatStartsWaitsWhileTheOthersHaveNotYetSeenTheJump) {
    boot(first);
    pass(20s, {&first});
    for (const Duration jump : {7200s, -7200s, 5s, -5s}) {
        clock_off += jump;
        Node next{*this};

        const Duration waited = wait_and_boot(next, {&first});

        EXPECT_GT(waited, 0s);
        EXPECT_LT(waited, ClusterTime::start_patience);
        EXPECT_EQ(next.time.now(), truth());
    }
}

// As when the node does not see the others, or they look too late.
TEST_F(ClusterTimes, AreNotMovedByANodeThatDidNotWait) {
    boot(first);
    pass(20s, {&first});
    clock_off = 2h;
    boot(second);
    ASSERT_EQ(second.time.now(), truth() + 2h);
    look(second);

    EXPECT_FALSE(second.time.is_settled());
    EXPECT_LT(row.latest, truth());
    pass(10s, {&first, &second});

    EXPECT_EQ(first.time.now(), truth());
    EXPECT_EQ(second.time.now(), truth());
}

TEST_F(ClusterTimes, AreCorrectedByNoNodeThatHasJustStarted) {
    boot(first);
    pass(20s, {&first});
    boot(second);
    clock_off = 2h;
    pass(4s, {&second});  // two looks have seen it

    EXPECT_EQ(row.corrections, 0);
    pass(4s, {&second});
    EXPECT_EQ(row.corrections, 1) << "the other one is gone";
    EXPECT_EQ(second.time.now(), truth());
}

// The others write their time, and none of them looks as it should.
TEST_F(ClusterTimes, GoOnFromWhatOthersWriteWhileTheyDoNotCorrect) {
    boot(first);
    pass(20s, {&first});
    clock_off = 2h;
    while (second.time.waits(read(second))) {
        since_start += 500ms;
        row.latest = first.time.now();
        ++row.seats;
    }
    boot(second);

    EXPECT_EQ(second.time.now(), truth());
    EXPECT_FALSE(second.time.is_settled());
    EXPECT_EQ(row.corrections, 0) << "that is for the others to do";
    pass(20s, {&second});
    EXPECT_EQ(row.corrections, 1) << "they are gone";
    EXPECT_EQ(second.time.now(), truth());
}

TEST_F(ClusterTimes, AreANodesOwnAtOnceWhenItIsAlone) {
    boot(first);
    EXPECT_TRUE(first.time.is_settled()) << "no other has a seat";
    pass(20s, {&first});
    row.seats = 0;  // it has left
    since_start += 1h;

    EXPECT_EQ(wait_and_boot(second, {}), 0s);
    EXPECT_TRUE(second.time.is_settled());
}

TEST_F(ClusterTimes, AreSettledSoonAfterTheOnlyNodeWasKilled) {
    boot(first);
    pass(20s, {&first});

    EXPECT_EQ(wait_and_boot(second, {}), 0s) << "the time goes on from what was written";
    EXPECT_FALSE(second.time.is_settled());
    pass(ClusterTime::silent_start, {&second});

    EXPECT_TRUE(second.time.is_settled());
}

// No reading can show a jump that is shorter than the time between two looks.
TEST_F(ClusterTimes, ANodeThatStartedWithASmallJumpIsPutRightByTheOthers) {
    boot(first);
    pass(20s, {&first});
    clock_off = 400ms;
    ASSERT_EQ(wait_and_boot(second, {&first}), 0s);
    EXPECT_EQ(second.time.now(), truth() + 400ms);

    pass(8s, {&second, &first});

    EXPECT_EQ(first.time.now(), truth());
    EXPECT_EQ(second.time.now(), truth());
}

TEST_F(ClusterTimes, NeverGoBackBehindWhatWasWritten) {
    boot(first);
    pass(20s, {&first});
    const Timestamp latest = row.latest;
    row.seats = 0;
    clock_off = -2h;

    wait_and_boot(second, {});

    EXPECT_EQ(second.time.now(), latest);
    EXPECT_EQ(read(third).time(), latest) << "also for those that come after";
}

TEST_F(ClusterTimes, AreTheServersWhenNoNodeCouldMeasure) {
    boot(first);
    pass(20s, {&first});
    since_start += 10min;

    EXPECT_EQ(wait_and_boot(second, {}), ClusterTime::silent_start) << "if others live, they tell";

    EXPECT_EQ(second.time.now(), truth());
    EXPECT_TRUE(second.time.is_settled());
}

// It is the only node, and the next node to start could not tell.
TEST_F(ClusterTimes, AreCorrectedAtTheLastLook) {
    boot(first);
    pass(20s, {&first});
    clock_off = 2h;
    since_start += 1s;

    write(first.time.look(read(first), true));

    EXPECT_EQ(row.corrections, 1);
    EXPECT_EQ(read(second).time(), truth());
}

// Of two readings, the quicker one is the earlier one by its middle.
TEST_F(ClusterTimes, AreCorrectedAtTheSecondLookHoweverSlowTheFirstWas) {
    boot(first);
    pass(20s, {&first});
    clock_off = 2h;
    ClockReading slow = read(first);
    slow.trip = 300ms;
    slow.at += 150ms;
    slow.server += 150ms;
    EXPECT_FALSE(first.time.look(slow));

    since_start += look_period;

    EXPECT_TRUE(first.time.look(read(first)));
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

}  // namespace cluster_time_test
}  // namespace sluice::postgres
