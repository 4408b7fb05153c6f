#include "infrastructure/queue/lane_permits.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>

namespace sluice {
namespace lane_permits_test {

using namespace std::chrono_literals;

constexpr Timestamp start = from_micros(1'767'225'600'000'000);

LimitRule at_most(std::int64_t active, std::string id = "a", LimitScope scope = {}) {
    LimitRule rule{.id = std::move(id)};
    rule.scope = std::move(scope);
    rule.max_active = active;
    return rule;
}

LimitRule one_per(Duration period, std::int64_t burst, std::string id = "b") {
    LimitRule rule{.id = std::move(id)};
    rule.rate = LimitRate{.count = 1, .period = period, .burst = burst};
    return rule;
}

LimitRule pause(std::string id = "c", LimitScope scope = {}) {
    LimitRule rule{.id = std::move(id), .kind = LimitKind::throttle};
    rule.scope = std::move(scope);
    rule.paused = true;
    return rule;
}

LimitRule each_source(LimitRule rule) {
    rule.per = {Dimension::source};
    return rule;
}

struct TestLane : LaneGate {
    explicit TestLane(std::string source)
        : lane{.tenant = "acme", .queue = "default", .type = "work", .source = std::move(source)} {
        name = &lane;
    }
    TestLane(const TestLane&) = delete;
    TestLane& operator=(const TestLane&) = delete;

    Lane lane;
    std::size_t ready = 1;
};

std::size_t times_asked = 0;  // by ready_of()

std::size_t ready_of(const LaneGate& lane) {
    ++times_asked;
    return static_cast<const TestLane&>(lane).ready;
}

using Told = std::map<std::string, std::int64_t>;

class LanePermitsTest : public testing::Test {
  protected:
    void set(std::vector<LimitRule> rules, Timestamp now = start) {
        permits.set_rules(std::make_shared<const LimitRules>(++version_, std::move(rules),
                                                             LimitRules::Profiles{}),
                          now);
    }
    TestLane& lane(const std::string& source, std::size_t ready = 1) {
        TestLane& made = lanes_.emplace_back(source);
        made.ready = ready;
        return made;
    }
    // Starts jobs of the lane as long as it is open; returns how many.
    int start_all(TestLane& lane, Timestamp now = start) {
        int started = 0;
        for (; lane.ready > 0 && permits.is_open(lane, now); ++started) {
            permits.start(lane, now);
            --lane.ready;
        }
        return started;
    }
    void use_many_other_lanes() {
        for (int i = 0; i < 5000; ++i) {
            TestLane other("source " + std::to_string(i));
            permits.is_open(other, start);
            permits.drop(other);
        }
    }
    Told opened(Timestamp now = start) {
        Told told;
        for (const auto& [gate, count] : permits.opened(now, ready_of)) {
            told[gate->name->source] += count;
        }
        return told;
    }

    LanePermits permits;

  private:
    std::int64_t version_ = 0;
    std::deque<TestLane> lanes_;
};

TEST_F(LanePermitsTest, OfAClosedLaneComeBackWithAReturn) {
    set({at_most(2)});
    TestLane& busy = lane("s", 5);
    EXPECT_EQ(start_all(busy), 2);
    EXPECT_EQ(opened(), Told{});

    permits.end(busy, start);

    EXPECT_EQ(opened(), (Told{{"s", 1}}));
    EXPECT_EQ(opened(), Told{}) << "it is told once of one return";
}

TEST_F(LanePermitsTest, OfALaneThatIsStillReadyAreToldAgainAfterTheNextReturn) {
    set({at_most(2)});
    TestLane& busy = lane("s", 9);
    start_all(busy);
    permits.end(busy, start);
    ASSERT_EQ(opened(), (Told{{"s", 1}}));  // and nobody takes it

    permits.end(busy, start);

    EXPECT_EQ(opened(), (Told{{"s", 2}}));
}

TEST_F(LanePermitsTest, AReturnIsToldOnlyToLanesThatWaitForItsMeter) {
    set({each_source(at_most(1))});
    TestLane& one = lane("one", 2);
    TestLane& other = lane("other", 2);
    start_all(one);
    start_all(other);
    times_asked = 0;

    permits.end(one, start);

    EXPECT_EQ(opened(), (Told{{"one", 1}}));
    EXPECT_EQ(times_asked, 1u);
}

TEST_F(LanePermitsTest, ALaneWithoutJobsIsNotToldAndNoLongerWaits) {
    set({at_most(1)});
    TestLane& busy = lane("s", 2);
    start_all(busy);
    busy.ready = 0;

    permits.end(busy, start);

    EXPECT_EQ(opened(), Told{});
    EXPECT_EQ(busy.held_by, nullptr);
}

TEST_F(LanePermitsTest, OfSeveralRulesAreNeededTogether) {
    set({at_most(1, "a", {.source = "s"}), at_most(2, "b")});
    TestLane& narrow = lane("s", 3);
    TestLane& wide = lane("t", 3);
    EXPECT_EQ(start_all(narrow), 1);
    EXPECT_EQ(start_all(wide), 1);

    permits.end(narrow, start);

    EXPECT_EQ(start_all(wide), 1) << "the other lane was faster";
    EXPECT_EQ(opened(), Told{}) << "rule b holds it back now";
    EXPECT_FALSE(permits.is_open(narrow, start));
    permits.end(wide, start);
    EXPECT_EQ(opened(), (Told{{"s", 1}, {"t", 1}}));
}

TEST_F(LanePermitsTest, ALaneIsToldNoMoreThanTheTightestRuleAllows) {
    set({at_most(5, "a"), at_most(2, "b")});
    TestLane& busy = lane("s", 9);
    start_all(busy);

    permits.end(busy, start);
    permits.end(busy, start);

    EXPECT_EQ(opened(), (Told{{"s", 2}}));
}

// ── time ──

TEST_F(LanePermitsTest, ATokenIsLookedForWhenItComesBack) {
    set({one_per(10s, 1)});
    TestLane& busy = lane("s", 3);
    EXPECT_EQ(start_all(busy), 1);

    EXPECT_EQ(permits.next_look(), start + 10s);
    EXPECT_EQ(opened(start + 9s), Told{});
    EXPECT_EQ(opened(start + 10s), (Told{{"s", 1}}));
    EXPECT_EQ(start_all(busy, start + 10s), 1);
    EXPECT_EQ(permits.next_look(), start + 20s);
}

TEST_F(LanePermitsTest, ARuleThatEndsIsLookedAtThenWhateverItBounds) {
    LimitRule few = at_most(1);
    few.until = start + 1h;
    LimitRule slow = one_per(24h, 1);
    slow.until = start + 2h;
    LimitRule paused = pause();
    paused.until = start + 3h;
    set({few, slow, paused});
    TestLane& busy = lane("s", 3);

    EXPECT_EQ(start_all(busy), 0);
    EXPECT_EQ(permits.next_look(), start + 3h) << "the first one that holds it is looked at";
    EXPECT_EQ(opened(start + 3h), (Told{{"s", 3}}));

    set({few});
    EXPECT_EQ(start_all(busy), 1);
    EXPECT_EQ(permits.next_look(), start + 1h);
    EXPECT_EQ(opened(start + 1h), (Told{{"s", 2}}));
}

TEST_F(LanePermitsTest, NothingIsLookedForAtATimeWhenOnlyAPersonOrAReturnOpensALane) {
    set({at_most(1, "a", {.source = "s"}), pause("c", {.source = "t"})});

    start_all(lane("s", 2));
    start_all(lane("t", 2));

    EXPECT_EQ(permits.next_look(), never);
}

// ── changes of rules ──

TEST_F(LanePermitsTest, ANewRuleCountsTheLeasesThatItIsToldOf) {
    TestLane& busy = lane("s", 5);
    for (int i = 0; i < 2; ++i) permits.start(busy, start);

    set({at_most(3)});
    permits.add_leases(busy, 2, start);

    EXPECT_EQ(start_all(busy), 1);
}

TEST_F(LanePermitsTest, AllWaitingLanesAreToldOfAChangeAndWaitAgainIfItClosesThem) {
    set({pause("c", {.source = "s"}), pause("d", {.source = "t"})});
    TestLane& freed = lane("s", 2);
    TestLane& still = lane("t", 2);
    start_all(freed);
    start_all(still);

    set({pause("d", {.source = "t"})});

    EXPECT_EQ(opened(), (Told{{"s", 2}}));
    EXPECT_EQ(freed.held_by, nullptr);
    EXPECT_NE(still.held_by, nullptr);
    set({});
    EXPECT_EQ(opened(), (Told{{"t", 2}}));
}

TEST_F(LanePermitsTest, ABucketStaysWhenItsRuleIsLiftedAndMadeAgain) {
    set({one_per(1h, 1)});
    TestLane& busy = lane("s", 5);
    start_all(busy);

    set({});
    set({one_per(1h, 1)});

    EXPECT_EQ(start_all(busy), 0) << "a way around a rate would be to change its rule";
}

// ── rollback ──

TEST_F(LanePermitsTest, BucketsAsTheyWereKeptAreThoseOfTheLastCommit) {
    set({one_per(10s, 2)});
    TestLane& busy = lane("s", 5);
    permits.start(busy, start);
    permits.keep_changes();
    const auto kept = permits.kept_buckets();
    ASSERT_EQ(kept.size(), 1u);

    permits.start(busy, start);  // a session that is rolled back

    EXPECT_EQ(permits.kept_buckets(), kept);
    EXPECT_EQ(permits.changed().size(), 1u);
    LanePermits again;
    again.set_rules(permits.rules(), start);
    for (const KeptBucket& bucket : kept) again.restore(bucket);
    TestLane same("s");
    same.ready = 5;
    EXPECT_TRUE(again.is_open(same, start));
    again.start(same, start);
    EXPECT_FALSE(again.is_open(same, start)) << "one of two tokens was spent before the commit";
}

// ── what is kept ──

// Values by which rules count apart come from clients, so that their meters must go again. One that
// goes must take its entry in the list of times along.
TEST_F(LanePermitsTest, AMeterWhoseLanesAreGoneIsNotLookedAtAnyMore) {
    LimitRule rule = each_source(at_most(1));
    rule.until = start + 24h;
    set({rule});
    TestLane& brief = lane("brief", 2);
    start_all(brief);
    permits.end(brief, start);
    permits.keep_changes();
    ASSERT_EQ(permits.next_look(), start + 24h);

    permits.drop(brief);
    EXPECT_EQ(permits.next_look(), never);

    use_many_other_lanes();
    EXPECT_EQ(opened(start + 24h), Told{});
}

TEST_F(LanePermitsTest, NewsOfAMeterWhoseLanesAreGoneBeforeItIsToldHarmNothing) {
    set({each_source(at_most(1))});
    TestLane& brief = lane("brief", 2);
    start_all(brief);
    permits.end(brief, start);
    permits.keep_changes();
    permits.drop(brief);

    use_many_other_lanes();

    EXPECT_EQ(opened(), Told{});
}

TEST_F(LanePermitsTest, ACheckFindsAndRepairsWhatDiffersFromTheLeases) {
    set({at_most(2)});
    TestLane& busy = lane("s", 5);
    start_all(busy);
    const std::map<Lane, std::int64_t> leases{{busy.lane, 1}};

    const auto found = permits.check(leases, false, start);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0], (MeterDifference{.rule = "a", .meter = "", .counted = 2, .leased = 1}));
    EXPECT_EQ(permits.check(leases, true, start), found);

    EXPECT_TRUE(permits.check(leases, false, start).empty());
    EXPECT_EQ(opened(), (Told{{"s", 1}})) << "a repair lets go what was held back by mistake";
}

// ── many lanes ──

// What a return costs is bounded, whatever the number of lanes that wait; the others are told in
// turn, and none is left out.
TEST_F(LanePermitsTest, AReturnIsToldToFewOfManyLanesAtOnceAndToTheOthersLater) {
    constexpr std::size_t many = 5000;
    set({at_most(1)});
    TestLane& busy = lane("busy", 1);
    start_all(busy);
    for (std::size_t i = 0; i < many; ++i) start_all(lane("source " + std::to_string(i)));
    permits.keep_changes();
    times_asked = 0;

    permits.end(busy, start);
    Told told = opened();

    EXPECT_LE(times_asked, 256u);
    Timestamp now = start;
    while (permits.next_look() != never) {
        const std::size_t before = times_asked;
        now = permits.next_look();
        told.merge(opened(now));
        ASSERT_LE(times_asked - before, 256u);
    }
    EXPECT_EQ(told.size(), many) << "a claim may wait for any of them";
    EXPECT_LE(now, start + 5ms * (many / 256 + 1));
}

TEST_F(LanePermitsTest, OnceAReturnedPermitIsTakenNoFurtherLaneIsTold) {
    set({at_most(1)});
    TestLane& busy = lane("busy", 1);
    start_all(busy);
    std::vector<TestLane*> waiting;
    for (int i = 0; i < 1000; ++i) {
        waiting.push_back(&lane("source " + std::to_string(i)));
        start_all(*waiting.back());
    }
    permits.end(busy, start);
    opened();
    ASSERT_EQ(start_all(*waiting[500]), 1);
    times_asked = 0;

    EXPECT_EQ(opened(start + 5ms), Told{});
    EXPECT_EQ(times_asked, 0u);
    EXPECT_EQ(permits.next_look(), never);
}

// Of lanes that could use a returned permit, another one comes first each time.
TEST_F(LanePermitsTest, LanesThatWaitAreToldInTurn) {
    set({at_most(1)});
    TestLane& busy = lane("busy", 1);
    start_all(busy);
    for (int i = 0; i < 600; ++i) start_all(lane("source " + std::to_string(i), 1'000));

    permits.end(busy, start);
    const Told first = opened();
    permits.start(busy, start);
    permits.end(busy, start);
    const Told second = opened();

    for (const auto& [source, count] : first) EXPECT_FALSE(second.contains(source)) << source;
}

}  // namespace lane_permits_test
}  // namespace sluice
